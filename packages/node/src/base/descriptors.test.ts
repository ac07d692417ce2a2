import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { freePorts, RawConnection, until } from '../testing/index.js';
import { descriptorLimit, fittingConnections, fittingProbes, fittingTables, limitIn } from './descriptors.js';

const PROGRAM = fileURLToPath(new URL('../../../cli/bin/althing.js', import.meta.url));

describe('connections', () => {
  test.each([
    [10_000, 20_000, 10_000],
    [10_000, 12_500, 10_000],
    [10_000, 12_499, 9999],
    [10_000, 6000, 3500],
    [10_000, 1024, 512],
    [100, 1024, 100],
    [10_000, null, 10_000],
  ])('%i wanted with %s descriptors: %i', (wanted, descriptors, fitting) => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
    expect(fittingConnections(wanted, descriptors, log)).toBe(fitting);
    expect(lines).toHaveLength(fitting === wanted ? 0 : 1);
    for (const line of lines)
      for (const n of [wanted, descriptors, fitting]) expect(line).toContain(String(n));
  });

  test.each([
    [null, 2000, 256],
    [20_000, 2000, 256],
    [4096, 1024, 204],
    [256, 64, 12],
    [10, 64, 1],
  ])(
    'a process with %s descriptors: %i tables, %i connections to the status port',
    (descriptors, tables, probes) => {
      expect([fittingTables(descriptors), fittingProbes(descriptors)]).toEqual([tables, probes]);
    },
  );

  test('are limited by what the system tells', () => {
    const line = 'Max open files            1024                 524288               files     \n';
    expect(limitIn(`Max processes 1 2 processes\n${line}`)).toBe(1024);
    expect(limitIn('Max open files            unlimited            unlimited            files\n')).toBe(null);
    if (process.platform === 'linux') expect(descriptorLimit()).toBeGreaterThan(100);
  });
});

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('a node with few file descriptors takes few connections, says so, and goes on', async () => {
  const [port = 0, statusPort = 0] = await freePorts(2);
  const folder = mkdtempSync(join(tmpdir(), 'althing-test-'));
  const settings = {
    SERVICE_STORAGE_PATH: join(folder, 'data'),
    SERVICE_HTTP_API_PORT: String(port),
    SERVICE_HTTP_STATUS_PORT: String(statusPort),
    SERVICE_NODE_NAME: 'test',
    SERVICE_LISTEN_CLIENT_PORT: '0',
    SERVICE_DISK_RESERVE_MB: '0',
  };
  const child = spawn('sh', ['-c', 'ulimit -n 300 && exec "$0" "$@"', process.execPath, PROGRAM, 'serve'], {
    env: { PATH: process.env.PATH ?? '', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const connections: RawConnection[] = [];
  try {
    await until(() => output.includes('"event":"api"') || child.exitCode !== null, 'the node serves');
    expect(output).toContain('150 connections are taken instead of max_connections = 10000');
    // Each from another address: one alone gets fewer.
    const open = (to: number, i: number): Promise<RawConnection> =>
      RawConnection.open(to, '127.0.0.1', `127.0.1.${i + 1}`);
    for (let i = 0; i < 200; i++) connections.push(await open(port, i));
    await until(
      () => connections.filter(({ isClosed }) => isClosed).length === 50,
      'those beyond are closed',
    );
    for (let i = 0; i < 40; i++) connections.push(await open(statusPort, i));
    await until(
      () => connections.filter(({ isClosed }) => isClosed).length === 50 + 25,
      'those at the status port are closed as well',
    );
    const first = connections.find(({ isClosed }) => !isClosed);
    const answer = await first?.send('GET / HTTP/1.1\r\nHost: test\r\n\r\n').answer();
    expect(answer?.status).toBe(200);
  } finally {
    for (const connection of connections) connection.close();
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    rmSync(folder, { recursive: true, force: true });
  }
});
