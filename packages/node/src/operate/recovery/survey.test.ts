import { LogStore, MemoryDisk, MemoryStore, StateStore } from '@althing/storage';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { chainEntry, membershipOf, murmur3 } from 'raft-ts';
import { ClusterFile } from '../../between/cluster-record.js';
import { decodeMembership, encodeMembership } from '../../between/membership.js';
import { ROOT_GROUP } from '../../between/protocol.js';
import { ExitCode } from '../../config/index.js';
import { operationsOf } from '../../consensus/group-log.js';
import { encodeContext } from '../../groups/applied.js';
import { recoveredPlace } from './recovered.js';
import { type OpenData, surveyOf } from './survey.js';

const SELF = 7;
const RECORD = { clusterId: new Uint8Array(16).fill(3), founders: null };

let state: StateStore;
let log: LogStore;

beforeEach(async () => {
  state = await StateStore.open({ store: new MemoryStore().attach(), disk: new MemoryDisk().attach() });
  log = await LogStore.open(new MemoryDisk().attach(), { segmentBytes: 64 * 1024 });
});

afterEach(async () => {
  await log.close();
  await state.close();
});

describe('a survey of a stopped node', () => {
  test('a stopped node tells the last entry of each group, and how much of it is known to be committed', async () => {
    const hash = await stored(membershipOf([SELF, 8, 9], [10]));
    const next = chainEntry(hash, 6, 3, 'noop', new Uint8Array(0), murmur3);
    const hardState = { term: 4, vote: 8, commit: 5 };
    const write = { sequence: 1, term: 4, entries: [next], snapshot: null, hardState };
    await log.appended(operationsOf(ROOT_GROUP, write, hash));
    const { others, groups } = await surveyOf(await data());
    expect(others).toBe(3);
    expect(groups).toEqual([{ group: ROOT_GROUP, name: 'root', term: 3, index: 6, commit: 5 }]);
  });

  test('a stopped node tells nothing of a group in which it only listens: others have what is newer', async () => {
    await stored(membershipOf([8, 9], [SELF]));
    await expect(surveyOf(await data())).rejects.toMatchObject({
      message: expect.stringContaining('no vote'),
      exitCode: ExitCode.Configuration,
    });
  });
});

describe('the entry with which a group goes on', () => {
  const end = {
    index: 6,
    term: 3,
    hash: 99,
    promised: 4,
    membership: { ...membershipOf([SELF, 8], [9]), removed: [5] },
  };

  test('is behind everything, with one member; the others are removed', () => {
    const place = recoveredPlace(SELF, end, Buffer.from('a'));
    expect(place).toMatchObject({ index: 7, term: 5 });
    expect(decodeMembership(place.membership)).toEqual({ ...membershipOf([SELF]), removed: [5, 8, 9] });
  });

  test('is in no log of another cluster', () => {
    const [a, b] = ['a', 'b'].map((identity) => recoveredPlace(SELF, end, Buffer.from(identity)).hash);
    expect(a).not.toBe(b);
  });
});

/** Puts an empty state of the root scope at entry 5, where the log begins. */
async function stored(membership: Parameters<typeof encodeMembership>[0]): Promise<number> {
  const place = { index: 5, term: 2, hash: 1234, membership: encodeMembership(membership) };
  const checkpoint = state.beginCheckpoint(ROOT_GROUP);
  await checkpoint.commit({ index: place.index, term: place.term, context: encodeContext(place) });
  await log.appended([
    { kind: 'reset', group: ROOT_GROUP, index: 5, term: 2, hash: place.hash },
    { kind: 'hardState', group: ROOT_GROUP, term: 2, vote: 0, commit: 5 },
  ]);
  return place.hash;
}

async function data(): Promise<OpenData> {
  return {
    state,
    log,
    identity: { nodeId: SELF, clusterId: RECORD.clusterId },
    file: await ClusterFile.open(new MemoryDisk().attach(), 0),
    record: RECORD,
    close: async () => {},
  };
}
