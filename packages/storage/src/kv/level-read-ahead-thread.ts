/** The thread that reads ahead, see `level-read-ahead.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import { Level } from 'level';
import { waitForChange, wakeWaiting } from '../shared-word.js';
import type { KeyRange } from './key-value-store.js';
import {
  BATCH_BYTES,
  END,
  type HeldValues,
  PLACES,
  State,
  type ThreadData,
  type ThreadRequest,
  Word,
} from './level-read-ahead.js';
import { packedBytes, packPair } from './packed-pairs.js';

/** Pairs of the first batch, which somebody waits for, and of later ones at most. */
const FIRST_PAIRS = 64;
const PAIRS_MAX = 1024;

const { location, words, places }: ThreadData = workerData;
const port = parentPort;
if (port === null) throw new Error('this file is the program of a thread');

const db = new Level<Uint8Array, Uint8Array>(location, {
  keyEncoding: 'view',
  valueEncoding: 'view',
  createIfMissing: false,
  multithreading: true,
});

const NO_KEY = new Uint8Array(0);

/** An empty text in place of each key: even empty bytes would take as long as those of the value. Bounds are bytes all the same. */
const VALUES_ONLY = {
  keys: false,
  keyEncoding: {
    name: 'no key',
    format: 'utf8',
    encode: (bound: Uint8Array) => bound,
    decode: () => NO_KEY,
  },
} as const;

/** The moment that everything is read as of; undefined: as it is by then. */
let held: ReturnType<typeof db.snapshot> | undefined;

port.on('message', (message: ThreadRequest) => {
  switch (message.kind) {
    case 'read':
      // A range that can't be read ahead is read without: then whoever asked finds the trouble, and says so.
      read(message.request, message.range, message.valuesOnly).catch(() => hand(message.request, END));
      return;
    case 'hold':
      hold(message.keys).catch(end);
      return;
    case 'release':
      release().catch(end);
      return;
    default:
      void close();
  }
});
await db.open();
Atomics.compareExchange(words, Word.STATE, State.STARTING, State.READY);
port.postMessage(null);

async function close(): Promise<void> {
  Atomics.store(words, Word.STATE, State.ENDED);
  await release();
  await db.close();
  port?.close();
}

/** This thread only saves time, so it may end at any error. */
function end(): never {
  process.exit();
}

async function hold(keys: readonly Uint8Array[]): Promise<void> {
  await db.open();
  await release();
  const snapshot = db.snapshot();
  held = snapshot;
  const values: HeldValues = keys.map((key) => db.getSync(key, { snapshot }));
  port?.postMessage(values);
}

async function release(): Promise<void> {
  const snapshot = held;
  held = undefined;
  await snapshot?.close();
}

/** Hands a range over batch by batch, until its end or until something else is wanted. */
async function read(request: number, range: KeyRange, valuesOnly: boolean): Promise<void> {
  if (!isWanted(request)) return;
  const pairs = db.iterator({
    gte: range.from,
    lt: range.to,
    highWaterMarkBytes: BATCH_BYTES / 2,
    ...(valuesOnly ? VALUES_ONLY : {}),
    ...(held === undefined ? {} : { snapshot: held }),
  });
  let next = pairs.nextv(FIRST_PAIRS);
  try {
    for (let count = 2 * FIRST_PAIRS; ; count = Math.min(2 * count, PAIRS_MAX)) {
      const batch = await next;
      // LevelDB reads on while these are packed.
      if (batch.length > 0 && isWanted(request)) next = pairs.nextv(count);
      if (!waitForPlace(request)) return;
      if (batch.length === 0) {
        hand(request, END);
        return;
      }
      hand(request, pack(batch));
    }
  } finally {
    await Promise.allSettled([next]);
    await pairs.close();
  }
}

/** Writes pairs to the next place, without those that are too large for one: who wants them reads them without us. */
function pack(batch: readonly [Uint8Array, Uint8Array][]): number {
  const target = placeOf(made());
  let at = 0;
  for (const [key = NO_KEY, value] of batch) {
    if (at + packedBytes(key, value) <= BATCH_BYTES) at = packPair(target, at, key, value);
  }
  return at;
}

function hand(request: number, bytes: number): void {
  if (!waitForPlace(request)) return;
  const place = made() % PLACES;
  words[Word.REQUEST_OF + place] = request;
  words[Word.BYTES_OF + place] = bytes;
  Atomics.add(words, Word.MADE, 1);
  wakeWaiting(words, Word.MADE);
}

/** Waits until a place is free; false when the request is not wanted any more. Nothing else is to be done meanwhile. */
function waitForPlace(request: number): boolean {
  for (;;) {
    const seen = Atomics.load(words, Word.WAKE);
    if (!isWanted(request)) return false;
    if (made() - Atomics.load(words, Word.TAKEN) < PLACES) return true;
    waitForChange(words, Word.WAKE, seen);
  }
}

function isWanted(request: number): boolean {
  return Atomics.load(words, Word.REQUEST) === request;
}

function made(): number {
  return Atomics.load(words, Word.MADE);
}

function placeOf(batch: number): Buffer {
  const { buffer, byteOffset, byteLength } = places[batch % PLACES]!;
  return Buffer.from(buffer, byteOffset, byteLength);
}
