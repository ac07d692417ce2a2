/** Several hosts and the network between them, driven by hand: nothing happens that is not asked for. */
import { assert } from '../assert.js';
import { decodeMessage, encodeMessage } from '../codec.js';
import type { LeaseOptions, Promised, RaftOptions } from '../config.js';
import type { StepResult } from '../core.js';
import type { Message } from '../messages.js';
import { seededRandom } from '../random.js';
import type { ReadResult } from '../reads.js';
import type { Ready } from '../readying.js';
import type { TraceEvent } from '../trace.js';
import type { Entry, Index, Membership, NodeId } from '../types.js';
import { Checker } from './checker.js';
import { type Contents, type Disk, freshDisk, Host, type HostOptions } from './host.js';
import type { RaftNodeClass } from './plant.js';

export interface ClusterOptions {
  readonly seed: number;
  readonly membership: Membership;
  readonly options?: Partial<RaftOptions>;
  readonly lease?: LeaseOptions;
  readonly nodeClass?: RaftNodeClass;
  readonly onTrace?: (event: TraceEvent) => void;
  /** A read was answered: its outcome, and the node. */
  readonly onRead?: (node: NodeId, result: ReadResult) => void;
}

/** The context of a read: the index that it must see. */
export interface ReadTicket {
  readonly name: string;
  readonly atLeast: Index;
}

export class Cluster {
  readonly hosts = new Map<NodeId, Host>();
  /** The disks of crashed hosts as well. */
  readonly disks = new Map<NodeId, Disk>();
  readonly checker: Checker;
  /** Under way, oldest first. */
  messages: Message[] = [];
  /** Links that are cut, as `from>to`. */
  readonly cut = new Set<string>();
  private readonly contents: Contents = new Map();
  private readonly lives = new Map<NodeId, number>();

  constructor(private readonly setup: ClusterOptions) {
    this.checker = new Checker(setup.membership);
  }

  /** The running hosts, ascending by id. */
  get running(): Host[] {
    return [...this.hosts.values()].sort((left, right) => left.id - right.id);
  }

  host(id: NodeId): Host {
    const host = this.hosts.get(id);
    assert(host !== undefined, 'No such host runs', id);
    return host;
  }

  /** Starts a host for the first time, with the membership it is to begin with. */
  add(id: NodeId, membership: Membership, options: Partial<RaftOptions> = {}): Host {
    assert(!this.disks.has(id), 'Such a host has been before', id);
    this.disks.set(id, freshDisk(membership));
    return this.start(id, options, undefined);
  }

  /** Starts a crashed host again. */
  restart(id: NodeId, options: Partial<RaftOptions> = {}, promised?: Promised): Host {
    assert(!this.hosts.has(id), 'The host runs', id);
    const host = this.start(id, options, promised);
    this.checker.onRestart(host);
    return host;
  }

  /** Kills a host; of its writes under way the first `survivors` were done. */
  crash(id: NodeId, survivors = 0): void {
    this.disks.set(id, this.host(id).crash(survivors));
    this.hosts.delete(id);
  }

  /** Fetches what is ready at a host, and sends what may leave at once. */
  ready(id: NodeId): Ready {
    const host = this.host(id);
    const ready = host.ready();
    this.checker.onReady(host, ready, this.disks);
    for (const message of ready.messages) this.send(host, message);
    for (const result of ready.reads) this.onRead(id, result);
    return ready;
  }

  /** The oldest writes of a host reach its disk; what waited for them leaves. */
  persist(id: NodeId, count?: number): readonly Message[] {
    const host = this.host(id);
    const messages = host.persist(count);
    this.checker.onPersisted(host);
    for (const message of messages) this.send(host, message);
    this.checker.onState(host);
    return messages;
  }

  /** The state machine of a host does one piece of work. */
  apply(id: NodeId): readonly Entry[] {
    const host = this.host(id);
    const entries = host.applyNext();
    this.checker.onApplied(host);
    this.checker.onState(host);
    return entries;
  }

  tick(id: NodeId): void {
    const host = this.host(id);
    host.node.tick();
    this.checker.onState(host);
  }

  /** Takes a message off the network and gives it to its recipient, if it runs and the link is whole. */
  deliver(at: number): StepResult | null {
    const message = this.messages[at];
    assert(message !== undefined, 'No such message', at);
    this.messages.splice(at, 1);
    const host = this.hosts.get(message.to);
    const isLost = host === undefined || this.cut.has(`${message.from}>${message.to}`);
    if (isLost) {
      this.onLost(message);
      return null;
    }
    const result = host.step(decodeMessage(encodeMessage(message)));
    if (message.kind === 'snapshot') this.hosts.get(message.from)?.node.reportSnapshot(message.to, true);
    this.checker.onState(host);
    return result;
  }

  /** A message was lost: whoever sends a snapshot notices. */
  onLost(message: Message): void {
    if (message.kind === 'snapshot') this.hosts.get(message.from)?.node.reportSnapshot(message.to, false);
  }

  /** Asks a host for a read index. */
  read(id: NodeId, name: string): ReturnType<Host['node']['readIndex']> {
    const ticket: ReadTicket = { name, atLeast: this.checker.maxCommitted };
    return this.host(id).node.readIndex(ticket);
  }

  private send(host: Host, message: Message): void {
    this.checker.onSend(host, message);
    this.messages.push(message);
  }

  private onRead(id: NodeId, result: ReadResult): void {
    if (result.outcome === 'ready' && isTicket(result.context)) {
      this.checker.onRead(result.context.atLeast, result.index, id);
    }
    this.setup.onRead?.(id, result);
  }

  private start(id: NodeId, options: Partial<RaftOptions>, promised: Promised | undefined): Host {
    const { seed, lease, nodeClass, onTrace } = this.setup;
    const life = (this.lives.get(id) ?? 0) + 1;
    this.lives.set(id, life);
    const setup: HostOptions = {
      id,
      disk: this.disks.get(id)!,
      random: seededRandom(seed + life * 7919, id),
      options: { ...this.setup.options, ...options },
      contents: this.contents,
      trace: (event) => {
        onTrace?.(event);
        this.checker.onTrace(this.hosts.get(id), event);
      },
      ...(lease === undefined ? {} : { lease }),
      ...(nodeClass === undefined ? {} : { nodeClass }),
      ...(promised === undefined ? {} : { promised }),
    };
    const host = new Host(setup);
    this.hosts.set(id, host);
    return host;
  }
}

export function isTicket(context: unknown): context is ReadTicket {
  return typeof context === 'object' && context !== null && 'atLeast' in context;
}
