/**
 * Several engine sides of nodes in one process, without threads, disks, sockets or a clock: the engine
 * sides are the real ones; the consensus between them is a log that the test moves by hand.
 *
 *   const cluster = await MiniCluster.begin(3);
 *   const reply = cluster.node(2).query('stuff', '.x = 1;');
 *   await cluster.settle();
 */
import { bootstrap, DEFAULT_LIMITS, type Engine, LEVEL_NEWEST, type WireValues } from '@althing/engine';
import { MemoryDisk, MemoryStore, StateStore } from '@althing/storage';
import type { Founder } from '../between/cluster-record.js';
import {
  type Command,
  type CommittedEntry,
  type GroupId,
  type NodeEvent,
  type NodeId,
  ROOT_GROUP,
} from '../between/protocol.js';
import { EngineSide } from '../engine-side/engine-side.js';
import type { EnginePorts, EngineReports } from '../engine-side/ports.js';
import type { GroupSession } from '../groups/group-session.js';
import { type Client, ORDINARY_TERMS, type Reply, type Terms } from '../groups/request.js';
import { State } from '../groups/state.js';
import type { CallKind } from '../members/calls.js';
import type { Router } from '../requests/router.js';

/** A proposal that is not committed. */
interface Proposal {
  readonly node: NodeId;
  readonly payload: Uint8Array;
}

/** What a test may do to a message between nodes. */
export type Fate = 'deliver' | 'lose' | 'hold';

export interface Message {
  readonly from: NodeId;
  readonly to: NodeId;
  readonly what: 'call' | 'return';
  readonly kind: CallKind;
}

const TIMEOUT_MS = 1000;

/** Version of the protocol that the nodes speak with each other, unless a test says something else. */
const PROTOCOL = 4;

export interface MiniOptions {
  /** How long a request may wait at a node, in milliseconds. */
  readonly waitMs?: (node: NodeId) => number;
  /** Told when code calls `log`. */
  readonly logged?: (node: NodeId) => void;
  /** How far the wall clock of a node is ahead, in milliseconds. */
  readonly clockAheadMs?: (node: NodeId) => number;
}

export class MiniCluster {
  readonly nodes: readonly MiniNode[];
  /** Decides about each message. */
  fate: (message: Message) => Fate = () => 'deliver';
  /** Whether proposals are committed as soon as everything else is done. */
  commits = true;
  now = 1_000_000;
  private readonly logs = new Map<GroupId, MiniLog>();
  private queue: (() => void)[] = [];
  private readonly lastCalls = new Map<string, { readonly id: number; readonly payload: Uint8Array }>();
  private heldMessages: (() => void)[] = [];
  private timers: { readonly at: number; readonly callback: () => void }[] = [];

  readonly options: MiniOptions;

  /** Makes nodes of which node 1 leads everything, and the collection `stuff`. */
  static async begin(count: number, options: MiniOptions = {}): Promise<MiniCluster> {
    const states = Array.from({ length: count }, emptyState);
    const cluster = new MiniCluster(await Promise.all(states), options);
    for (const { sessions } of cluster.nodes) await sessions.open();
    cluster.speak(PROTOCOL);
    cluster.log(ROOT_GROUP).lead(1);
    await cluster.settle();
    await cluster.node(1).bootstrap();
    cluster.log(cluster.stuff).lead(1);
    await cluster.settle();
    return cluster;
  }

  private constructor(states: readonly State[], options: MiniOptions) {
    this.options = options;
    const ids = states.map((_, i) => i + 1);
    this.nodes = states.map((state, i) => new MiniNode(this, i + 1, ids, state));
  }

  /** Sets the level that the cluster works at. */
  set level(level: number) {
    for (const { engine } of this.nodes) engine.root.level = level;
  }

  /** Sets the version of the protocol that all nodes speak with each other from now on. */
  speak(protocol: number): void {
    for (const node of this.nodes) {
      for (const { id } of this.nodes) {
        if (id !== node.id) node.router.peerChanged(id, true, protocol);
      }
    }
  }

  node(id: NodeId): MiniNode {
    const node = this.nodes[id - 1];
    if (node === undefined) throw new Error(`there is no node ${id}`);
    return node;
  }

  log(group: GroupId): MiniLog {
    let log = this.logs.get(group);
    if (log === undefined) {
      log = new MiniLog(this, group);
      this.logs.set(group, log);
    }
    return log;
  }

  /** The group of the collection `stuff`. */
  get stuff(): GroupId {
    return this.node(1).engine.root.collectionsByName.get('stuff')?.id ?? Number.NaN;
  }

  /** Does everything that can be done without time passing. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 10; ) {
      const next = this.queue.shift();
      if (next !== undefined) {
        next();
        quiet = 0;
      } else {
        await Promise.resolve();
        quiet += 1;
        if (quiet === 9 && this.commits && [...this.logs.values()].some((log) => log.commitAll())) quiet = 0;
      }
    }
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    await this.settle();
    for (;;) {
      const due = this.timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.timers = this.timers.filter((timer) => timer !== due);
      this.now = Math.max(this.now, due.at);
      due.callback();
      await this.settle();
    }
    this.now = end;
  }

  /** Delivers messages that were held. */
  release(): void {
    this.queue.push(...this.heldMessages.splice(0));
  }

  /** Delivers the last call of one node to another once more. */
  repeatCall(from: NodeId, to: NodeId): void {
    const payload = this.lastCall(from, to);
    if (payload === undefined) throw new Error('there was no call');
    this.later(() => this.node(to).tell({ kind: 'called', from, id: 1_000_000, payload }));
  }

  /** What one node last asked another one. */
  lastCall(from: NodeId, to: NodeId): Uint8Array | undefined {
    return this.lastCalls.get(`${from} ${to}`)?.payload;
  }

  /**
   * The connection by which one node made its last call to another ends: the call may arrive all the same.
   */
  dropCall(from: NodeId, to: NodeId): void {
    const call = this.lastCalls.get(`${from} ${to}`);
    if (call === undefined) throw new Error('there was no call');
    this.node(from).tell({ kind: 'returned', id: call.id, payload: null });
  }

  noteCall(from: NodeId, to: NodeId, id: number, payload: Uint8Array): void {
    this.lastCalls.set(`${from} ${to}`, { id, payload });
  }

  get held(): number {
    return this.heldMessages.length;
  }

  later(work: () => void): void {
    this.queue.push(work);
  }

  delay(ms: number, callback: () => void): () => void {
    const timer = { at: this.now + ms, callback };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  /** @param lost what happens when it can't be delivered */
  carry(message: Message, delivered: () => void, lost: () => void): void {
    const fate = this.fate(message);
    if (fate === 'lose') this.later(lost);
    else if (fate === 'hold') this.heldMessages.push(delivered);
    else this.later(delivered);
  }
}

/** The log of one group, as the nodes agree on it. */
export class MiniLog {
  leader: NodeId = 0;
  private readonly cluster: MiniCluster;
  private readonly group: GroupId;
  private proposals: Proposal[] = [];
  private index = 1;
  private epoch = 0;
  private isSuspended = false;

  constructor(cluster: MiniCluster, group: GroupId) {
    this.cluster = cluster;
    this.group = group;
  }

  get uncommitted(): number {
    return this.proposals.length;
  }

  /** Makes another node the leader; of the proposals so far only the first `kept` survive. */
  lead(node: NodeId, kept = this.proposals.length): void {
    const survive = this.proposals.slice(0, kept);
    this.proposals = [];
    this.depose();
    this.agree(survive.map(({ payload }) => payload));
    this.leader = node;
    this.isSuspended = false;
    this.epoch += 1;
    this.agree([]);
    this.tellAll((id) =>
      id === node
        ? { kind: 'leading', group: this.group, epoch: this.epoch }
        : { kind: 'following', group: this.group, term: this.epoch, leader: node },
    );
  }

  /** Takes the leadership away; nobody has it then. */
  depose(): void {
    if (this.leader === 0) return;
    this.leader = 0;
    this.tellAll(() => ({ kind: 'following', group: this.group, term: this.epoch, leader: 0 }));
  }

  /**
   * The leader can't write: its engine side takes back what is not committed, though it may be committed yet.
   */
  suspend(): void {
    this.isSuspended = true;
    this.cluster.node(this.leader).tell({ kind: 'suspended', group: this.group });
  }

  /** The leader can write again. */
  resume(): void {
    this.commitAll();
    this.isSuspended = false;
    this.epoch += 1;
    this.cluster.node(this.leader).tell({ kind: 'leading', group: this.group, epoch: this.epoch });
  }

  propose(node: NodeId, epoch: number, payloads: readonly Uint8Array[]): void {
    if (node !== this.leader || epoch !== this.epoch) return;
    for (const payload of payloads) this.proposals.push({ node, payload });
  }

  read(node: NodeId, id: number): void {
    const index = this.leader === 0 ? null : this.index;
    this.cluster.node(node).tell({ kind: 'read', group: this.group, id, index });
  }

  /** @returns whether there was anything to commit */
  commitAll(): boolean {
    if (this.proposals.length === 0 || this.leader === 0) return false;
    const committed = this.proposals.splice(0);
    const first = this.index + 1;
    this.index += committed.length;
    const last = { index: this.index, term: this.epoch, hash: this.index };
    this.tellAll((id) =>
      id === this.leader && !this.isSuspended
        ? { kind: 'committed', group: this.group, count: committed.length, last }
        : { kind: 'entries', group: this.group, entries: this.entries(first, committed), last },
    );
    return true;
  }

  /** Commits entries for everyone, as a new leader does, with one that says nothing at the end. */
  private agree(payloads: readonly Uint8Array[]): void {
    const first = this.index + 1;
    this.index += payloads.length + 1;
    const last = { index: this.index, term: this.epoch, hash: this.index };
    const entries = this.entries(
      first,
      payloads.map((payload) => ({ payload })),
    );
    this.tellAll(() => ({ kind: 'entries', group: this.group, entries, last }));
  }

  private entries(first: number, payloads: readonly { readonly payload: Uint8Array }[]): CommittedEntry[] {
    return payloads.map(({ payload }, i) => {
      const index = first + i;
      return { index, term: this.epoch, hash: index, payload };
    });
  }

  private tellAll(event: (node: NodeId) => NodeEvent): void {
    for (const node of this.cluster.nodes) node.tell(event(node.id));
  }
}

async function emptyState(): Promise<State> {
  const open = (): Promise<StateStore> =>
    StateStore.open({ store: new MemoryStore().attach(), disk: new MemoryDisk().attach() });
  return new State(await open(), open);
}

export class MiniNode {
  readonly id: NodeId;
  /** Events wait while this holds: the node lags behind. */
  lags = false;
  /** Those of the root scope alone wait while this holds. */
  lagsInRoot = false;
  private readonly cluster: MiniCluster;
  private readonly members: readonly NodeId[];
  private readonly side: EngineSide;
  /** Groups that the engine side has opened: of others it is told nothing. */
  private readonly opened = new Set<GroupId>();
  private early: NodeEvent[] = [];
  private readonly underWay = new Map<number, CallKind>();

  constructor(cluster: MiniCluster, id: NodeId, members: readonly NodeId[], state: State) {
    this.cluster = cluster;
    this.id = id;
    this.members = members;
    this.side = new EngineSide(
      {
        incarnation: 1,
        cluster: { clusterId: new Uint8Array(16), founders: members.map(founderOf) },
        ...founderOf(id),
        engine: {
          limits: DEFAULT_LIMITS,
          quotas: { tokensPerUser: 100, users: 100, collections: 100, procedures: 100, tasks: 500 },
          programCacheBytes: 1_000_000,
        },
        requestTimeoutMs: cluster.options.waitMs?.(id) ?? TIMEOUT_MS,
        replaceAfterMs: TIMEOUT_MS,
        checkpointIntervalMs: TIMEOUT_MS,
        checkpointBytes: Number.MAX_SAFE_INTEGER,
        cacheBytes: Number.MAX_SAFE_INTEGER,
        garbageIntervalMs: TIMEOUT_MS,
        stateCheckIntervalMs: 0,
      },
      this.ports(state),
    );
  }

  get engine(): Engine {
    return this.side.engine;
  }

  get router(): Router {
    return this.side.router;
  }

  get rooms(): EngineSide['rooms'] {
    return this.side.rooms;
  }

  get sessions(): EngineSide['scopes']['sessions'] {
    return this.side.scopes.sessions;
  }

  session(group: GroupId): GroupSession {
    const session = this.sessions.ofGroup(group);
    if (session === undefined) throw new Error(`node ${this.id} does not have group ${group}`);
    return session;
  }

  /** Runs a query as `admin`: in a collection, or in `/t` or `/n...`. */
  query(scope: string, code: string, options: QueryOptions = {}): Promise<Reply> {
    const user = this.engine.root.usersByName.get(options.user ?? 'admin');
    if (user === undefined) throw new Error(`node ${this.id} knows no such user`);
    const terms = options.terms === undefined ? null : { ...ORDINARY_TERMS, ...options.terms };
    return new Promise((resolve) => {
      this.router.handle(
        {
          scope: scopeOf(scope),
          user,
          body: { type: 'query', code, vars: wireValues(options.vars) },
          format: 'json',
          client: options.client ?? STAYS,
          terms,
          ...(options.id === undefined ? {} : { id: options.id }),
        },
        resolve,
      );
    });
  }

  /** Runs a procedure as `admin`. */
  run(scope: string, name: string): Promise<Reply> {
    const user = this.engine.root.usersByName.get('admin');
    if (user === undefined) throw new Error(`node ${this.id} knows no such user`);
    const body = { type: 'run', name, args: null } as const;
    const request = { scope: scopeOf(scope), user, body, format: 'json', client: STAYS } as const;
    return new Promise((resolve) => {
      this.router.handle(request, resolve);
    });
  }

  async bootstrap(): Promise<void> {
    const members = this.members.map((nodeId) => ({
      ...founderOf(nodeId),
      number: nodeId,
      leaving: false,
    }));
    const { root } = this.engine;
    const change = bootstrap(root, 0, PASSWORD, members, LEVEL_NEWEST);
    const collectionEvents = root.collectionEvents.splice(0);
    this.session(0).propose({ ...change, collectionEvents }, { ok: true, result: '' }, () =>
      root.confirmLevel(),
    );
    await this.cluster.settle();
  }

  tell(event: NodeEvent): void {
    this.cluster.later(() => this.take(event));
  }

  /** Catches up with what came while it lagged behind. */
  catchUp(): void {
    this.lags = false;
    this.lagsInRoot = false;
    for (const event of this.early.splice(0)) this.tell(event);
  }

  private take(event: NodeEvent): void {
    if (this.waits(event)) this.early.push(event);
    else this.side.handle(event);
  }

  private waits(event: NodeEvent): boolean {
    if (!('group' in event)) return false;
    return this.lags || (this.lagsInRoot && event.group === ROOT_GROUP) || !this.opened.has(event.group);
  }

  private ports(state: State): EnginePorts {
    const { cluster, id } = this;
    const unexpected = (error: unknown): never => {
      throw error;
    };
    return {
      clock: {
        now: () => cluster.now,
        after: (ms, work) => cluster.delay(ms, work),
        every: () => () => {},
        soon: (work) => cluster.later(work),
      },
      environment: {
        now: () => cluster.now + (cluster.options.clockAheadMs?.(id) ?? 0),
        monotonic: () => cluster.now,
        randomBytes: (count) => Buffer.alloc(count, id),
        random: () => 0.5,
        heapUsed: () => 0,
        heapFull: () => false,
        log: () => cluster.options.logged?.(id),
        node: null,
      },
      disk: {
        state,
        reserve: {
          hasReserve: false,
          releaseReserve: () => Promise.resolve(),
          restoreReserve: () => Promise.resolve(),
        },
        freeBytes: () => Promise.resolve(Number.MAX_SAFE_INTEGER),
        bytesToReopen: () => Promise.resolve(1),
        reserveBytes: 0,
      },
      line: { send: (command) => this.obey(command) },
      hasher: { hash: async () => PASSWORD },
      reports: {
        ...SILENT,
        defect: unexpected,
        diverged: () => unexpected(new Error('the states differ')),
        failed: (_message, error) => unexpected(error),
      },
      departs: () => Promise.resolve(),
      status: () => ({ status: 'READY', committed: 0, stored: 0 }),
    };
  }

  private obey(command: Command): void {
    const { cluster } = this;
    switch (command.kind) {
      case 'open':
        this.opened.add(command.group);
        for (const event of this.early.splice(0)) this.tell(event);
        return;
      case 'propose':
        cluster.log(command.group).propose(this.id, command.epoch, command.payloads);
        return;
      case 'read':
        cluster.log(command.group).read(this.id, command.id);
        return;
      case 'call': {
        const { to, id, payload } = command;
        const kind = payload[0] as CallKind;
        const failed = (): void => this.take({ kind: 'returned', id, payload: null });
        cluster.noteCall(this.id, to, id, payload);
        cluster.node(to).underWay.set(id * 100 + this.id, kind);
        cluster.carry(
          { from: this.id, to, what: 'call', kind },
          () => cluster.node(to).take({ kind: 'called', from: this.id, id, payload }),
          failed,
        );
        return;
      }
      case 'return': {
        const { to, id, payload } = command;
        const kind = this.underWay.get(id * 100 + to) as CallKind;
        cluster.carry(
          { from: this.id, to, what: 'return', kind },
          () => cluster.node(to).take({ kind: 'returned', id, payload }),
          () => cluster.node(to).take({ kind: 'returned', id, payload: null }),
        );
        return;
      }
      default:
    }
  }
}

export interface QueryOptions {
  /** Its name in logs. */
  readonly id?: string;
  readonly user?: string;
  readonly vars?: ReadonlyMap<string, number | string>;
  readonly terms?: Partial<Terms>;
  readonly client?: Client;
}

/** The JSON of an answer, or the code of its error. */
export function outcome(reply: Reply): unknown {
  return reply.ok ? JSON.parse(String(reply.result)) : reply.error.code;
}

const STAYS: Client = { gone: false };

const SILENT: Pick<
  EngineReports,
  | 'disk'
  | 'members'
  | 'changedItself'
  | 'snapshotInstalled'
  | 'checkpointed'
  | 'checkpointHadNoRoom'
  | 'stateChecked'
  | 'taskRan'
> = {
  disk: () => {},
  members: () => {},
  changedItself: () => {},
  snapshotInstalled: () => {},
  checkpointed: () => {},
  checkpointHadNoRoom: () => {},
  stateChecked: () => {},
  taskRan: () => {},
};

function founderOf(nodeId: NodeId): Founder {
  return { nodeId, name: `n${nodeId}`, host: 'localhost', port: 9220 };
}

const PASSWORD = { salt: new Uint8Array(16), hash: new Uint8Array(32), logN: 1, r: 1, p: 1 };

function scopeOf(text: string) {
  if (text === '/t') return { kind: 'thingsdb' } as const;
  if (!text.startsWith('/n')) return { kind: 'collection', name: text } as const;
  return { kind: 'node', id: text === '/n' ? null : Number(text.slice(2)) } as const;
}

/** Variables as a client would send them. */
function wireValues(vars: ReadonlyMap<string, number | string> | undefined): WireValues | null {
  return vars === undefined ? null : { format: 'json', data: JSON.stringify(Object.fromEntries(vars)) };
}
