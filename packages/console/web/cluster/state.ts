/** The state behind the pages about the cluster: each node by its own words, each group by those of its leader. */
import { AlthingError, type WireValue } from '@althing/client';
import { askEach, type NodeAnswer } from '../state/other-nodes.js';
import { ask } from '../state/session.js';
import { itemsOf, textAt } from '../state/values.js';
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

/** One question to this node for all that it knows, and one to each other node. */
export async function clusterState(): Promise<ClusterState> {
  const [known, collections] = await Promise.all([
    allowed(() => ask('@node', `[nodes_info(), level_info(), ${OWN_WORDS}];`, {}, WAIT)),
    // Without a leader, too, the page says what is wrong.
    allowed(async () => itemsOf(await ask('@thingsdb', 'collections_info();', {}, STALE))),
  ]);
  if (known === null) return { nodes: null, groups: null, level: null, collections, own: [] };
  const [nodes, level = null, words = null] = itemsOf(known);
  const here = ownWords(words);
  const own = await askEach(itemsOf(nodes), `${OWN_WORDS};`, ownWords, {
    node: textAt(here.info, 'node_id'),
    answer: here,
  });
  return { nodes: itemsOf(nodes), level, collections, own, groups: groupsOf(own) };
}

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
