/**
 * Several engine sides of nodes in one process, without threads, disks, sockets or a clock: routers, sessions and
 * engines are the real ones; the consensus between them is a log that the test moves by hand.
 *
 *   const cluster = new MiniCluster(3);
 *   await cluster.begin();
 *   const reply = cluster.node(2).query('stuff', '.x = 1;');
 *   await cluster.settle();
 */
import { bootstrap, DEFAULT_LIMITS, EMPTY_SOURCE, Engine } from '@althing/engine';
import { type CallKind, Calls } from '../cluster/calls.js';
import { genesis } from '../consensus/membership.js';
import type { Command, CommittedEntry, Event, GroupId, NodeId } from '../consensus/protocol.js';
import type { Client, Reply, Terms } from '../request.js';
import { Router } from '../router.js';
import { GroupSession } from '../scopes/group-session.js';
import { Results } from '../scopes/results.js';

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
const IDENTITY = new Uint8Array(16);

export class MiniCluster {
  readonly nodes: readonly MiniNode[];
  /** Decides about each message. */
  fate: (message: Message) => Fate = () => 'deliver';
  /** Whether proposals are committed as soon as everything else is done. */
  commits = true;
  now = 1_000_000;
  private readonly logs = new Map<GroupId, MiniLog>();
  private queue: (() => void)[] = [];
  private readonly lastCalls = new Map<string, Uint8Array>();
  private heldMessages: (() => void)[] = [];
  private timers: { readonly at: number; readonly callback: () => void }[] = [];

  constructor(count: number) {
    const ids = Array.from({ length: count }, (_, i) => i + 1);
    this.nodes = ids.map((id) => new MiniNode(this, id, ids));
  }

  /** Makes node 1 the leader of everything, and the collection `stuff`. */
  async begin(): Promise<void> {
    for (const node of this.nodes) node.open(0);
    this.log(0).lead(1);
    await this.settle();
    await this.node(1).bootstrap();
    this.log(this.stuff).lead(1);
    await this.settle();
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
    const payload = this.lastCalls.get(`${from} ${to}`);
    if (payload === undefined) throw new Error('there was no call');
    this.later(() => this.node(to).tell({ kind: 'called', from, id: 1_000_000, payload }));
  }

  /** What one node last asked another one. */
  lastCall(from: NodeId, to: NodeId): Uint8Array | undefined {
    return this.lastCalls.get(`${from} ${to}`);
  }

  noteCall(from: NodeId, to: NodeId, payload: Uint8Array): void {
    this.lastCalls.set(`${from} ${to}`, payload);
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
  private office = 0;

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
    this.office += 1;
    this.agree([]);
    this.tellAll((id) =>
      id === node
        ? { kind: 'leading', group: this.group, office: this.office }
        : { kind: 'following', group: this.group, term: this.office, leader: node },
    );
  }

  /** Takes the leadership away; nobody has it then. */
  depose(): void {
    if (this.leader === 0) return;
    this.leader = 0;
    this.tellAll(() => ({ kind: 'following', group: this.group, term: this.office, leader: 0 }));
  }

  propose(node: NodeId, office: number, payloads: readonly Uint8Array[]): void {
    if (node !== this.leader || office !== this.office) return;
    for (const payload of payloads) this.proposals.push({ node, payload });
  }

  read(node: NodeId, id: number): void {
    const index = this.leader === 0 ? null : this.index;
    this.cluster.node(node).tell({ kind: 'read', group: this.group, id, index });
  }

  /** @returns whether there was anything to commit */
  commitAll(): boolean {
    const committed = this.proposals.splice(0);
    if (committed.length === 0 || this.leader === 0) return false;
    const first = this.index + 1;
    this.index += committed.length;
    const last = { index: this.index, term: this.office, hash: this.index };
    this.tellAll((id) =>
      id === this.leader
        ? { kind: 'committed', group: this.group, count: committed.length, last }
        : { kind: 'entries', group: this.group, entries: this.entries(first, committed), last },
    );
    return true;
  }

  /** Commits entries for everyone, as a new leader does, with one that says nothing at the end. */
  private agree(payloads: readonly Uint8Array[]): void {
    const first = this.index + 1;
    this.index += payloads.length + 1;
    const last = { index: this.index, term: this.office, hash: this.index };
    const entries = this.entries(
      first,
      payloads.map((payload) => ({ payload })),
    );
    this.tellAll(() => ({ kind: 'entries', group: this.group, entries, last }));
  }

  private entries(first: number, payloads: readonly { readonly payload: Uint8Array }[]): CommittedEntry[] {
    return payloads.map(({ payload }, i) => {
      const index = first + i;
      return { index, term: this.office, hash: index, payload };
    });
  }

  private tellAll(event: (node: NodeId) => Event): void {
    for (const node of this.cluster.nodes) node.tell(event(node.id));
  }
}

export class MiniNode {
  readonly id: NodeId;
  readonly engine: Engine;
  readonly router: Router;
  readonly calls: Calls;
  /** Events wait while this holds: the node lags behind. */
  lags = false;
  private readonly cluster: MiniCluster;
  private readonly members: readonly NodeId[];
  private readonly sessions = new Map<GroupId, GroupSession>();
  private early: Event[] = [];
  private readonly underWay = new Map<number, CallKind>();

  constructor(cluster: MiniCluster, id: NodeId, members: readonly NodeId[]) {
    this.cluster = cluster;
    this.id = id;
    this.members = members;
    const monotonic = (): number => cluster.now;
    this.engine = new Engine({
      environment: {
        now: () => cluster.now,
        monotonic,
        randomBytes: (count) => Buffer.alloc(count, id),
        random: () => 0.5,
        heapUsed: () => 0,
        log: () => {},
        node: null,
        voters: () => members,
      },
      limits: DEFAULT_LIMITS,
      quotas: { tokensPerUser: 100, users: 100, collections: 100, procedures: 100 },
      programCacheBytes: 1_000_000,
      onInternalError: (error) => {
        throw error;
      },
    });
    const delay = (ms: number, callback: () => void): (() => void) => cluster.delay(ms, callback);
    this.calls = new Calls({ send: (command) => this.obey(command), delay });
    this.router = new Router({
      engine: this.engine,
      hasher: { hash: async () => PASSWORD },
      nodeId: id,
      epoch: 1,
      calls: this.calls,
      alone: () => members.length === 1,
      session: (target) => this.sessions.get(typeof target === 'number' ? target : 0),
      waitMs: TIMEOUT_MS,
      monotonic,
      delay,
    });
  }

  session(group: GroupId): GroupSession {
    const session = this.sessions.get(group);
    if (session === undefined) throw new Error(`node ${this.id} does not have group ${group}`);
    return session;
  }

  /** Runs a query as `admin`: in a collection, or in `/t` or `/n...`. */
  query(scope: string, code: string, options: QueryOptions = {}): Promise<Reply> {
    const user = this.engine.root.usersByName.get(options.user ?? 'admin');
    if (user === undefined) throw new Error(`node ${this.id} knows no such user`);
    const terms = options.terms === undefined ? null : { ...ORDINARY, ...options.terms };
    return new Promise((resolve) => {
      this.router.handle(
        {
          scope: scopeOf(scope),
          user,
          body: { type: 'query', code, vars: options.vars ?? null },
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
    const body = { type: 'run', name, args: [] } as const;
    const request = { scope: scopeOf(scope), user, body, format: 'json', client: STAYS } as const;
    return new Promise((resolve) => {
      this.router.handle(request, resolve);
    });
  }

  open(group: GroupId): void {
    const { cluster } = this;
    const state = group === 0 ? this.engine.root : this.engine.openCollection(group, EMPTY_SOURCE);
    if ('create' in state) state.create();
    const session = new GroupSession(
      group,
      state,
      new Results(),
      genesis(this.members, IDENTITY),
      { isNew: true, campaign: false },
      {
        consensus: { send: (command) => this.obey(command), onEvent: () => {} },
        now: () => cluster.now,
        changed: (changed) => this.router.sessionChanged(changed),
        alone: () => this.members.length === 1,
        collectionsChanged: (events) => {
          for (const { id } of events) this.open(id);
        },
        snapshots: { send: () => {}, install: () => {}, refused: () => {} },
      },
    );
    this.sessions.set(group, session);
    for (const event of this.early.splice(0)) this.tell(event);
  }

  async bootstrap(): Promise<void> {
    const members = this.members.map((nodeId) => ({
      nodeId,
      number: nodeId,
      name: `n${nodeId}`,
      host: 'localhost',
      port: 9220,
      leaving: false,
    }));
    const change = bootstrap(this.engine.root, 0, PASSWORD, members);
    const collectionEvents = this.engine.root.collectionEvents.splice(0);
    this.session(0).propose({ ...change, collectionEvents }, { ok: true, result: '' }, () => {});
    await this.cluster.settle();
  }

  tell(event: Event): void {
    this.cluster.later(() => this.take(event));
  }

  /** Catches up with what came while it lagged behind. */
  catchUp(): void {
    this.lags = false;
    for (const event of this.early.splice(0)) this.tell(event);
  }

  private take(event: Event): void {
    if (event.kind === 'called' || event.kind === 'returned') {
      this.calls.handle(event);
      return;
    }
    if (!('group' in event)) return;
    const session = this.sessions.get(event.group);
    if (session === undefined || this.lags) this.early.push(event);
    else session.handle(event);
  }

  private obey(command: Command): void {
    const { cluster } = this;
    switch (command.kind) {
      case 'propose':
        cluster.log(command.group).propose(this.id, command.office, command.payloads);
        return;
      case 'read':
        cluster.log(command.group).read(this.id, command.id);
        return;
      case 'call': {
        const { to, id, payload } = command;
        const kind = payload[0] as CallKind;
        const failed = (): void => this.take({ kind: 'returned', id, payload: null });
        cluster.noteCall(this.id, to, payload);
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

const ORDINARY: Terms = { stale: false, minIndex: 0, key: null };

const STAYS: Client = { gone: false };

const PASSWORD = { salt: new Uint8Array(16), hash: new Uint8Array(32), logN: 1, r: 1, p: 1 };

function scopeOf(text: string) {
  if (text === '/t') return { kind: 'thingsdb' } as const;
  if (!text.startsWith('/n')) return { kind: 'collection', name: text } as const;
  return { kind: 'node', id: text === '/n' ? null : Number(text.slice(2)) } as const;
}
