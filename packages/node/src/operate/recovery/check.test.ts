import {
  CollectionGroup,
  EMPTY_SOURCE,
  type Group,
  importingName,
  RecordKind,
  RootGroup,
  ShapeTree,
  writeCheckpoint,
} from '@althing/engine';
import type { StateRecord } from '@althing/storage';
import { expect, test } from '@jest/globals';
import { ROOT_GROUP } from '../../between/protocol.js';
import { type CollectionCheck, checksOf } from './check.js';
import type { StateRecords } from './survey.js';

const STUFF = 2;

test('a state in which all is counted right keeps its rules', async () => {
  expect(await checks(stuff())).toEqual([{ name: 'stuff', things: 1, broken: [], isBeingFilled: false }]);
});

test('a thing whose references are counted wrong is found', async () => {
  const group = stuff();
  group.store.root.refs = 3;
  const [check] = await checks(group);
  expect(check?.broken).toContain('thing 1 has 1 references, counted 3');
});

test('a thing that is counted and not there is found', async () => {
  const group = stuff();
  group.store.thingCount = 2;
  expect(await checks(group)).toMatchObject([{ name: 'stuff', things: 2, broken: ['1 things, counted 2'] }]);
});

test('a collection that an import has not filled yet breaks no rule', async () => {
  const group = stuff();
  group.store.root.refs = 3;
  const name = importingName(1, 'a', 'stuff');
  expect(await checks(group, name)).toMatchObject([{ name, broken: [], isBeingFilled: true }]);
});

test('an index that breaks a rule is found', async () => {
  const group = stuff();
  const { indexes } = group.store;
  const def = { id: 9, type: 7, flags: 0, name: 'by_name', fields: [1] };
  indexes.add(indexes.make(def, { cursor: 0, why: null }));
  const [check] = await checks(group);
  expect(check?.broken).toEqual([expect.stringContaining('by_name): its type was deleted')]);
});

function stuff(): CollectionGroup {
  const group = new CollectionGroup(STUFF, new ShapeTree(), EMPTY_SOURCE);
  group.create();
  return group;
}

/** The findings in the state on disk that a collection makes. */
async function checks(collection: CollectionGroup, name = 'stuff'): Promise<CollectionCheck[]> {
  const root = new RootGroup();
  root.putCollection({ id: STUFF, name, createdAt: 0, deep: 1, timeZone: 'UTC', members: [1] });
  const records = new Map([
    [ROOT_GROUP, recordsOf(root)],
    [STUFF, recordsOf(collection)],
  ]);
  const of = (group: number): readonly StateRecord[] => records.get(group) ?? [];
  const state: StateRecords = {
    groups: () => [...records.keys()],
    read: (group, kind, id, part = 0) =>
      of(group).find((record) => record.kind === kind && record.id === id && record.part === part)?.value,
    async *scan(group, first = 0, last = first) {
      yield* of(group).filter(({ kind }) => kind >= first && kind <= last);
    },
  };
  const found: CollectionCheck[] = [];
  for await (const check of checksOf(state)) found.push(check);
  return found;
}

function recordsOf(group: Group): readonly StateRecord[] {
  const records: StateRecord[] = [];
  const put = (kind: number, id: number, part: number, value: Uint8Array): void => {
    records.push({ kind, id, part, value: Buffer.from(value) });
  };
  writeCheckpoint(group, { put, delete: () => {} });
  put(RecordKind.META, 0, 0, group.encodeMeta());
  return records;
}
