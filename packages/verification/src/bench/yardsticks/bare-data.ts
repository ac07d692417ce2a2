/**
 * Yardsticks of `bench -- data` in a process of its own: what reads of the same kind cost with the same parts and without a database around them.
 * Records of the size of small instances by a bare iterator of LevelDB, none of them read before; bare gets of a node's records; and look-ups in
 * bare sorted pages.
 */
import { join } from 'node:path';
import { RecordKind } from '@althing/engine';
import { Level } from 'level';
import { quantile } from '../../harness/table.js';
import { firstThreadTimeUs } from '../cpu.js';

/** `scan` needs a folder that another process has filled, and `gets` that of the state of a node that is stopped. Each is answered by its time in milliseconds. */
export type BareDataOrder =
  | { readonly kind: 'fill' | 'scan'; readonly folder: string; readonly records: number }
  | { readonly kind: 'gets'; readonly folder: string; readonly times: number }
  | { readonly kind: 'look up'; readonly records: number; readonly times: number };

export interface BareDataAnswer {
  readonly ms: number;
}

/** Bytes of a record of an instance with a number and a short text. */
const VALUE_BYTES = 40;
const BATCH = 1024;
/** Length of the keys of records, and where their kind is in them; see `keys.ts` of the storage. */
const KEY_BYTES = 26;
const KIND_AT = 13;
/** One instance in so many is known by its key: all take too much memory. */
const THINGS_PASSED = 8;
/** Keys of a page of an index. */
const PAGE_KEYS = 256;
const STRIDE = 7_368_787;
/** Odd, and enough that the code has its last form in most. */
const GET_ROUNDS = 35;
const NO_KEY = Buffer.alloc(0);

/** With the options of the store of a node. */
function open(folder: string): Level<Buffer, Buffer> {
  const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' };
  return new Level(join(folder, 'level'), { ...encodings, compression: false, multithreading: true });
}

function keyOf(id: number): Buffer {
  const key = Buffer.alloc(14);
  key.writeUInt32BE(id, 10);
  return key;
}

async function fill(folder: string, records: number): Promise<number> {
  const began = performance.now();
  const level = open(folder);
  for (let from = 0; from < records; from += BATCH) {
    const count = Math.min(BATCH, records - from);
    await level.batch(
      Array.from({ length: count }, (_, at) => ({
        type: 'put',
        key: keyOf(from + at),
        value: Buffer.alloc(VALUE_BYTES, from + at),
      })),
    );
  }
  await level.close();
  return performance.now() - began;
}

async function scan(folder: string, records: number): Promise<number> {
  const level = open(folder);
  await level.open();
  const began = performance.now();
  const iterator = level.iterator();
  let count = 0;
  let batch: readonly unknown[];
  do {
    batch = await iterator.nextv(BATCH);
    count += batch.length;
  } while (batch.length > 0);
  const ms = performance.now() - began;
  if (count !== records) throw new Error(`${count} records of ${records}`);
  await level.close();
  return ms;
}

/**
 * Gets of so many pages of indexes and as many instances, in turns, in no order: the processor time of this thread where the system tells it, which
 * is what counts of a look-up. All was gone over before once, as in a node that gave a report.
 */
async function gets(folder: string, times: number): Promise<number> {
  const level = open(folder);
  await level.open();
  const pages: Buffer[] = [];
  const things: Buffer[] = [];
  let passed = 0;
  for await (const [key] of level.iterator()) {
    if (key.length !== KEY_BYTES) continue;
    if (key[KIND_AT] === RecordKind.INDEX_PAGE) pages.push(key);
    else if (key[KIND_AT] === RecordKind.THING && passed++ % THINGS_PASSED === 0) things.push(key);
  }
  const now = (): number => (firstThreadTimeUs(process.pid) ?? 1000 * performance.now()) / 1000;
  const rounds: number[] = [];
  for (let round = 0; round < GET_ROUNDS; round++) {
    const began = now();
    for (let i = round * times; i < (round + 1) * times; i++)
      for (const keys of [pages, things]) level.getSync(keys[(i * STRIDE) % keys.length] ?? NO_KEY);
    rounds.push(now() - began);
  }
  await level.close();
  return quantile(rounds, 0.5);
}

interface Order {
  readonly nr: number;
  readonly amount: number;
}

/** The best of five times so many look-ups of numbers in no order, among so many records that are in memory. */
function lookUp(records: number, times: number): number {
  const byId = new Map<number, Order>();
  const ids: number[] = [];
  for (let nr = 0; nr < records; nr++) {
    const id = 1000 + ((nr * STRIDE) % records);
    ids.push(id);
    byId.set(id, { nr, amount: nr % 97 });
  }
  const pages: { readonly keys: readonly number[]; readonly ids: readonly number[] }[] = [];
  for (let from = 0; from < records; from += PAGE_KEYS) {
    const keys = Array.from({ length: Math.min(PAGE_KEYS, records - from) }, (_, at) => from + at);
    pages.push({ keys, ids: ids.slice(from, from + PAGE_KEYS) });
  }
  const firsts = pages.map(({ keys }) => keys[0] ?? 0);
  let best = Number.POSITIVE_INFINITY;
  let sum = 0;
  for (let turn = 0; turn < 5; turn++) {
    const began = performance.now();
    for (let i = 0; i < times; i++) {
      const wanted = (i * STRIDE + turn * 31) % records;
      const page = pages[lastUpTo(firsts, wanted)];
      const id = page?.ids[lastUpTo(page.keys, wanted)] ?? 0;
      sum += byId.get(id)?.amount ?? Number.NaN;
    }
    best = Math.min(best, performance.now() - began);
  }
  if (Number.isNaN(sum)) throw new Error('an order was not found');
  return best;
}

/** Where the last of some sorted numbers stands that is not above one. */
function lastUpTo(sorted: readonly number[], wanted: number): number {
  let low = 0;
  let high = sorted.length;
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= wanted) low = middle;
    else high = middle;
  }
  return low;
}

process.on('message', async (order: BareDataOrder) => {
  const answer: BareDataAnswer = { ms: await timeOf(order) };
  process.send?.(answer);
});

function timeOf(order: BareDataOrder): number | Promise<number> {
  switch (order.kind) {
    case 'fill':
      return fill(order.folder, order.records);
    case 'scan':
      return scan(order.folder, order.records);
    case 'gets':
      return gets(order.folder, order.times);
    case 'look up':
      return lookUp(order.records, order.times);
  }
}

process.on('disconnect', () => process.exit(0));
