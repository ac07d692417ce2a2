import { describe, expect, test } from '@jest/globals';
import { rootLines } from '../admin/describe.js';
import { groupLines, schemaLines, stateLines } from '../state/describe.js';
import {
  BEFORE_CALLS,
  CALLS_WITHOUT_CHANGE,
  CHANGING_CALLS,
  type ChangingScope,
  changingFunctions,
} from '../testing/changing-calls.js';
import { FakeNode } from '../testing/fake-node.js';
import { Harness } from '../testing/harness.js';

const SCOPES: readonly ChangingScope[] = ['collection', 'thingsdb', 'node'];

const CALLS = SCOPES.flatMap((scope) =>
  Object.entries(CHANGING_CALLS[scope]).map(([name, code]) => [scope, name, code] as const),
);

interface World {
  readonly db: Harness;
  readonly node: FakeNode;
}

function prepared(): World {
  const node = new FakeNode();
  const db = new Harness({ node, evicts: false });
  for (const scope of SCOPES) db.run(BEFORE_CALLS[scope], { scope });
  // A token has expired by then.
  db.nowMs += 86_400_000;
  return { db, node };
}

function lines({
  db: {
    engine: { root },
    collection,
  },
  node: { done, backups },
}: World): readonly string[] {
  return [
    ...rootLines(root),
    ...groupLines(root),
    ...groupLines(collection),
    ...schemaLines(collection),
    ...stateLines(collection),
    ...done,
    ...backups.infos.map(({ template }) => template),
  ];
}

describe('a read-only request', () => {
  test.each(SCOPES)('is tried with every function that changes something in the scope of %s', (scope) => {
    expect(Object.keys(CHANGING_CALLS[scope]).toSorted()).toEqual(changingFunctions(scope).toSorted());
  });

  test.each(CALLS)('in %s changes nothing by %s', (scope, name, code) => {
    const world = prepared();
    const before = lines(world);

    const failure = world.db.failure(code, { scope, readOnly: true, mayRestore: name === 'restore' });

    expect(failure.message).toMatch(
      /^the request is read-only, and runs without the privilege (CHANGE|GRANT)/,
    );
    expect(lines(world)).toEqual(before);
  });

  test.each(CALLS)('in %s is refused what others may: %s', (scope, name, code) => {
    const world = prepared();
    const before = lines(world);

    const outcome = world.db.outcome(code, { scope, mayRestore: name === 'restore' });

    if (CALLS_WITHOUT_CHANGE.has(name)) return;
    expect(outcome).toMatchObject({ kind: 'value' });
    expect(lines(world)).not.toEqual(before);
  });
});
