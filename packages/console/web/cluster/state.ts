/** The state behind the pages about the cluster: each node by its own words, each group by those of its leader. */
import { AlthingError, type WireValue } from '@althing/client';
import { PAGE } from '../results/protocol.js';
import { askEach, type NodeAnswer } from '../state/other-nodes.js';
import { ask } from '../state/session.js';
import { itemsOf, textAt } from '../state/values.js';
import { groupsOf } from './sums.js';

/** Null for what the user may not know. */
export interface ClusterState {
  readonly nodes: readonly WireValue[] | null;
  readonly groups: readonly WireValue[] | null;
  readonly level: WireValue;
  /** Each node by its own words. */
  readonly own: readonly NodeAnswer<OwnWords>[];
  /** True if all nodes were asked: before, groups are as this node knows them. */
  readonly isWhole: boolean;
}

/** A page of the collections, and how many there are; null for who may not know. */
export interface CollectionsPage {
  readonly total: number;
  readonly collections: readonly WireValue[];
}

export interface OwnWords {
  readonly info: WireValue;
  readonly counters: WireValue;
  readonly groups: readonly WireValue[];
}

/**
 * One question to this node for all that it knows, and one to each other node.
 *
 * @param tell is given what this node knows as soon as it has answered
 */
export async function clusterState(tell: (state: ClusterState) => void): Promise<ClusterState> {
  const known = await allowed(() => ask('@node', `[nodes_info(), level_info(), ${OWN_WORDS}];`, {}, WAIT));
  if (known === null) return { nodes: null, groups: null, level: null, own: [], isWhole: true };
  const [found, level = null, words = null] = itemsOf(known);
  const nodes = itemsOf(found);
  const answer = ownWords(words);
  const node = textAt(answer.info, 'node_id');
  const here = [{ node, name: textAt(answer.info, 'node_name'), answer }];
  tell({ nodes, level, own: here, groups: groupsOf(here), isWhole: false });
  const own = await askEach(nodes, `${OWN_WORDS};`, ownWords, { node, answer });
  return { nodes, level, own, groups: groupsOf(own), isWhole: true };
}

/** Collections from a place on. */
export async function collectionsPage(from: number): Promise<CollectionsPage | null> {
  const vars = { from: BigInt(from), to: BigInt(from + PAGE) };
  // Without a leader, too, the page says what is wrong.
  const found = await allowed(() => ask('@thingsdb', COLLECTIONS, vars, STALE));
  if (found === null) return null;
  const [total, collections] = itemsOf(found);
  return { total: Number(total), collections: itemsOf(collections) };
}

const COLLECTIONS = 'all = collections_info(); [all.len(), all[from:to]];';

/** A node about itself. */
const OWN_WORDS = '[node_info(), counters(), groups_info()]';

const WAIT = { timeoutMs: 5000 };
const STALE = { ...WAIT, consistency: 'stale' } as const;

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
