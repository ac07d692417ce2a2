import type { Clock } from '../base/clock.js';
import type { NodeId } from '../between/protocol.js';
import type { Hello } from './hello.js';

interface PeerState {
  up: boolean;
  /** Since when it is up or down, by the clock. */
  since: number;
  version: string;
  hello: Hello | null;
  heardAt: number;
}

/** The other nodes, as this node knows them from its own connections. */
export class PeerTable {
  private readonly begun: number;
  private readonly peers = new Map<NodeId, PeerState>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {
    this.begun = clock.now();
  }

  noteLink(node: NodeId, up: boolean, version: string): void {
    const known = this.peers.get(node);
    const hello = up ? (known?.hello ?? null) : null;
    const since = known !== undefined && known.up === up ? known.since : this.clock.now();
    const heardAt = known?.heardAt ?? 0;
    this.peers.set(node, { up, since, version: up ? version : (known?.version ?? ''), hello, heardAt });
  }

  noteHello(node: NodeId, hello: Hello): void {
    const known = this.peers.get(node);
    if (known === undefined) return;
    known.hello = hello;
    known.heardAt = this.clock.now();
  }

  forget(node: NodeId): void {
    this.peers.delete(node);
  }

  isUp(node: NodeId): boolean {
    return this.peers.get(node)?.up ?? false;
  }

  /** Time for which this node has not been able to reach another one, in milliseconds; 0 when it can. */
  downFor(node: NodeId): number {
    const peer = this.peers.get(node);
    if (peer?.up === true) return 0;
    return this.clock.now() - (peer?.since ?? this.begun);
  }

  /**
   * The highest level that the other one knows, by what it said not longer ago than this; null when it did
   * not.
   */
  level(node: NodeId, withinMs: number): number | null {
    const peer = this.peers.get(node);
    if (peer === undefined || peer.hello === null || this.clock.now() - peer.heardAt > withinMs) return null;
    return peer.hello.level;
  }

  /** The last hello of the other node; null while it can't be reached. */
  hello(node: NodeId): Hello | null {
    return this.peers.get(node)?.hello ?? null;
  }
}
