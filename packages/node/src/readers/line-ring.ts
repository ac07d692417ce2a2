/**
 * Lines on their way from a reader to the engine thread: a ring of bytes in memory that both share, where the engine thread looks for them.
 *
 * A message would wake it, while the thread that sends it has the lock of the port: that one has a low priority, so it loses its processor
 * to what it woke, which waits for the lock then, for up to 22 ms.
 */
import { waitForChange, wakeWaiting } from '@althing/storage';

/** Bytes that the client has not taken, at most: a power of two, so that places go on where the counts of bytes begin anew. */
const BYTES = 1 << 20;

const MADE = 0;
/** The word behind it tells whether the reader waits. */
const TAKEN = 1;
const WORDS = 3;

export interface LineMemory {
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  /** The numbers of bytes that were made, and taken, from the start of the thread on. */
  readonly words: Int32Array<SharedArrayBuffer>;
}

export function newLineMemory(): LineMemory {
  const words = new Int32Array(new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT));
  return { bytes: new Uint8Array(new SharedArrayBuffer(BYTES)), words };
}

export class LineRing {
  constructor(private readonly memory: LineMemory) {}

  /**
   * Called by the reader. Waits while there is no room.
   *
   * @returns milliseconds that it waited
   */
  put(bytes: Uint8Array): number {
    const { memory } = this;
    let waitedMs = 0;
    for (let from = 0; from < bytes.length; ) {
      const made = Atomics.load(memory.words, MADE);
      const taken = Atomics.load(memory.words, TAKEN);
      const room = BYTES - ((made - taken) | 0);
      if (room === 0) {
        const begun = performance.now();
        waitForChange(memory.words, TAKEN, taken);
        waitedMs += performance.now() - begun;
        continue;
      }
      const place = placeOf(made);
      const part = bytes.subarray(from, from + Math.min(room, BYTES - place));
      memory.bytes.set(part, place);
      from += part.length;
      Atomics.add(memory.words, MADE, part.length);
    }
    return waitedMs;
  }

  /** A copy of the next bytes that lie together, which are not taken yet; empty if there are none. */
  next(countMax: number): Uint8Array<ArrayBuffer> {
    const { bytes, words } = this.memory;
    const taken = Atomics.load(words, TAKEN);
    const place = placeOf(taken);
    const count = Math.min((Atomics.load(words, MADE) - taken) | 0, BYTES - place, countMax);
    return new Uint8Array(bytes.subarray(place, place + count));
  }

  /** So many more bytes are taken. */
  take(count: number): void {
    const { words } = this.memory;
    Atomics.add(words, TAKEN, count);
    wakeWaiting(words, TAKEN);
  }
}

function placeOf(count: number): number {
  return count & (BYTES - 1);
}
