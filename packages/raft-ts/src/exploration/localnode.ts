/** One node of an exploration: the real core, a host in memory, and a witness of what it promised. */
import { assert } from '../assert.js';
import type { Message } from '../messages.js';
import { RaftNode } from '../node.js';
import { type Contents, type Disk, freshDisk, Host } from '../testing/host.js';
import type { TraceEvent } from '../trace.js';
import type { Index, NodeId } from '../types.js';
import type { Action } from './actions.js';
import type { Model } from './bounds.js';
import { check, Witness } from './witness.js';

/** The durable part of a node, from which it can be started. */
export interface Origin {
  readonly id: NodeId;
  readonly disk: Disk;
  readonly witness: Witness;
}

/** The beginning of a node of a model. */
export function originOf(model: Model, id: NodeId): Origin {
  return { id, disk: freshDisk(model.membershipOf(id)), witness: new Witness() };
}

export class LocalNode {
  host: Host;
  readonly witness: Witness;
  /** Messages sent since they were last asked for. */
  private sent: Message[] = [];
  private commit: Index = 0;
  private readonly listener: ((event: TraceEvent) => void) | undefined;

  /** Starts from copies of what `origin` holds. `contents` is that of all snapshots of all nodes. */
  constructor(
    private readonly model: Model,
    origin: Origin,
    private readonly contents: Contents,
    listener?: (event: TraceEvent) => void,
  ) {
    this.listener = listener;
    this.witness = origin.witness.clone();
    this.host = this.start(origin.id, { ...origin.disk, log: origin.disk.log.clone() });
    this.settle();
  }

  /** A copy of what survives a crash. */
  get origin(): Origin {
    const { id, disk } = this.host;
    return { id, disk: { ...disk, log: disk.log.clone() }, witness: this.witness.clone() };
  }

  /** Lets something happen, and returns what it sends. Throws `Violation` or `RaftAssertionError`. */
  act(action: Action): readonly Message[] {
    this.do(action);
    this.settle();
    const sent = this.sent;
    this.sent = [];
    return sent;
  }

  private do(action: Action): void {
    const { node } = this.host;
    switch (action.kind) {
      case 'deliver':
      case 'repeat':
        this.deliver(action.message);
        return;
      case 'campaign':
        node.campaign();
        return;
      case 'propose':
        node.propose([Uint8Array.of(action.number)]);
        return;
      case 'beat':
        node.tick();
        return;
      case 'persist':
        this.persist(action.count);
        return;
      case 'crash':
        this.crash(action.survivors);
        return;
      case 'read':
        node.readIndex({ name: '', atLeast: action.atLeast });
        return;
      case 'transfer':
        node.transferLeadership(action.to);
        return;
      case 'sleep':
        node.quiesce(new Set([action.without]));
        return;
      case 'back':
        node.memberBack(action.node);
        return;
      case 'change':
        node.proposeChange(this.model.changes[action.number]!);
        return;
      case 'fetch':
        this.fetch();
        return;
    }
  }

  private deliver(message: Message): void {
    const { node } = this.host;
    const result = node.step(message);
    const said = result.status === 'refused' ? result.reason : '';
    check(said === '', 'I0', `${message.to} refuses ${message.kind} of a sound node: ${said}`);
  }

  private persist(count: number): void {
    const messages = this.host.persist(count);
    for (const message of messages) this.send(message);
  }

  private crash(survivors: number): void {
    const disk = this.host.crash(survivors);
    this.witness.lives += 1;
    this.commit = 0;
    this.host = this.start(this.host.id, disk);
  }

  /** The host does at once what is not explored in every order. */
  private settle(): void {
    const { bounds } = this.model;
    if (!bounds.lazy) while (this.host.node.hasReady()) this.fetch();
    while (bounds.writes === 0 && this.host.writes.length > 0) {
      this.persist(this.host.writes.length);
      while (!bounds.lazy && this.host.node.hasReady()) this.fetch();
    }
    while (this.host.isApplying) this.host.applyNext();
    const core = RaftNode.coreOf(this.host.node);
    const { commit } = core.log;
    check(commit >= this.commit, 'I5', `the commit index of ${core.id} falls`);
    this.commit = commit;
    this.witness.onState(core);
  }

  private fetch(): void {
    const { messages, reads, committed } = this.host.ready();
    for (const entry of committed) this.witness.onCommitted(this.host, entry);
    for (const message of messages) this.send(message);
    for (const read of reads) {
      if (read.outcome !== 'ready') continue;
      const { context, index } = read;
      assert(
        typeof context === 'object' && context !== null && 'atLeast' in context,
        'A read of somebody else',
      );
      const { atLeast } = context;
      const isLate = typeof atLeast === 'number' && index >= atLeast;
      check(isLate, 'I8', `${this.host.id} reads at ${index} although ${atLeast} was committed before`);
    }
  }

  private send(message: Message): void {
    this.witness.onSend(this.host, message);
    this.sent.push(message);
  }

  private start(id: NodeId, disk: Disk): Host {
    const { bounds, options, nodeClass } = this.model;
    // Numbers of questions and attempts must not repeat in another life.
    const first = bounds.reads > 0 || bounds.preVote ? this.witness.lives * ATTEMPTS_PER_LIFE : 0;
    return new Host({
      id,
      disk,
      options,
      nodeClass,
      random: () => first,
      contents: this.contents,
      trace: (event) => {
        this.witness.onTrace(this.host, event);
        this.listener?.(event);
      },
    });
  }
}

const ATTEMPTS_PER_LIFE = 1000;
