import { describe, expect, test } from '@jest/globals';
import { CALLS_WITHOUT_CHANGE, CHANGING_CALLS, changingFunctions } from '../testing/changing-calls.js';
import { CHANGING_SCOPES, worldBefore, worldLines } from '../testing/world-lines.js';

const CALLS = CHANGING_SCOPES.flatMap((scope) =>
  Object.entries(CHANGING_CALLS[scope]).map(([name, code]) => [scope, name, code] as const),
);

describe('a read-only request', () => {
  test.each(CHANGING_SCOPES)(
    'is tried with every function that changes something in the scope of %s',
    (scope) => {
      expect(Object.keys(CHANGING_CALLS[scope]).toSorted()).toEqual(changingFunctions(scope).toSorted());
    },
  );

  test.each(CALLS)('a read-only request in %s changes nothing by %s', (scope, name, code) => {
    const world = worldBefore();
    const before = worldLines(world);

    const failure = world.db.failure(code, { scope, readOnly: true, mayRestore: name === 'restore' });

    expect(failure.message).toMatch(
      /^the request is read-only, and runs without the privilege (CHANGE|GRANT)/,
    );
    expect(worldLines(world)).toEqual(before);
  });

  test.each(CALLS)('a read-only request in %s is refused what others may: %s', (scope, name, code) => {
    const world = worldBefore();
    const before = worldLines(world);

    const outcome = world.db.outcome(code, { scope, mayRestore: name === 'restore' });

    if (CALLS_WITHOUT_CHANGE.has(name)) return;
    expect(outcome).toMatchObject({ kind: 'value' });
    expect(worldLines(world)).not.toEqual(before);
  });
});
