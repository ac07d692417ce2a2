import { rootLines } from '../admin/describe.js';
import { groupLines, schemaLines, stateLines } from '../state/describe.js';
import { BEFORE_CALLS, type ChangingScope } from './changing-calls.js';
import { FakeNode } from './fake-node.js';
import { Harness } from './harness.js';

/** The scopes in which something is changed. */
export const CHANGING_SCOPES: readonly ChangingScope[] = ['collection', 'thingsdb', 'node'];

/** An engine on a node of its own. */
export interface World {
  readonly db: Harness;
  readonly node: FakeNode;
}

/** The world that `CHANGING_CALLS` run in. */
export function worldBefore(): World {
  const node = new FakeNode();
  const db = new Harness({ node, evicts: false });
  for (const scope of CHANGING_SCOPES) db.run(BEFORE_CALLS[scope], { scope });
  // A token has expired by then.
  db.nowMs += 86_400_000;
  return { db, node };
}

/** All that a request could change, in words. */
export function worldLines({ db: { engine, collection }, node }: World): readonly string[] {
  const { root } = engine;
  return [
    ...rootLines(root),
    ...groupLines(root),
    ...groupLines(collection),
    ...schemaLines(collection),
    ...stateLines(collection),
    ...node.done,
    ...node.backups.infos.map(({ template }) => template),
  ];
}
