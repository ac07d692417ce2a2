/** A query for all that a node knows of its cluster. */
export const INFO = '{nodes: nodes_info().map(|n| n.load()), groups: groups_info().map(|g| g.load())};';

export interface Info {
  readonly nodes: readonly {
    readonly node_id: number;
    readonly node_name: string;
    readonly status: string;
    readonly committed_change_id: number;
  }[];
  readonly groups: readonly {
    readonly scope: string;
    readonly leader: number | null;
    readonly applied: number;
    readonly voters: readonly number[];
    readonly learners: readonly number[];
  }[];
}

/** The answer to `INFO`, whose shape the node's own tests hold. */
export function infoOf(value: unknown): Info {
  return value as Info;
}
