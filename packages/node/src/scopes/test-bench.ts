/**
 * The scopes of a node over a real log and a real state, all in memory and in one thread: a test decides when commands and
 * events travel, and when the process ends. No part of the package's door.
 */
import { bootstrap, DEFAULT_LIMITS, Engine, type Target, type User } from '@althing/engine';
import { LogStore, MemoryDisk, MemoryStore, StateStore } from '@althing/storage';
import { GroupHost } from '../consensus/group-host.js';
import type { Command, Consensus, Event } from '../consensus/protocol.js';
import type { Reply } from '../request.js';
import { Checkpointer } from './checkpointer.js';
import type { GroupSession } from './group-session.js';
import { Sessions } from './sessions.js';
import { State } from './state.js';

const NODE = 1;
const CLUSTER = {
  clusterId: new Uint8Array(16).fill(3),
  founders: [{ nodeId: NODE, name: 'n', host: 'localhost', port: 9220 }],
};
const MEMBERS = [{ nodeId: NODE, number: 0, name: 'n', host: 'localhost', port: 9220, leaving: false }];
const NO_PASSWORD = { salt: new Uint8Array(16), hash: new Uint8Array(32), logN: 0, r: 1, p: 1 };

/** Turns of the microtask queue in which everything on disks in memory comes to its end. */
const TURNS = 200;

/** What of a query is there so far. */
export interface Asked {
  reply: Reply | null;
}

export class TestBench implements Consensus {
  readonly stateStore = new MemoryStore();
  readonly stateDisk = new MemoryDisk();
  readonly logDisk = new MemoryDisk();
  readonly failures: unknown[] = [];
  /** How often the state had no room for what was to be removed. */
  timesFull = 0;
  /** What the engine side sent and the consensus side did not get yet. */
  readonly commands: Command[] = [];
  /** What the consensus side told and the engine side did not get yet. */
  readonly events: Event[] = [];
  onEvent: (event: Event) => void = () => {};
  engine!: Engine;
  sessions!: Sessions;
  checkpointer!: Checkpointer;
  state!: State;
  private host!: GroupHost;
  private life = 0;

  /** Starts the process; what travels by then is delivered if `travels`. */
  async start({ travels = true } = {}): Promise<this> {
    const life = ++this.life;
    this.engine = this.makeEngine();
    this.host = await this.makeHost(life);
    const open = (): Promise<StateStore> =>
      StateStore.open({ store: this.stateStore.attach(), disk: this.stateDisk.attach() });
    this.state = new State(await open(), open);
    const onFailure = (error: unknown): void => {
      if (life === this.life) this.failures.push(error);
    };
    this.sessions = new Sessions({
      engine: this.engine,
      state: this.state,
      consensus: this,
      nodeId: NODE,
      cluster: CLUSTER,
      snapshots: { send: () => {}, install: () => {}, refused: () => {} },
      now: () => 1_700_000_000_000,
      changed: () => {},
      onDiskFull: () => {
        this.timesFull += 1;
      },
      onFailure,
    });
    this.checkpointer = new Checkpointer({
      state: this.state,
      consensus: this,
      intervalMs: 0,
      sizeBytes: 1,
      monotonic: () => 0,
      blocked: () => false,
      yield: async () => {},
      onFailure: (_, error) => onFailure(error),
      onDone: (session) => this.sessions.checkpointed(session),
    });
    this.sessions.useCheckpointer(this.checkpointer);
    const opened = this.sessions.open();
    if (travels) {
      await this.travel();
      await opened;
      if (this.engine.root.users.size === 0) await this.begin();
    }
    return this;
  }

  send(command: Command): void {
    this.commands.push(command);
  }

  /** Lets everything travel until nothing is on its way. */
  async travel(): Promise<void> {
    do {
      await this.settle();
      for (const command of this.commands.splice(0)) this.host.handle(command);
      await this.settle();
      for (const event of this.events.splice(0)) this.take(event);
    } while (this.commands.length > 0 || this.events.length > 0);
    await this.settle();
    if (this.commands.length > 0 || this.events.length > 0) await this.travel();
  }

  /** Hands an event to the engine side. */
  take(event: Event): void {
    if (event.kind === 'failed') this.failures.push(new Error(event.failure.message));
    else if ('group' in event) this.sessions.handle(event);
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
    if (outcome.kind === 'hash') throw new Error('no test makes passwords');
    session.settle(outcome, (reply) => {
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
  }

  private get admin(): User {
    const admin = this.engine.root.usersByName.get('admin');
    if (admin === undefined) throw new Error('there is no admin');
    return admin;
  }

  private async begin(): Promise<void> {
    const { root } = this.engine;
    const change = bootstrap(root, 1_700_000_000, NO_PASSWORD, MEMBERS);
    const collectionEvents = root.collectionEvents.splice(0);
    this.sessions.root.propose({ ...change, collectionEvents }, { ok: true, result: '' }, () => {});
    await this.travel();
  }

  private makeEngine(): Engine {
    return new Engine({
      environment: {
        now: () => 1_700_000_000_000,
        monotonic: () => 0,
        randomBytes: (count) => new Uint8Array(count),
        random: () => 0.5,
        heapUsed: () => 0,
        log: () => {},
        node: null,
        voters: () => [NODE],
      },
      limits: DEFAULT_LIMITS,
      quotas: { tokensPerUser: 10, users: 100, collections: 100, procedures: 100 },
      programCacheBytes: 1_000_000,
      onInternalError: (error) => this.failures.push(error),
    });
  }

  private async makeHost(life: number): Promise<GroupHost> {
    return new GroupHost({
      nodeId: NODE,
      log: await LogStore.open(this.logDisk.attach(), { segmentBytes: 256 * 1024 }),
      raft: {},
      random: () => 7,
      emit: (event) => {
        if (life === this.life) this.events.push(event);
      },
      transmit: () => {},
      isUp: () => false,
      logTail: 0,
      lowDiskBytes: 0,
    });
  }
}

/** A reply as text: the result, or `error` with its code; `nothing` while there is none. */
export function shown({ reply }: Asked): string {
  if (reply === null) return 'nothing';
  return reply.ok ? String(reply.result) : `error ${reply.error.code}`;
}
