import type { CollectionGroup } from '@althing/engine';
import { DiskFullError } from '@althing/storage';
import { describe, expect, test } from '@jest/globals';
import { ROOT_GROUP } from '../between/protocol.js';
import { TestBench } from '../testing/session-bench.js';

const STUFF = 2;

/** The id of a collection, as the engine knows it. */
function idOf(bench: TestBench, name: string): number {
  for (const { id, name: found } of bench.engine.root.collections.values()) if (found === name) return id;
  throw new Error(`there is no collection ${name}`);
}

async function withCollection(name: string): Promise<{ readonly bench: TestBench; readonly id: number }> {
  const bench = await new TestBench().start();
  await bench.checkpoint('thingsdb');
  await bench.value('thingsdb', `new_collection('${name}');`);
  return { bench, id: idOf(bench, name) };
}

describe('groups of collections', () => {
  test('survive the end of the process with everything that was acknowledged', async () => {
    const { bench, id } = await withCollection('a');
    await bench.value(id, '.x = 1;');
    await bench.checkpoint(id);
    await bench.value(id, '.x += 1;');
    await bench.value(STUFF, '.y = 3;');
    for (let i = 0; i < 3; i++) {
      bench.kill();
      await bench.start();
      expect(await bench.value(id, '.x;')).toBe('2');
      expect(await bench.value(STUFF, '.y;')).toBe('3');
    }
    expect(bench.failures).toEqual([]);
    expect(bench.sessions.areServing).toBe(true);
  });

  test('groups that the log deletes while they are being opened at a start end up closed', async () => {
    // Given a collection that the root state on disk knows, and a deletion that only the log knows,
    const { bench, id } = await withCollection('a');
    await bench.value(id, '.x = 1;');
    await bench.checkpoint(id);
    await bench.checkpoint('thingsdb');
    await bench.value('thingsdb', "del_collection('a');");
    bench.kill();
    // when the process starts,
    await bench.start();
    // then the collection is gone, and the node serves.
    expect(bench.sessions.ofGroup(id)).toBeUndefined();
    expect(bench.sessions.areServing).toBe(true);
    expect(bench.failures).toEqual([]);
  });

  test('groups that only the log knows are opened once, and are part of what serves', async () => {
    const { bench, id } = await withCollection('a');
    await bench.value(id, '.x = 1;');
    bench.kill();
    await bench.start({ travels: false });
    const opens = new Set<number>();
    const send = bench.send.bind(bench);
    bench.send = (command) => {
      if (command.kind === 'open') {
        expect(opens.has(command.group)).toBe(false);
        opens.add(command.group);
      }
      send(command);
    };
    await bench.travel();
    expect(opens.has(id)).toBe(true);
    expect(bench.sessions.areServing).toBe(true);
    expect(await bench.value(id, '.x;')).toBe('1');
  });

  test('keep log and state after their deletion until the root state on disk knows of it', async () => {
    const { bench, id } = await withCollection('a');
    await bench.value(id, '.x = 1;');
    await bench.checkpoint(id);
    await bench.checkpoint('thingsdb');
    await bench.value('thingsdb', "del_collection('a');");
    expect(bench.state.store.groups()).toContain(id);
    await bench.checkpoint('thingsdb');
    expect(bench.state.store.groups()).not.toContain(id);
    bench.kill();
    await bench.start();
    expect(bench.failures).toEqual([]);
    expect(bench.state.store.groups()).toEqual(expect.arrayContaining([ROOT_GROUP]));
  });

  test('leave their state behind when the disk is full, until it is opened again', async () => {
    // Given a full disk from when the root state knows that a collection was deleted,
    const { bench, id } = await withCollection('a');
    await bench.value(id, '.x = 1;');
    await bench.checkpoint(id);
    await bench.value('thingsdb', "del_collection('a');");
    const deletedAt = bench.session('thingsdb').appliedIndex;
    const isFull = (): boolean => bench.state.storedIndex(ROOT_GROUP) >= deletedAt;
    bench.stateStore.fault = ({ kind }) => (kind === 'write' && isFull() ? 'ENOSPC' : undefined);
    await bench.checkpoint('thingsdb');
    expect([bench.timesFull, bench.failures]).toEqual([1, []]);
    expect(bench.state.store.groups()).toContain(id);
    // when the process starts again on it, then it starts,
    bench.kill();
    await bench.start();
    expect([bench.timesFull, bench.failures]).toEqual([2, []]);
    expect(bench.state.store.groups()).toContain(id);
    // and once there is room and the state was opened again, nothing is left.
    bench.stateStore.fault = () => undefined;
    bench.sessions.pause();
    await bench.state.hold();
    await bench.state.reopen();
    bench.state.release();
    bench.sessions.resume();
    await bench.travel();
    expect(bench.state.store.groups()).not.toContain(id);
    expect(bench.failures).toEqual([]);
  });

  test('groups that are gone are neither searched for garbage nor written any more, whoever still has their session', async () => {
    const { bench, id } = await withCollection('a');
    await bench.value(id, '.a = {}; .a.self = .a; .del("a"); nil;');
    await bench.consider();
    await bench.consider();
    const session = bench.session(id);
    const { store } = session.group as CollectionGroup;
    expect(store.marking).not.toBeNull();
    await bench.value('thingsdb', "del_collection('a');");
    expect(store.marking).toBeNull();
    await bench.checkpoint('thingsdb');
    const stored = bench.checkpointer.ensureStored(session);
    await bench.travel();
    expect(bench.checkpointer.active).toBe(false);
    await stored;
    expect(bench.state.store.groups()).not.toContain(id);
    expect(bench.failures).toEqual([]);
  });

  test('are opened and removed when there is room again, not while the state is closed', async () => {
    // Given a collection that is made, and one that is deleted, while the disk is full for a long time,
    const { bench, id } = await withCollection('a');
    await bench.value(id, '.x = 1;');
    await bench.checkpoint(id);
    bench.ask('thingsdb', "new_collection('b');");
    bench.ask('thingsdb', "del_collection('a');");
    bench.ask('thingsdb', "new_collection('c');");
    bench.stateStore.fault = ({ kind }) => (kind === 'write' ? 'ENOSPC' : undefined);
    const held = bench.state.hold();
    await bench.travel();
    await held;
    const attach = bench.stateStore.attach.bind(bench.stateStore);
    bench.stateStore.attach = () => {
      throw new DiskFullError('the store');
    };
    await expect(bench.state.reopen()).rejects.toThrow(DiskFullError);
    await bench.travel();
    expect([bench.sessions.ofGroup(id), bench.sessions.areServing, bench.failures]).toEqual([
      undefined,
      false,
      [],
    ]);
    // when that ends, then all is as if it had not been.
    bench.stateStore.attach = attach;
    bench.stateStore.fault = () => undefined;
    await bench.state.reopen();
    bench.state.release();
    await bench.travel();
    expect(bench.sessions.areServing).toBe(true);
    for (const name of ['b', 'c']) expect(await bench.value(idOf(bench, name), '.x = 2;')).toBe('2');
    await bench.checkpoint('thingsdb');
    expect(bench.state.store.groups()).not.toContain(id);
    expect(bench.failures).toEqual([]);
  });

  test('are all opened at a start during which the state is opened again, at any step of it', async () => {
    const { bench, id } = await withCollection('a');
    await bench.value(id, '.x = 1;');
    for (const target of ['thingsdb', STUFF, id] as const) await bench.checkpoint(target);
    for (let opened = 0; opened <= 3; opened++) {
      bench.kill();
      await bench.start({ travels: false });
      while ([...bench.sessions.all].length < opened) await Promise.resolve();
      await bench.state.hold();
      await bench.state.reopen();
      bench.state.release();
      await bench.travel();
      expect([bench.sessions.areServing, await bench.value(id, '.x;'), bench.failures]).toEqual([
        true,
        '1',
        [],
      ]);
    }
  });

  test('stand still while the state is opened again, however often that has to be tried', async () => {
    const { bench, id } = await withCollection('a');
    await bench.value(id, '.x = 1;');
    bench.sessions.pause();
    bench.sessions.pause();
    expect(bench.session(id).leading).toBe(false);
    bench.sessions.resume();
    expect(bench.session(id).leading).toBe(true);
    expect(await bench.value(id, '.x += 1;')).toBe('2');
  });
});
