/** The cluster's other nodes: what each says of itself, and where its console is. */
import { AlthingError, type WireValue } from '@althing/client';
import { signal } from '@preact/signals';
import { consoleOf, type OtherConsole } from './consoles.js';
import { ask } from './session.js';
import { itemsOf, textAt } from './values.js';

/** Consoles of the other nodes, as they were known when this node answered last. */
export const otherConsoles = signal<readonly OtherConsole[]>([]);

/** Time for which a node is waited for that is asked through another one, in milliseconds. */
const WAIT_MS = 5000;

/** The answer of each node of the cluster to code in its own scope. */
export async function askNodes<T>(code: string, read: (value: WireValue) => T): Promise<NodeAnswer<T>[]> {
  return askEach(itemsOf(await ask('@node', 'nodes_info();')), code, read);
}

/**
 * The answers of nodes to code in their own scopes.
 *
 * @param nodes as `nodes_info()` gives them
 * @param known the answer of one of them that is known already
 */
export function askEach<T>(
  nodes: readonly WireValue[],
  code: string,
  read: (value: WireValue) => T,
  known?: { readonly node: string; readonly answer: T },
): Promise<NodeAnswer<T>[]> {
  return Promise.all(
    nodes.map(async (each): Promise<NodeAnswer<T>> => {
      const about = { node: textAt(each, 'node_id'), name: textAt(each, 'node_name') };
      if (known?.node === about.node) return { ...about, answer: known.answer };
      try {
        return { ...about, answer: read(await ask(`@node:${about.node}`, code, {}, { timeoutMs: WAIT_MS })) };
      } catch (error) {
        if (error instanceof AlthingError) return { ...about, answer: null };
        throw error;
      }
    }),
  );
}

export interface NodeAnswer<T> {
  readonly node: string;
  readonly name: string;
  /** Null for a node that did not answer. */
  readonly answer: T | null;
}

/** Learns where the other nodes have their consoles. A user who may not know of nodes has none. */
export async function loadOtherConsoles(): Promise<void> {
  try {
    const [nodes, info] = itemsOf(await ask('@node', '[nodes_info(), node_info()];'));
    const others = itemsOf(nodes).filter((each) => textAt(each, 'node_id') !== textAt(info, 'node_id'));
    const found = await askEach(others, 'node_info();', (other) => consoleOf(other, location.protocol));
    otherConsoles.value = found.flatMap(({ answer }) => answer ?? []);
  } catch (error) {
    if (!(error instanceof AlthingError)) throw error;
  }
}
