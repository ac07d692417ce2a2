/** The cluster that a node belongs to. */

/** One of the nodes that a cluster begins with. */
export interface Founder {
  readonly nodeId: number;
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

export interface ClusterRecord {
  /** 16 bytes. */
  readonly clusterId: Uint8Array;
  /** Null: this node joined a cluster that was there before. */
  readonly founders: readonly Founder[] | null;
}
