/** The consensus thread, started as a node starts it, with this thread in the place of the engine. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32c } from '@althing/storage';
import { afterAll, describe, expect, test } from '@jest/globals';
import { type Identity, logIdentity, newIdentity } from '../../base/identity.js';
import type { Bridge } from '../../between/bridge.js';
import { genesis } from '../../between/membership.js';
import type { Event } from '../../between/protocol.js';
import { SharedStatus } from '../../between/shared-status.js';
import { ExitCode } from '../../config/exit-codes.js';
import { Metrics } from '../../telemetry/metrics.js';
import { freePorts } from '../../testing/free-ports.js';
import { until, within } from '../../testing/until.js';
import { ConsensusStartError, startConsensus } from './start.js';

const GROUP = 5;
const folder = mkdtempSync(join(tmpdir(), 'althing-consensus-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Everything that a module of this package imports, itself or by others of the package. */
function importsOf(module: URL, seen = new Set<string>()): Set<string> {
  seen.add(module.href);
  for (const [, name = ''] of readFileSync(module, 'utf8').matchAll(
    /^(?:import|export)\b[^;]*?'([^']+)';$/gm,
  )) {
    const next = name.startsWith('.') ? new URL(name, module) : null;
    if (next === null) seen.add(name);
    else if (!seen.has(next.href)) importsOf(next, seen);
  }
  return seen;
}

/** A running thread, and what it said. */
class Running {
  readonly events: Event[] = [];

  private constructor(
    private readonly bridge: Bridge,
    readonly statusPort: number,
    readonly exited: Promise<number>,
  ) {
    bridge.onEvent = (event) => this.events.push(event);
  }

  static async start(identity: Identity, path: string, statusPort = 0): Promise<Running> {
    let tell = (_code: number): void => {};
    const exited = new Promise<number>((resolve) => {
      tell = resolve;
    });
    const logPath = join(path, 'log');
    mkdirSync(logPath, { recursive: true });
    const { bridge, statusPort: port } = await startConsensus(
      {
        logPath,
        segmentBytes: 1024 * 1024,
        nodeId: identity.nodeId,
        nodeName: 'localhost',
        version: '0.0.0',
        tickMs: 10,
        electionTicks: 10,
        engineSilenceMs: 60_000,
        rootAgeMaxMs: 60_000,
        statusAddress: '127.0.0.1',
        statusPort,
        metricsProcedures: [],
        statusTls: null,
        statusSites: {
          bindAddress: '127.0.0.1',
          nodeName: 'localhost',
          allowedHosts: [],
          allowedOrigins: [],
        },
        cluster: {
          identity,
          name: 'localhost',
          version: '0.0.0',
          protocolVersions: { min: 1, max: 5 },
          level: 1,
          folder: path,
          expected: [],
          waitForInvitation: false,
          secret: null,
          tls: null,
          encryption: 'auto',
          bind: { address: '127.0.0.1', port: 0 },
          heartbeatMs: 50,
          electionTimeoutMs: 500,
        },
        logId: logIdentity(identity),
        lowDiskBytes: 0,
      },
      { status: new SharedStatus().buffer, metrics: new Metrics().buffer, startedAt: Date.now() },
      (code) => tell(code),
    );
    return new Running(bridge, port, exited);
  }

  async event<Kind extends Event['kind']>(kind: Kind): Promise<Extract<Event, { readonly kind: Kind }>> {
    const isOne = (event: Event): event is Extract<Event, { readonly kind: Kind }> => event.kind === kind;
    await until(() => this.events.some(isOne), `the thread says ${kind}`);
    const found = this.events.find(isOne);
    if (found === undefined) throw new Error('it was there');
    return found;
  }

  open(identity: Identity, isNew: boolean): void {
    const applied = genesis([identity.nodeId], new Uint8Array(16));
    this.bridge.send({ kind: 'open', group: GROUP, applied, isNew, campaign: true });
  }

  propose(epoch: number, texts: readonly string[]): void {
    const payloads = texts.map((text) => Buffer.from(text));
    this.bridge.send({ kind: 'propose', group: GROUP, epoch, payloads });
  }

  async stop(): Promise<number> {
    this.bridge.send({ kind: 'stop' });
    await this.event('stopped');
    this.bridge.close();
    return within(this.exited, 'the end of the thread');
  }
}

describe('the consensus thread', () => {
  test('founds a cluster of one, leads its groups, and keeps what was committed over a restart', async () => {
    const identity = newIdentity();
    const path = join(folder, 'one');
    const first = await Running.start(identity, path);
    const { record } = await first.event('formed');
    expect(Buffer.from(record.clusterId)).toEqual(Buffer.from(identity.clusterId));
    first.open(identity, true);
    const { epoch } = await first.event('leading');
    first.propose(epoch, ['a', 'b']);
    first.propose(epoch, ['c']);
    const count = (): number =>
      first.events.reduce((sum, event) => sum + (event.kind === 'committed' ? event.count : 0), 0);
    await until(() => count() === 3, 'all three are committed');
    expect(await first.stop()).toBe(ExitCode.Done);

    const second = await Running.start(identity, path);
    expect((await second.event('formed')).incarnation).toBeGreaterThan(0);
    second.open(identity, false);
    await second.event('leading');
    const texts = (): string[] =>
      second.events.flatMap((event) =>
        event.kind === 'entries' ? event.entries.map(({ payload }) => Buffer.from(payload).toString()) : [],
      );
    await until(() => texts().length === 3, 'all three are handed over');
    expect(texts()).toEqual(['a', 'b', 'c']);
    await second.stop();
  });

  test('answers on its status port while the engine side says nothing', async () => {
    const [port = 0] = await freePorts(1);
    const running = await Running.start(newIdentity(), join(folder, 'status'), port);
    expect(running.statusPort).toBe(port);
    const answer = await fetch(`http://127.0.0.1:${port}/healthy`);
    expect(answer.status).toBe(200);
    await running.stop();
  });

  test('does not start on the log of another node, and says with which exit code the node is to end', async () => {
    const path = join(folder, 'foreign');
    await (await Running.start(newIdentity(), path)).stop();
    const refused = await Running.start(newIdentity(), path).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConsensusStartError);
    expect(refused).toMatchObject({ diskFull: false });
    expect(refused instanceof ConsensusStartError && refused.exitCode).not.toBe(ExitCode.Done);
  });

  test('does not start on a log of a newer version, and says that a person has to look', async () => {
    const path = join(folder, 'newer');
    const identity = newIdentity();
    await (await Running.start(identity, path)).stop();
    const logPath = join(path, 'log');
    const name = readdirSync(logPath).find((each) => each.startsWith('segment')) ?? '';
    const content = readFileSync(join(logPath, name));
    content.writeUInt32LE(1000, 12);
    content.writeUInt32LE(crc32c(content, 12, 512), 8);
    writeFileSync(join(logPath, name), content);
    await expect(Running.start(identity, path)).rejects.toMatchObject({ exitCode: ExitCode.DataDamaged });
  });
});

test('the thread does not load the engine: that would be half of the time in which a node starts', () => {
  const imports = importsOf(new URL('worker.js', import.meta.url));
  expect([...imports]).toEqual(
    expect.arrayContaining(['raft-ts', '@althing/storage', 'node:worker_threads']),
  );
  expect([...imports].filter((name) => name.startsWith('@althing/'))).toEqual(['@althing/storage']);
});
