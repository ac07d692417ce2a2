/**
 * The scopes of a node over a real log and a real state, all in memory and in one thread: a test decides when
 * commands and events travel, and when the process ends. No part of the package's door.
 */
import { bootstrap, type Engine, LEVEL_NEWEST, type Target, type User } from '@althing/engine';
import { LogStore, MemoryDisk, MemoryStore, StateStore } from '@althing/storage';
import type { Clock } from '../base/clock.js';
import type { Command, Event } from '../between/protocol.js';
import { ConsensusSide } from '../consensus/consensus-side.js';
import { logChainHash } from '../consensus/group-log.js';
import type { Network } from '../consensus/network.js';
import { EngineSide } from '../engine-side/engine-side.js';
import { silentReports } from '../engine-side/silent-reports.js';
import type { Feeds } from '../feed/feeds.js';
import type { GroupSession } from '../groups/group-session.js';
import type { Reply } from '../groups/request.js';
import type { Sessions } from '../groups/sessions.js';
import { State } from '../groups/state.js';
import type { Checkpointer } from '../state/checkpointer.js';
import { engineOf, READY, roomyDisk, stillEnvironment } from './still-ports.js';

const NODE = 1;
const CLUSTER = {
  clusterId: new Uint8Array(16).fill(3),
  founders: [{ nodeId: NODE, name: 'n', host: 'localhost', port: 9220 }],
};
const MEMBERS = [{ nodeId: NODE, number: 0, name: 'n', host: 'localhost', port: 9220, leaving: false }];
const NO_PASSWORD = { salt: new Uint8Array(16), hash: new Uint8Array(32), logN: 0, r: 1, p: 1 };

/** Turns of the microtask queue in which everything on disks in memory comes to its end. */
const TURNS = 200;

/** Time stands still: nothing that waits for it comes about. */
const STILL: Clock = { now: () => 0, after: () => () => {}, every: () => () => {} };

const NOBODY: Network = {
  send: () => false,
  waiting: () => 0,
  isUp: () => false,
  isWell: () => false,
  setMembers: () => {},
  invite: async () => ({ problem: 'there are no other nodes' }),
  renewTls: () => {},
  close: () => Promise.resolve(),
};

/** A query, and the parts of its answer that are there so far. */
export interface Asked {
  reply: Reply | null;
}

export class TestBench {
  readonly stateStore = new MemoryStore();
  readonly stateDisk = new MemoryDisk();
  readonly logDisk = new MemoryDisk();
  readonly failures: unknown[] = [];
  /** The number of times that the state had no room for what was to be removed. */
  timesFull = 0;
  /** Room on the disk for opening the state again. */
  freeBytes = 0;
  /** Commands that the engine side sent and the consensus side did not get yet. */
  readonly commands: Command[] = [];
  /** Events that the consensus side told and the engine side did not get yet. */
  readonly events: Event[] = [];
  private sides: {
    readonly engine: EngineSide;
    readonly consensus: ConsensusSide;
    readonly state: State;
  } | null = null;
  private life = 0;
  /** Work of the engine side behind a short pause. */
  private readonly paused = new Set<() => void>();
  /** The longest pause of the engine side that ends, in milliseconds: what waits longer waits for ever. */
  pauseMaxMs = 0;
  /** Work that the consensus side does now and then. */
  private ticks: (() => void)[] = [];

  /** Starts the process; what travels by then is delivered if `travels`. */
  async start({ travels = true } = {}): Promise<this> {
    const life = ++this.life;
    const consensus = await this.makeConsensusSide(life);
    const open = (): Promise<StateStore> =>
      StateStore.open({ store: this.stateStore.attach(), disk: this.stateDisk.attach() });
    const state = new State(await open(), open);
    this.sides = { engine: this.makeEngineSide(state, life), consensus, state };
    const opened = this.sessions.open();
    if (travels) {
      await this.travel();
      await opened;
      if (this.engine.root.users.size === 0) await this.begin();
    }
    return this;
  }

  get engine(): Engine {
    return this.started.engine.engine;
  }

  get sessions(): Sessions {
    return this.started.engine.scopes.sessions;
  }

  get feeds(): Feeds {
    return this.started.engine.feeds;
  }

  get checkpointer(): Checkpointer {
    return this.started.engine.scopes.checkpointer;
  }

  get state(): State {
    return this.started.state;
  }

  private get started(): NonNullable<TestBench['sides']> {
    if (this.sides === null) throw new Error('the process was not started');
    return this.sides;
  }

  send(command: Command): void {
    this.commands.push(command);
  }

  /** Lets everything travel until nothing is on its way, and no short pause is left. */
  async travel(): Promise<void> {
    do {
      await this.settle();
      if (this.commands.length === 0 && this.events.length === 0) this.endPauses();
      for (const command of this.commands.splice(0)) this.started.consensus.handle(command);
      await this.settle();
      for (const event of this.events.splice(0)) this.take(event);
    } while (this.commands.length > 0 || this.events.length > 0 || this.paused.size > 0);
    await this.settle();
    if (this.commands.length > 0 || this.events.length > 0) await this.travel();
  }

  private after(ms: number, work: () => void): () => void {
    if (ms <= this.pauseMaxMs) this.paused.add(work);
    return () => this.paused.delete(work);
  }

  private endPauses(): void {
    for (const work of [...this.paused]) {
      this.paused.delete(work);
      work();
    }
  }

  /** Hands an event to the engine side. */
  take(event: Event): void {
    switch (event.kind) {
      case 'failed':
        this.failures.push(new Error(event.failure.message));
        return;
      case 'removed':
      case 'stopped':
      case 'formed':
      case 'log':
        return;
      default:
        this.started.engine.handle(event);
    }
  }

  /** Lets disks come to their end. */
  async settle(): Promise<void> {
    for (let i = 0; i < TURNS; i++) await Promise.resolve();
  }

  /** Runs a query on the state of this node, as a leader does. */
  ask(target: Target, code: string): Asked {
    const asked: Asked = { reply: null };
    const scope = this.engine.scope(target);
    const session = this.sessions.of(target);
    if (scope === undefined || session === undefined) throw new Error(`there is no scope ${target}`);
    const body = { kind: 'query', prepared: this.engine.prepare(code), vars: null } as const;
    const outcome = this.engine.run({ scope, user: this.admin, body, format: 'json' });
    if (outcome.kind !== 'value' && outcome.kind !== 'error') throw new Error('no test here makes futures');
    session.answer(outcome, (reply) => {
      asked.reply = reply;
    });
    return asked;
  }

  /** The value of a query, as JSON, or its error, after everything travelled. */
  async value(target: Target, code: string): Promise<string> {
    const asked = this.ask(target, code);
    await this.travel();
    return shown(asked);
  }

  session(target: Target): GroupSession {
    const session = this.sessions.of(target);
    if (session === undefined) throw new Error(`there is no session ${target}`);
    return session;
  }

  /** Does what is due in the engine side. */
  async consider(): Promise<void> {
    this.started.engine.consider();
    await this.travel();
  }

  /** Does once what is due now and then in the consensus side, which has no other time. */
  async tick(): Promise<void> {
    for (const work of this.ticks) work();
    await this.travel();
  }

  /** Makes a checkpoint; the process goes on meanwhile. */
  async checkpoint(target: Target): Promise<void> {
    const done = this.checkpointer.flush(this.session(target));
    await this.travel();
    await done;
    await this.travel();
  }

  /** Ends the process at once: what it wrote is there, and what was on its way is not. */
  kill(): void {
    this.life += 1;
    this.stateStore.kill();
    this.stateDisk.kill();
    this.logDisk.kill();
    this.commands.length = 0;
    this.events.length = 0;
    this.paused.clear();
  }

  private get admin(): User {
    const admin = this.engine.root.usersByName.get('admin');
    if (admin === undefined) throw new Error('there is no admin');
    return admin;
  }

  private async begin(): Promise<void> {
    const { root } = this.engine;
    const change = bootstrap(root, 1_700_000_000, NO_PASSWORD, MEMBERS, LEVEL_NEWEST);
    const collectionEvents = root.collectionEvents.splice(0);
    this.sessions.root.propose({ ...change, collectionEvents }, { ok: true, result: '' }, () =>
      root.confirmLevel(),
    );
    await this.travel();
  }

  private makeEngineSide(state: State, life: number): EngineSide {
    const onFailure = (error: unknown): void => {
      if (life === this.life) this.failures.push(error);
    };
    return new EngineSide(
      {
        nodeId: NODE,
        incarnation: life,
        cluster: CLUSTER,
        name: 'n',
        port: 9220,
        engine: engineOf(10),
        requestTimeoutMs: 1000,
        replaceAfterMs: 1000,
        checkpointIntervalMs: 0,
        checkpointBytes: 1,
        cacheBytes: Number.MAX_SAFE_INTEGER,
        garbageIntervalMs: 0,
        stateCheckIntervalMs: 0,
      },
      {
        clock: { ...STILL, after: (ms, work) => this.after(ms, work), soon: queueMicrotask },
        environment: stillEnvironment({ now: () => 1_700_000_000_000, monotonic: STILL.now }),
        disk: { ...roomyDisk(state), freeBytes: () => Promise.resolve(this.freeBytes) },
        line: { send: (command) => this.send(command), sendReady: () => {} },
        hasher: {
          hash: () => {
            throw new Error('no test makes passwords');
          },
        },
        reports: {
          ...silentReports(onFailure),
          disk: (event) => {
            if (event.kind === 'level' && event.level === 'full') this.timesFull += 1;
          },
        },
        ...READY,
      },
    );
  }

  private async makeConsensusSide(life: number): Promise<ConsensusSide> {
    const log = await LogStore.open(this.logDisk.attach(), {
      segmentBytes: 256 * 1024,
      chainHash: logChainHash,
    });
    this.ticks = [];
    const every: Clock['every'] = (_ms, work) => {
      this.ticks.push(work);
      return () => {};
    };
    return new ConsensusSide(
      {
        nodeId: NODE,
        raft: {},
        tickMs: 100,
        engineSilenceMs: 1000,
        logTail: 0,
        lowDiskBytes: 0,
        diskLookMs: 100,
      },
      {
        clock: { ...STILL, every },
        disk: { log, look: async (note) => note(Number.MAX_SAFE_INTEGER) },
        line: {
          emit: (event) => {
            if (life === this.life) this.events.push(event);
          },
          silence: () => 0,
          noteRoot: () => {},
        },
        connect: () => NOBODY,
        random: () => 7,
      },
    );
  }
}

/** A reply as text: the result, or `error` with its code; `nothing` while there is none. */
export function shown({ reply }: Asked): string {
  if (reply === null) return 'nothing';
  return reply.ok ? String(reply.result) : `error ${reply.error.code}`;
}
