// Measures the log store on a real folder: node bench/log.mjs [folder [format]]. Build first.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { crc32c } from '../dist/crc32c.js';
import { LogStore, MemoryDisk, NodeDisk } from '../dist/index.js';

const root = fs.mkdtempSync(path.join(process.argv[2] ?? os.tmpdir(), 'althing-bench-'));
const payload = Buffer.alloc(200, 7);
// Costs about what Raft's hash costs.
const chain = (previous, index, _term, _type, bytes) =>
  crc32c(bytes, 0, bytes.length, (previous ^ index) >>> 0);
const options = { format: Number(process.argv[3] ?? 2), chainHash: chain };
// Computed beforehand, as Raft has them when it hands an entry over.
const hashes = [0];
for (let index = 1; index <= 1_000_000; index++) hashes.push(chain(hashes[index - 1], index, 1, 0, payload));
const entry = (group, index) => ({
  kind: 'entry',
  group,
  index,
  term: 1,
  type: 1,
  previousHash: hashes[index - 1],
  hash: hashes[index],
  payload,
});
const percentile = (samples, p) => samples.toSorted((a, b) => a - b)[Math.floor(samples.length * p)];
const told = (name, samples) =>
  console.log(
    `${name}: p50 ${percentile(samples, 0.5).toFixed(4)} ms, p99 ${percentile(samples, 0.99).toFixed(4)} ms`,
  );

async function timed(count, task) {
  const samples = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await task(i);
    samples.push(performance.now() - start);
  }
  return samples;
}

const callback = (run) =>
  new Promise((resolve, reject) => run((error) => (error ? reject(error) : resolve())));

async function bare() {
  const record = Buffer.alloc(272, 1);
  const file = path.join(root, 'bare');
  fs.writeFileSync(file, Buffer.alloc(16 << 20));
  const fd = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_DSYNC);
  fs.fsyncSync(fd);
  told(
    'bare O_DSYNC write      ',
    await timed(3000, (i) => callback((done) => fs.write(fd, record, 0, 272, i * 272, done))),
  );
  fs.closeSync(fd);
  const appended = fs.openSync(path.join(root, 'appended'), 'a');
  const samples = await timed(3000, async () => {
    await callback((done) => fs.write(appended, record, 0, 272, null, done));
    await callback((done) => fs.fdatasync(appended, done));
  });
  told('bare append + fdatasync ', samples);
  fs.closeSync(appended);
}

async function latency() {
  const store = await LogStore.open(await NodeDisk.make(path.join(root, 'latency')), options);
  await new Promise((resolve) => setTimeout(resolve, 500));
  let index = 0;
  told(
    'LogStore, one at a time ',
    await timed(3000, () => callback((done) => store.append([entry(1, ++index)], done))),
  );
  const spaced = [];
  for (let i = 0; i < 1000; i++) {
    const start = performance.now();
    await callback((done) => store.append([entry(1, ++index)], done));
    spaced.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  told('LogStore, one per ms    ', spaced);
  await store.close();
}

async function throughput(appenders, seconds) {
  const store = await LogStore.open(await NodeDisk.make(path.join(root, `many-${appenders}`)), options);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const until = performance.now() + seconds * 1000;
  let records = 0;
  const samples = [];
  const cpu = process.cpuUsage();
  await Promise.all(
    Array.from({ length: appenders }, async (_, group) => {
      for (let index = 1; performance.now() < until; index++) {
        const start = performance.now();
        await callback((done) => store.append([entry(group, index)], done));
        samples.push(performance.now() - start);
        records++;
        if (index % 5000 === 0) void store.compact(group, index - 1000);
      }
    }),
  );
  const used = process.cpuUsage(cpu);
  const { writes, segments } = store.stats();
  told(`LogStore, ${appenders} appenders  `, samples);
  console.log(
    `  ${Math.round(records / seconds)} records/s, ${(records / writes).toFixed(1)} a write, ` +
      `${((used.user + used.system) / records).toFixed(2)} µs CPU a record in all threads, ${segments} segments`,
  );
  await store.close();
}

/** CPU of the store alone: a disk that does nothing, batches of 64. */
async function cpu() {
  const disk = new MemoryDisk();
  const store = await LogStore.open(disk, { ...options, segmentBytes: 1 << 26 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const file = { write: (_buffers, _position, done) => queueMicrotask(() => done(undefined)) };
  const prototype = Object.getPrototypeOf(await disk.open('mark'));
  const original = prototype.write;
  prototype.write = file.write;
  let index = 0;
  const batch = () => Array.from({ length: 64 }, () => entry(1, ++index));
  for (let round = 0; round < 500; round++) await callback((done) => store.append(batch(), done));
  const start = performance.now();
  for (let round = 0; round < 2000; round++) await callback((done) => store.append(batch(), done));
  console.log(
    `CPU of the store: ${(((performance.now() - start) * 1000) / 128000).toFixed(2)} µs a record in batches of 64`,
  );
  prototype.write = original;
}

async function recovery() {
  const folder = path.join(root, 'recovery');
  let store = await LogStore.open(await NodeDisk.make(folder), options);
  for (let index = 1; index <= 1_000_000; ) {
    const batch = [];
    for (let i = 0; i < 1000; i++, index++) batch.push(entry(1, index));
    await store.appended(batch);
  }
  await store.close();
  const start = performance.now();
  store = await LogStore.open(await NodeDisk.make(folder), options);
  console.log(`recovery of 1,000,000 records: ${Math.round(performance.now() - start)} ms`);
  const view = store.view(1);
  const cold = await timed(20_000, (i) => view.entries(1 + i * 40, 2 + i * 40, 1));
  told('read of one old entry   ', cold);
  const begin = performance.now();
  for (let low = 1; low <= 900_000; ) low += view.entries(low, low + 1000, 1 << 20).length;
  console.log(
    `sequential read back: ${(((performance.now() - begin) * 1000) / 900_000).toFixed(2)} µs an entry`,
  );
  await store.close();
}

try {
  await bare();
  await latency();
  await bare();
  await latency();
  for (const appenders of [64, 256]) await throughput(appenders, 5);
  await cpu();
  await recovery();
} finally {
  fs.rmSync(root, { recursive: true });
}
