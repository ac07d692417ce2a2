/** Collections of imports and restores that came to no end are deleted in their time. */
import { importingName, RootGroup } from '@althing/engine';
import { expect, test } from '@jest/globals';
import { Imports } from './import.js';

const HOUR = 3600 * 1000;
const BEGUN_S = 1_800_000_000;

test.each([
  ['one that can not be resumed, of this node', importingName(1, '3f09', 'stuff'), 0, true],
  ['one that can not be resumed, of another node', importingName(2, '3f09', 'stuff'), 48, false],
  ['one that can be resumed, within a day', importingName(1, 'r3f09', 'stuff'), 23, false],
  ['one that can be resumed, after a day', importingName(1, 'r3f09', 'stuff'), 25, true],
  ['a collection', 'stuff', 48, false],
])('%s', (_, name, hours, isDropped) => {
  const root = new RootGroup();
  const dropped: string[] = [];
  const id = 5;
  const info = { id, name, createdAt: BEGUN_S, deep: 1, timeZone: 'UTC', members: [1] };
  root.collections.set(id, info as never);
  root.members.set(1, {} as never).set(2, {} as never);
  const imports = new Imports({
    nodeId: 1,
    root,
    staging: { isBusy: false, drop: (staged: string) => Promise.resolve(void dropped.push(staged)) } as never,
    limits: { maxProcedures: 1, maxTasks: 1 },
    session: () => undefined,
    onFailure: () => {},
    now: () => BEGUN_S * 1000 + hours * HOUR,
  });
  imports.consider();
  expect(dropped).toEqual(isDropped ? [name] : []);
});
