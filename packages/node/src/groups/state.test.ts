import { DiskFullError, MemoryDisk, MemoryStore, StateStore } from '@althing/storage';
import { expect, test } from '@jest/globals';
import { State } from './state.js';

async function turns(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

test('a store is not closed under what works on it, and what comes later waits until it is open', async () => {
  const medium = new MemoryStore();
  const disk = new MemoryDisk();
  const open = (): Promise<StateStore> => StateStore.open({ store: medium.attach(), disk: disk.attach() });
  let isFull = true;
  const state = new State(await open(), () =>
    isFull ? Promise.reject(new DiskFullError('the store')) : open(),
  );
  const first = state.store;
  const done: string[] = [];
  let finish = (): void => {};
  const early = state.use(async (store) => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    done.push(`early on the first: ${store === first}, applied ${store.applied(1)}`);
  });
  const held = state.hold();
  const late = state.use(async (store) => {
    done.push(`late on the first: ${store === first}, applied ${store.applied(1)}`);
  });
  await turns();
  await expect(state.reopen()).rejects.toThrow('while something uses it');
  expect(done).toEqual([]);
  finish();
  await early;
  await held;

  // However often there is no room, nobody gets a closed store.
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(state.reopen()).rejects.toThrow(DiskFullError);
    await turns();
    expect([state.isOpen, state.storedIndex(1), done.length]).toEqual([false, 0, 1]);
  }
  isFull = false;
  await state.reopen();
  state.release();
  await late;
  await state.reopened(first);
  expect(done).toEqual([
    'early on the first: true, applied undefined',
    'late on the first: false, applied undefined',
  ]);
  await state.close();
});
