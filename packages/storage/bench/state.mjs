// Measures the state store on a real folder: node bench/state.mjs [folder] [records] [shuffled]. Build first.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { LevelStore, NodeDisk, StateStore, verifyLevelDb } from '../dist/index.js';

const root = fs.mkdtempSync(path.join(process.argv[2] ?? os.tmpdir(), 'althing-bench-'));
const RECORDS = Number(process.argv[3] ?? 1_000_000);
const STRIDE = process.argv[4] === 'shuffled' ? 7919 : 1;
const level = path.join(root, 'level');
const context = Buffer.alloc(0);
const turn = () => new Promise((resolve) => setImmediate(resolve));
const seconds = (start) => `${((performance.now() - start) / 1000).toFixed(2)} s`;

async function open() {
  const disk = await NodeDisk.make(root);
  return StateStore.open({ store: await LevelStore.open(level, { createIfMissing: true }), disk });
}

/**
 * The longest time between two turns of the event loop, and between start and end of reads, while a task
 * runs.
 */
async function watched(name, store, group, task) {
  let longest = 0;
  let longestRead = 0;
  let over20 = 0;
  let reads = 0;
  let running = true;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const watching = (async () => {
    let last = performance.now();
    while (running) {
      await turn();
      const now = performance.now();
      longest = Math.max(longest, now - last);
      if (now - last > 20) over20++;
      store.read(group, 1, Math.floor(Math.random() * RECORDS));
      last = performance.now();
      longestRead = Math.max(longestRead, last - now);
      reads++;
    }
  })();
  const start = performance.now();
  await task();
  const took = seconds(start);
  running = false;
  await watching;
  delay.disable();
  console.log(
    `${name}: ${took}, longest pause ${longest.toFixed(1)} ms (${over20} over 20 ms), ` +
      `longest read ${longestRead.toFixed(2)} ms of ${reads}, event loop p99.9 ${(delay.percentile(99.9) / 1e6).toFixed(1)} ms`,
  );
}

/** A caller that works in slices of two milliseconds. */
async function fill(store, group, index, name) {
  const checkpoint = store.beginCheckpoint(group);
  const value = Buffer.alloc(100, index);
  const start = performance.now();
  let cpu = 0;
  for (let id = 0; id < RECORDS; ) {
    const slice = performance.now();
    let patient = true;
    while (id < RECORDS && patient && performance.now() - slice < 2) {
      for (let i = 0; i < 50 && id < RECORDS; i++)
        patient = checkpoint.put(1, (id++ * STRIDE) % RECORDS, 0, value);
    }
    cpu += performance.now() - slice;
    if (!patient) await checkpoint.drained();
    else await turn();
  }
  console.log(`${name} puts: ${seconds(start)}, ${((cpu * 1000) / RECORDS).toFixed(2)} µs each`);
  const committing = performance.now();
  await checkpoint.commit({ index, term: 1, context });
  console.log(
    `${name} commit: ${seconds(committing)}, memory ${Math.round(process.memoryUsage().rss / 1e6)} MB`,
  );
}

function reads(store, name, count, pick) {
  for (let i = 0; i < 20_000; i++) store.read(1, 1, pick(i));
  const start = performance.now();
  for (let i = 0; i < count; i++) store.read(1, 1, pick(i));
  console.log(`${name}: ${(((performance.now() - start) * 1000) / count).toFixed(2)} µs a read`);
}

try {
  let store = await open();
  await watched('first checkpoint', store, 1, () => fill(store, 1, 1, '  first'));
  await watched('second checkpoint over the first', store, 1, () => fill(store, 1, 2, '  second'));
  reads(store, 'one record', 200_000, () => 77);
  reads(store, 'a thousand records', 200_000, (i) => (i * 31) % 1000);
  reads(store, 'all records, random', 200_000, () => Math.floor(Math.random() * RECORDS));
  await watched('small checkpoints', store, 1, async () => {
    const start = performance.now();
    for (let index = 1; index <= 300; index++) {
      const checkpoint = store.beginCheckpoint(2);
      for (let id = 0; id < 20; id++) checkpoint.put(1, id, 0, Buffer.alloc(100));
      await checkpoint.commit({ index, term: 1, context });
    }
    console.log(`  20 records: ${((performance.now() - start) / 300).toFixed(2)} ms each`);
  });
  let chunks = 0;
  await watched('snapshot', store, 1, async () => {
    const source = await store.openSnapshot(1);
    const copy = store.installSnapshot(3);
    for await (const chunk of source.chunks()) {
      chunks += chunk.bytes.length;
    }
    await copy.abort();
    await source.close();
  });
  console.log(`  ${Math.round(chunks / 1e6)} MB`);
  await watched('snapshot sent and installed', store, 1, async () => {
    const targetFolder = path.join(root, 'target');
    const disk = await NodeDisk.make(targetFolder);
    const target = await StateStore.open({
      store: await LevelStore.open(path.join(targetFolder, 'level'), { createIfMissing: true }),
      disk,
    });
    const source = await store.openSnapshot(1);
    const installer = target.installSnapshot(1);
    for await (const chunk of source.chunks()) await installer.write(chunk);
    await installer.commit();
    await source.close();
    await target.close();
  });
  let scanned = 0;
  const scanning = performance.now();
  for await (const _record of store.scan(1)) scanned++;
  console.log(`scan of ${scanned} records: ${seconds(scanning)}`);
  await store.close();
  const verifying = performance.now();
  const { bytes, tables } = await verifyLevelDb(level);
  console.log(`verification of ${tables} tables, ${Math.round(bytes / 1e6)} MB: ${seconds(verifying)}`);
  const opening = performance.now();
  store = await open();
  console.log(`opening: ${seconds(opening)}`);
  await watched('removal', store, 1, async () => {
    await store.dropGroup(1);
    await store.swept();
  });
  await store.close();
} finally {
  fs.rmSync(root, { recursive: true });
}
