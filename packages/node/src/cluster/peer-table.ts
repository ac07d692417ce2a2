import type { NodeId } from '../consensus/protocol.js';
import type { Hello } from './hello.js';

interface PeerState {
  up: boolean;
  /** Since when it is up or down, by the monotonic clock. */
  since: number;
  version: string;
  hello: Hello | null;
}

/** What this node knows of the others from its own connections to them. */
export class PeerTable {
  private readonly monotonic: () => number;
  private readonly begun: number;
  private readonly peers = new Map<NodeId, PeerState>();

  /** @param monotonic a clock in milliseconds */
  constructor(monotonic: () => number) {
    this.monotonic = monotonic;
    this.begun = monotonic();
  }

  noteLink(node: NodeId, up: boolean, version: string): void {
    const known = this.peers.get(node);
    const hello = up ? (known?.hello ?? null) : null;
    const since = known !== undefined && known.up === up ? known.since : this.monotonic();
    this.peers.set(node, { up, since, version: up ? version : (known?.version ?? ''), hello });
  }

  noteHello(node: NodeId, hello: Hello): void {
    const known = this.peers.get(node);
    if (known !== undefined) known.hello = hello;
  }

  forget(node: NodeId): void {
    this.peers.delete(node);
  }

  isUp(node: NodeId): boolean {
    return this.peers.get(node)?.up ?? false;
  }

  /** How long this node has not been able to reach another one, in milliseconds; 0 when it can. */
  downFor(node: NodeId): number {
    const peer = this.peers.get(node);
    if (peer?.up === true) return 0;
    return this.monotonic() - (peer?.since ?? this.begun);
  }

  /** What the other one last said of itself; null while it can't be reached. */
  hello(node: NodeId): Hello | null {
    return this.peers.get(node)?.hello ?? null;
  }
}
