/**
 * Reading ahead from LevelDB: a thread of its own has the same database open, goes over the range with an iterator, and hands
 * batches over in shared memory. The caller, which can't wait for a promise, waits for that memory to change.
 */
import { Worker } from 'node:worker_threads';
import { asBuffer } from '../bytes.js';
import { waitForChange, wakeWaiting } from '../shared-word.js';
import type { KeyRange, ReadAhead } from './key-value-store.js';

/** Bytes of one batch at most. */
export const BATCH_BYTES: number = 256 * 1024;

/** Batches that wait for the caller at most; each has its place. */
export const PLACES = 2;

/** The words by which the two threads tell each other how far they are. */
export const Word = {
  /** The number of the request that is wanted now; none while the caller wants nothing. */
  REQUEST: 0,
  /** `State` of the thread. */
  STATE: 1,
  /** The number of batches that were taken, and of those that were made. The caller waits for the latter. */
  TAKEN: 2,
  MADE: 3,
  /** Changes whenever the caller takes a batch or wants something else. The thread waits for that. */
  WAKE: 5,
  /** The request of each place's batch, and its bytes; less than 0 at the end of the range. */
  REQUEST_OF: 7,
  BYTES_OF: 7 + PLACES,
  COUNT: 7 + 2 * PLACES,
} as const;

export const State = { STARTING: 0, READY: 1, ENDED: 2 } as const;

/** The end of a range, in place of the bytes of a batch. */
export const END = -1;

export type ThreadData = {
  readonly location: string;
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly places: readonly Uint8Array<SharedArrayBuffer>[];
};

export type ThreadRequest =
  | {
      readonly kind: 'read';
      readonly request: number;
      readonly range: KeyRange;
      readonly valuesOnly: boolean;
    }
  /** To be answered by a `HeldValues`. */
  | { readonly kind: 'hold'; readonly keys: readonly Uint8Array[] }
  | { readonly kind: 'release' }
  | { readonly kind: 'end' };

export type HeldValues = readonly (Uint8Array | undefined)[];

/**
 * A thread that does not come in time has no processor: then it is quicker to read without it until it comes. Whoever took a batch goes over
 * much, and waits longer for the next one: reading without it takes the processor from the thread, which reads the same all the same.
 */
const FIRST_WAIT_MS = 5;
const WAIT_MS = 20;

/** The thread is started by the first who reads ahead, if not before, and is not waited for until it is ready. */
export class LevelReadAhead implements ReadAhead {
  private readonly words: Int32Array<SharedArrayBuffer>;
  private readonly places: readonly Uint8Array<SharedArrayBuffer>[];
  private worker: Worker | undefined;
  private started: Promise<void> | undefined;
  private ended: Promise<void> | undefined;
  private request = 0;
  private taken = 0;
  private waited = 0;
  /** A batch of what is wanted was taken. */
  private isUnderWay = false;
  /** The next batch was waited for in vain. */
  private isLate = false;
  /** Takes the answer to the last `hold`. */
  private onHeld: (values: HeldValues | null) => void = () => {};

  /** @param location the folder of a database that is open in this thread, with `multithreading` */
  constructor(private readonly location: string) {
    this.words = new Int32Array(new SharedArrayBuffer(Word.COUNT * Int32Array.BYTES_PER_ELEMENT));
    this.places = Array.from({ length: PLACES }, () => new Uint8Array(new SharedArrayBuffer(BATCH_BYTES)));
  }

  get waitedMs(): number {
    return this.waited;
  }

  async prepare(): Promise<void> {
    if (this.worker === undefined) this.start();
    await this.started;
  }

  begin(range: KeyRange, valuesOnly: boolean): void {
    const worker = this.worker ?? this.start();
    this.want();
    this.isLate = Atomics.load(this.words, Word.STATE) !== State.READY;
    if (this.isLate) return;
    const begun = performance.now();
    const message: ThreadRequest = { kind: 'read', request: this.request, range, valuesOnly };
    worker.postMessage(message);
    this.waited += performance.now() - begun;
  }

  next(): Buffer | undefined {
    const { words } = this;
    for (;;) {
      if (Atomics.load(words, Word.STATE) !== State.READY) return undefined;
      if (Atomics.load(words, Word.MADE) === this.taken) {
        if (!this.isLate) this.isLate = this.waits();
        if (this.isLate) return undefined;
        continue;
      }
      const place = this.taken % PLACES;
      const isWanted = words[Word.REQUEST_OF + place] === this.request;
      const count = words[Word.BYTES_OF + place]!;
      const bytes = isWanted ? Buffer.from(this.places[place]!.subarray(0, Math.max(count, 0))) : undefined;
      this.taken += 1;
      Atomics.store(words, Word.TAKEN, this.taken);
      this.wake();
      if (isWanted) {
        this.isLate = false;
        this.isUnderWay = true;
      }
      // All pairs of a batch may have been too large for it.
      if (bytes !== undefined && count !== 0) return bytes;
    }
  }

  end(): void {
    this.want();
  }

  async hold(keys: readonly Uint8Array[]): Promise<readonly (Buffer | undefined)[] | null> {
    const worker = this.worker ?? this.start();
    this.want();
    const answer = new Promise<HeldValues | null>((resolve) => {
      this.onHeld = resolve;
    });
    if (Atomics.load(this.words, Word.STATE) === State.ENDED) return null;
    const message: ThreadRequest = { kind: 'hold', keys };
    worker.postMessage(message);
    const values = await answer;
    return values === null ? null : values.map((value) => (value === undefined ? value : asBuffer(value)));
  }

  release(): void {
    this.want();
    const message: ThreadRequest = { kind: 'release' };
    this.worker?.postMessage(message);
  }

  /** Ends the thread. The database must be open until then. */
  async close(): Promise<void> {
    const { worker } = this;
    if (worker === undefined) return;
    this.want();
    worker.ref();
    const message: ThreadRequest = { kind: 'end' };
    worker.postMessage(message);
    await this.ended;
  }

  private start(): Worker {
    const { location, words, places } = this;
    const workerData: ThreadData = { location, words, places };
    const worker = new Worker(new URL('./level-read-ahead-thread.js', import.meta.url), {
      workerData,
      name: 'read ahead',
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64 },
    });
    this.worker = worker;
    // Whatever ended it: all that it does can be done without it.
    worker.on('error', () => Atomics.store(words, Word.STATE, State.ENDED));
    let ready: () => void = () => {};
    this.started = new Promise((resolve) => {
      ready = resolve;
    });
    // Null tells that it is ready.
    worker.on('message', (values: HeldValues | null) => (values === null ? ready() : this.onHeld(values)));
    this.ended = new Promise((resolve) => {
      worker.on('exit', () => {
        Atomics.store(words, Word.STATE, State.ENDED);
        this.onHeld(null);
        ready();
        resolve();
      });
    });
    worker.unref();
    return worker;
  }

  /** Waits for the next batch; true if it does not come in time. */
  private waits(): boolean {
    const begun = performance.now();
    const ms = this.isUnderWay ? WAIT_MS : FIRST_WAIT_MS;
    const isLate = !waitForChange(this.words, Word.MADE, this.taken, ms);
    this.waited += performance.now() - begun;
    return isLate;
  }

  /** Drops everything that was wanted so far. */
  private want(): void {
    this.request = (this.request + 1) | 0;
    this.isUnderWay = false;
    this.isLate = false;
    Atomics.store(this.words, Word.REQUEST, this.request);
    this.wake();
  }

  private wake(): void {
    Atomics.add(this.words, Word.WAKE, 1);
    wakeWaiting(this.words, Word.WAKE);
  }
}
