/** A transport with a memory of what happened to it, for tests. */
import type { PeerAddress } from '../between/protocol.js';
import type { PeerLogEvent } from './refusal-log.js';
import { Transport, type TransportOptions } from './transport.js';

export const CLUSTER = Buffer.from('0123456789abcdef');
export const SECRET = 'a secret of the cluster';

export interface Heard {
  readonly from: number;
  readonly kind: number;
  readonly payload: string;
}

export class TestNode {
  readonly transport: Transport;
  port = 0;
  /** `up 2`, `down 2`, `broke 2`. */
  readonly changes: string[] = [];
  readonly frames: Heard[] = [];
  readonly logs: PeerLogEvent[] = [];
  removed = 0;
  superseded = 0;

  private constructor(
    readonly nodeId: number,
    options: Partial<TransportOptions>,
    incarnation: number,
  ) {
    this.transport = new Transport({
      self: { nodeId, name: `node${nodeId}`, incarnation, host: '127.0.0.1', port: 0, version: '0.1.0' },
      bind: { address: '127.0.0.1', port: 0 },
      secret: SECRET,
      tls: null,
      heartbeatMs: 50,
      silenceMs: 2000,
      log: (event) => this.logs.push(event),
      onFrame: (from, kind, payload) => this.frames.push({ from, kind, payload: payload.toString('latin1') }),
      onPeer: (node, state) => this.changes.push(`${state} ${node}`),
      onBroke: (node) => this.changes.push(`broke ${node}`),
      onAsk: (question, answer) => answer(Buffer.from(`echo ${question.toString()}`)),
      onRemoved: () => this.removed++,
      onSuperseded: () => this.superseded++,
      ...options,
    });
  }

  static async start(
    nodeId: number,
    options: Partial<TransportOptions> = {},
    cluster: Uint8Array | null = CLUSTER,
    incarnation = 1,
  ): Promise<TestNode> {
    const node = new TestNode(nodeId, options, incarnation);
    node.port = await node.transport.listen();
    if (cluster !== null) node.transport.setCluster(cluster);
    return node;
  }

  get address(): PeerAddress {
    return { nodeId: this.nodeId, host: '127.0.0.1', port: this.port };
  }

  has(change: string): boolean {
    return this.changes.includes(change);
  }

  logged(cause: PeerLogEvent['cause']): boolean {
    return this.logs.some((event) => event.cause === cause);
  }

  close(): Promise<void> {
    return this.transport.close();
  }
}

/** Tells each of them where all are. */
export function introduce(...nodes: readonly TestNode[]): void {
  for (const node of nodes) {
    node.transport.setPeers(
      nodes.map(({ address }) => address),
      [],
    );
  }
}
