import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import * as node from './node.js';
import { FakeIo } from './testing.js';
import { thingsdb } from './thingsdb.js';

let folder: string;
let starts: { readonly config: node.Config; readonly first: node.FirstStart | undefined }[];
/** The exit code of a node that was started. */
let ending: number;
let ended: Promise<number>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'althing-thingsdb-'));
  starts = [];
  ending = 0;
});

afterEach(() => rmSync(folder, { recursive: true }));

const startNode: node.StartNode = async (config, { first }) => {
  starts.push({ config, first });
  return { closed: Promise.resolve(ending), stop: () => {}, reload: () => {} };
};

function run(args: readonly string[], environment: Record<string, string> = {}) {
  const io = new FakeIo({ THINGSDB_STORAGE_PATH: join(folder, 'data'), ...environment });
  return thingsdb(args, io, { ...node, startNode }).then((code) => ({ code, io }));
}

function fileOf(...lines: string[]): string {
  const path = join(folder, 'thingsdb.conf');
  writeFileSync(path, `[thingsdb]\n${lines.map((line) => `${line}\n`).join('')}`);
  return path;
}

describe('the program `thingsdb`', () => {
  test('has the defaults of ThingsDB, where nothing says otherwise', async () => {
    await run(['--init'], { HOME: '/users/me', USER: 'me' });
    expect(starts[0]).toMatchObject({
      first: { kind: 'init' },
      config: { listenClientPort: 9200, httpApiPort: 0, httpStatusPort: 0, wsPort: 0, logLevel: 'warning' },
    });
    expect(starts[0]?.config.storagePath).toBe(join(folder, 'data'));
    expect(starts[0]?.config.loginBackoffLimitMs).toBe(2000);

    const open = { THINGSDB_BIND_CLIENT_ADDR: '0.0.0.0', SERVICE_ADMIN_PASSWORD: 'long enough' };
    await run(['--init', '--http-status-port', '8080'], { ...open, THINGSDB_HTTP_API_PORT: '9210' });
    expect(starts[1]?.config).toMatchObject({
      httpApiPort: 9210,
      httpStatusPort: 8080,
      loginBackoffLimitMs: 30_000,
    });
  });

  test('takes options that are shortened, and values as the next argument', async () => {
    const path = fileOf('listen_client_port = 4321');
    const args = ['--conf', path, '-l', 'debug', '--log-c', '--sec', 'x', '--bind-node-addr', '127.0.0.2'];
    expect((await run(args)).code).toBe(0);
    expect(starts[0]).toMatchObject({
      first: { kind: 'wait', secret: 'x' },
      config: { listenClientPort: 4321, logLevel: 'debug', bindNodeAddr: '127.0.0.2' },
    });
  });

  test('passes over what it does not know in a file, and over values that make no sense, with a warning', async () => {
    const path = fileOf(
      'some_new_key = 1',
      'zone = 3',
      'shutdown_period = 6',
      'http_api_port = many',
      'http_status_port =',
      'python_interpreter = /usr/bin/python3',
      'enable_modules = local',
    );
    const { code, io } = await run(['--config', path, '--init'], { THINGSDB_WS_PORT: '70000' });
    expect(code).toBe(0);
    expect(starts[0]?.config).toMatchObject({ httpApiPort: 0, httpStatusPort: 0, wsPort: 0, zone: 3 });
    expect(starts[0]?.config).toMatchObject({
      pythonInterpreter: '/usr/bin/python3',
      enableModules: 'local',
    });
    for (const told of ['some_new_key', 'shutdown_period', 'http_api_port = "many"', 'ws_port = "70000"'])
      expect(io.errors).toContain(told);
  });

  test('says how to begin where there are no data and nothing says how', async () => {
    const { code, io } = await run([]);
    expect([code, starts]).toEqual([0, []]);
    expect(io.output).toContain('--init');
    expect((await run(['--auto-rebuild'])).io.output).toContain('--secret');
    const cluster = { SERVICE_CLUSTER: 'a,b', SERVICE_CLUSTER_SECRET: 'what all of them know' };
    await run([], cluster);
    await run([], { THINGSDB_INIT: '1' });
    expect(starts.map(({ first }) => first?.kind)).toEqual([undefined, 'init']);
  });

  test.each([
    ['--secret'],
    ['--secret -x'],
    ['--secret=x'],
    ['-linfo'],
    ['--l info'],
    ['-y- --init'],
    ['-- --init'],
    ['- --init'],
    ['word --init'],
    ['--init word'],
    ['--unknown'],
    ['--log-level loud --init'],
    ['--init --secret x'],
    ['--force'],
    ['--listen-client-port=1 --init'],
    [`--secret ${'x'.repeat(255)}`],
    ['--config /there/is/none --init'],
  ])('ends with 1 for %s', async (args) => {
    const { code, io } = await run(args.split(' '));
    expect([code, starts]).toEqual([1, []]);
    expect(io.errors).not.toBe('');
  });

  test.each([
    [0, 0],
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 1],
    [5, 5],
  ])('ends with its own codes where a node ends with %i', async (code, told) => {
    ending = code;
    expect((await run(['--init'])).code).toBe(told);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('is stopped by %s', async (signal) => {
    const io = new FakeIo({ THINGSDB_STORAGE_PATH: join(folder, 'data') });
    const stops: node.StopReason[] = [];
    const isStarted = new Promise<void>((resolve) => {
      const start: node.StartNode = async () => {
        let end: (code: number) => void = () => {};
        const closed = new Promise<number>((settle) => {
          end = settle;
        });
        setImmediate(resolve);
        return {
          closed,
          reload: () => {},
          stop: (reason) => {
            stops.push(reason);
            end(0);
          },
        };
      };
      ended = thingsdb(['--init'], io, { ...node, startNode: start });
    });
    await isStarted;
    if (signal === 'SIGHUP') io.reload();
    else io.signal(signal);
    expect(await ended).toBe(0);
    expect(stops).toEqual(['drain']);
    expect(io.listening).toBe(0);
  });

  test('is a program that prints its version and its options', async () => {
    const program = fileURLToPath(new URL('../bin/thingsdb.js', import.meta.url));
    const said = await new Promise<string>((resolve) => {
      execFile(process.execPath, [program, '--ver'], { timeout: 20_000 }, (error, stdout) =>
        resolve(`${error?.code ?? 0} ${stdout}`),
      );
    });
    expect(said).toMatch(/^0 .*version: \d+\.\d+\.\d+/);
    const { code, io } = await run(['-h']);
    expect([code, io.output.includes('--auto-rebuild')]).toEqual([0, true]);
  });
});
