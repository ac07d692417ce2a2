import type { ModuleAnswer, ModuleAsk } from '@althing/engine';
import { MemoryDisk, MemoryStore, StateStore } from '@althing/storage';
import { type GroupId, type NodeId, ROOT_GROUP } from '../between/protocol.js';
import type { CallKind } from '../calls/calls.js';
import { State } from '../groups/state.js';
import { MiniLog } from './mini-log.js';
import { MiniNode } from './mini-node.js';

/** Ways in which a test may treat a message between nodes. */
export type Fate = 'deliver' | 'lose' | 'hold';

export interface Message {
  readonly from: NodeId;
  readonly to: NodeId;
  readonly what: 'call' | 'return';
  readonly kind: CallKind;
}

export interface MiniOptions {
  /** Time that a request may wait at a node, in milliseconds. */
  readonly waitMs?: (node: NodeId) => number;
  /** Called when code calls `log`. */
  readonly logged?: (node: NodeId) => void;
  /** Takes requests to modules; none by default. */
  readonly asked?: (node: NodeId, ask: ModuleAsk, answer: (answer: ModuleAnswer) => void) => void;
  /** Time by which the wall clock of a node is ahead, in milliseconds. */
  readonly clockAheadMs?: (node: NodeId) => number;
}

export class MiniCluster {
  readonly nodes: readonly MiniNode[];
  fate: (message: Message) => Fate = () => 'deliver';
  /** True if proposals are committed as soon as everything else is done. */
  commits = true;
  now = 1_000_000;
  private readonly logs = new Map<GroupId, MiniLog>();
  private queue: (() => void)[] = [];
  private readonly lastCalls = new Map<string, { readonly id: number; readonly payload: Uint8Array }>();
  private heldMessages: (() => void)[] = [];
  private timers: { readonly at: number; readonly callback: () => void }[] = [];

  /** Makes nodes of which node 1 leads everything, and the collection `stuff`. */
  static async begin(count: number, options: MiniOptions = {}): Promise<MiniCluster> {
    const states = Array.from({ length: count }, emptyState);
    const cluster = new MiniCluster(await Promise.all(states), options);
    for (const { sessions } of cluster.nodes) await sessions.open();
    cluster.connect();
    cluster.log(ROOT_GROUP).lead(1);
    await cluster.settle();
    await cluster.node(1).bootstrap();
    cluster.log(cluster.stuff).lead(1);
    await cluster.settle();
    return cluster;
  }

  private constructor(
    states: readonly State[],
    readonly options: MiniOptions,
  ) {
    const ids = states.map((_, i) => i + 1);
    this.nodes = states.map((state, i) => new MiniNode(this, i + 1, ids, state));
  }

  private connect(): void {
    for (const node of this.nodes) {
      for (const { id } of this.nodes) {
        if (id !== node.id) node.router.peerChanged(id, true);
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

  /** Timers that were armed and not called off: what is idle for a while has as many as before, or one of its timers renews itself. */
  get armedTimers(): number {
    return this.timers.length;
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

async function emptyState(): Promise<State> {
  const open = (): Promise<StateStore> =>
    StateStore.open({ store: new MemoryStore().attach(), disk: new MemoryDisk().attach() });
  return new State(await open(), open);
}
