/** The state behind the pages about the cluster: each node by its own words, each group by those of its leader. */
import { AlthingError, type WireValue } from '@althing/client';
import { askNodes, type NodeAnswer } from '../state/other-nodes.js';
import { ask } from '../state/session.js';
import { itemsOf } from '../state/values.js';
import { groupsOf } from './sums.js';

/** Null for what the user may not know. */
export interface ClusterState {
  readonly nodes: readonly WireValue[] | null;
  readonly groups: readonly WireValue[] | null;
  readonly level: WireValue;
  readonly collections: readonly WireValue[] | null;
  /** Each node by its own words. */
  readonly own: readonly NodeAnswer<OwnWords>[];
}

export interface OwnWords {
  readonly info: WireValue;
  readonly counters: WireValue;
  readonly groups: readonly WireValue[];
}

export async function clusterState(): Promise<ClusterState> {
  const [nodes, level, own, collections] = await Promise.all([
    allowed(async () => itemsOf(await ask('@node', 'nodes_info();', {}, WAIT))),
    allowed(() => ask('@node', 'level_info();', {}, WAIT)),
    allowed(() => askNodes('[node_info(), counters(), groups_info()];', ownWords)),
    allowed(async () => itemsOf(await ask('@thingsdb', 'collections_info();', {}, WAIT))),
  ]);
  return { nodes, level, collections, own: own ?? [], groups: nodes === null ? null : groupsOf(own ?? []) };
}

const WAIT = { timeoutMs: 5000 };

async function allowed<T>(asked: () => Promise<T>): Promise<T | null> {
  try {
    return await asked();
  } catch (error) {
    if (error instanceof AlthingError && error.name === 'forbidden_err') return null;
    throw error;
  }
}

function ownWords(value: WireValue): OwnWords {
  const [info = null, counters = null, groups = null] = itemsOf(value);
  return { info, counters, groups: itemsOf(groups) };
}
