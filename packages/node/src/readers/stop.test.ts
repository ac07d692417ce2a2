import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bootstrap,
  DEFAULT_LIMITS,
  EMPTY_SOURCE,
  Engine,
  type Environment,
  RecordKind,
  rootPartOf,
  writeCheckpoint,
} from '@althing/engine';
import { openFolder, StateStore } from '@althing/storage';
import { expect, test } from '@jest/globals';
import { backgroundClock } from '../base/clock.js';
import { systemEnvironment } from '../base/environment.js';
import type { Reply } from '../groups/request.js';
import { State } from '../groups/state.js';
import { until } from '../testing/index.js';
import { Pool } from './pool.js';
import { type StartReader, startReader } from './reader.js';

const QUOTAS = {
  tokensPerUser: 1,
  users: 9,
  collections: 9,
  procedures: 9,
  tasks: 9,
  sessions: { idleMs: 1, maxMs: 1 },
};

/** A store on the disk with the root scope and an empty collection `stuff`, and a query for it. */
async function stored(store: StateStore): Promise<Parameters<Pool['ask']>[0]> {
  const environment: Omit<Environment, 'node'> = {
    ...systemEnvironment({ warn: () => {} }, null),
    voters: () => [],
    isCommittedUser: () => true,
  };
  const engine = new Engine({
    environment: { ...environment, node: null },
    limits: DEFAULT_LIMITS,
    quotas: QUOTAS,
    programCacheBytes: 1024,
    onInternalError: () => {},
  });
  const password = { salt: new Uint8Array(16), hash: new Uint8Array(32), logN: 0, r: 1, p: 1 };
  bootstrap(engine.root, 0, password, []);
  const [admin] = engine.root.users.values();
  const stuff = engine.root.collectionsByName.get('stuff');
  if (admin === undefined || stuff === undefined) throw new Error('a new cluster has these');
  const group = engine.collections.open(stuff.id, EMPTY_SOURCE);
  group.create();
  for (const [id, each] of [[0, engine.root] as const, [stuff.id, group] as const]) {
    const checkpoint = store.beginCheckpoint(id);
    writeCheckpoint(each, {
      put: (...record) => checkpoint.put(...record),
      delete: (...record) => checkpoint.delete(...record),
    });
    checkpoint.put(RecordKind.META, 0, 0, each.encodeMeta());
    await checkpoint.commit({ index: 1, term: 1, context: new Uint8Array(4) });
  }
  return {
    collection: stuff.id,
    root: rootPartOf(engine.root, admin, stuff),
    body: { type: 'query', code: '1 + 1;', vars: null },
    format: 'json',
    isReadOnly: false,
    requestId: 'r',
    place: { storedIndex: 1, index: 1, ageMs: 0 },
    hasLines: false,
    hasEnd: false,
  };
}

test('the store can be closed and opened again while a query runs over a snapshot of it, which ends', async () => {
  const path = await mkdtemp(join(tmpdir(), 'althing-readers-'));
  const folder = await openFolder(path, { reserveBytes: 0 });
  const disk = folder.stateDisk;
  const store = await StateStore.open({ store: folder.stateStore, disk });
  const query = await stored(store);
  const state = new State(store, async () =>
    StateStore.open({ store: await folder.reopenStateStore(), disk }),
  );
  let isTaken = false;
  const start: StartReader = (data, memoryMb, events) =>
    startReader(data, memoryMb, {
      ...events,
      said: (message) => {
        if (message.kind === 'taken') isTaken = true;
        events.said(message);
      },
    });
  const pool = new Pool({
    settings: { threads: 1, durationMs: 60_000, memoryMb: 64, keptBytes: 1e9, limits, quotas: QUOTAS },
    location: folder.levelPath,
    start,
    clock: backgroundClock,
    log: () => {},
    onDefect: (error) => {
      throw error;
    },
  });
  state.otherReaders = pool;
  const ask = (code: string): Promise<Reply> =>
    new Promise((resolve) => {
      const asker = { userId: 1, gone: () => false, refusal: () => null, logs: null, lines: null };
      pool.ask({ ...query, body: { type: 'query', code, vars: null } }, asker, ({ reply }) => resolve(reply));
    });
  expect(await ask('1 + 1;')).toMatchObject({ ok: true, result: '2', index: 1 });
  isTaken = false;
  const endless = ask('range(100000).each(|| range(100000).each(|i| i));');
  await until(() => isTaken, 'the snapshot is taken');
  await state.hold();
  await state.reopen();
  state.release();
  expect(await endless).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('try again') },
  });
  expect(await ask('"again";')).toMatchObject({ ok: true, result: '"again"' });
  await state.close();
  await folder.close();
  await rm(path, { recursive: true });
});

const limits = { ...DEFAULT_LIMITS, durationMs: 60_000 };
