/**
 * Shared figures of the two threads: a few numbers in shared memory, written by one side and read
 * by the other.
 */
const Slot = {
  /** The engine thread's clock when it last turned its event loop, in milliseconds (modulo 2^31). */
  ENGINE_BEAT: 0,
  /** `Phase` of the node. */
  PHASE: 1,
  CONNECTIONS: 2,
  /** True if the node has caught up with the others since it was started. */
  CAUGHT_UP: 3,
  /** As `ENGINE_BEAT`: when the engine thread last read from its state; 0 for never. */
  LOCAL_READ: 4,
  /** The level that the cluster works at; 0 while it is not known. */
  LEVEL: 5,
  /** The monotonic time at which this node knew as much of users as a majority; see `ROOT_NEVER`. */
  ROOT_AT: 6,
  /** The number of the call that last ran for a while on the engine thread, and when it began to, as `ENGINE_BEAT`. */
  RUN: 7,
  RUN_AT: 8,
  /** The number of the call that is to end. */
  CANCELLED: 9,
} as const;

/** Instead of a time: nothing is known yet; and nobody else has to be asked. */
const ROOT_NEVER = 0;
const ROOT_ALONE = -1;

/** Time between two reads of the engine thread from its state, in milliseconds: short beside the silence of it that is no problem. */
export const LOCAL_READ_MS = 500;

/** Time that a call has the engine thread for itself before others are told of it: longer than any pause of `beat`, in milliseconds. */
const LONG_RUN_MS = 500;

/** A call that has the engine thread for itself. */
export interface LongRun {
  /** Tells it from others. */
  readonly run: number;
  /** Its duration so far, in milliseconds. */
  readonly ms: number;
}

/** The phases of a node's life. A node that is `LEAVING` still serves, but asks for no more requests. */
export const Phase = { STARTING: 0, READY: 1, LEAVING: 2, DRAINING: 3, STOPPED: 4 } as const;

export type Phase = (typeof Phase)[keyof typeof Phase];

export class SharedStatus {
  private readonly slots: Int32Array;

  constructor(readonly buffer: SharedArrayBuffer = new SharedArrayBuffer(64)) {
    this.slots = new Int32Array(buffer);
  }

  get phase(): Phase {
    return Atomics.load(this.slots, Slot.PHASE) as Phase;
  }

  set phase(phase: Phase) {
    Atomics.store(this.slots, Slot.PHASE, phase);
  }

  get connections(): number {
    return Atomics.load(this.slots, Slot.CONNECTIONS);
  }

  set connections(count: number) {
    Atomics.store(this.slots, Slot.CONNECTIONS, count);
  }

  get isCaughtUp(): boolean {
    return Atomics.load(this.slots, Slot.CAUGHT_UP) === 1;
  }

  set isCaughtUp(is: boolean) {
    Atomics.store(this.slots, Slot.CAUGHT_UP, is ? 1 : 0);
  }

  /** The level that the cluster works at, as far as this node knows; null at its start. */
  get level(): number | null {
    return Atomics.load(this.slots, Slot.LEVEL) || null;
  }

  set level(level: number) {
    Atomics.store(this.slots, Slot.LEVEL, level);
  }

  /**
   * Notes how old what this node knows of users may be.
   *
   * @param ageMs 0 and more; `never` before a majority was heard, `alone` for a node that is the majority
   */
  noteRoot(ageMs: number | 'never' | 'alone'): void {
    const { slots } = this;
    if (ageMs === 'never') Atomics.store(slots, Slot.ROOT_AT, ROOT_NEVER);
    else if (ageMs === 'alone') Atomics.store(slots, Slot.ROOT_AT, ROOT_ALONE);
    else
      Atomics.store(slots, Slot.ROOT_AT, (monotonic() - Math.floor(ageMs) + CLOCK_RANGE) % CLOCK_RANGE || 1);
  }

  /** Age that what this node knows of users may have, in milliseconds; also after the process was halted. */
  get rootAge(): number {
    const at = Atomics.load(this.slots, Slot.ROOT_AT);
    if (at === ROOT_ALONE) return 0;
    if (at === ROOT_NEVER) return Number.POSITIVE_INFINITY;
    return (monotonic() - at + CLOCK_RANGE) % CLOCK_RANGE;
  }

  /** Notes that the engine thread turns its event loop. */
  beat(): void {
    Atomics.store(this.slots, Slot.ENGINE_BEAT, clock());
  }

  /** Milliseconds since the engine thread last turned its event loop. */
  engineSilence(): number {
    return since(Atomics.load(this.slots, Slot.ENGINE_BEAT));
  }

  /**
   * Notes that a call runs for a while on the engine thread.
   *
   * @returns its number
   */
  noteRun(): number {
    const run = (Atomics.load(this.slots, Slot.RUN) % (CLOCK_RANGE - 1)) + 1;
    Atomics.store(this.slots, Slot.RUN_AT, clock());
    Atomics.store(this.slots, Slot.RUN, run);
    return run;
  }

  /** The call for which the engine thread has done nothing else for long; null for none. */
  get longRun(): LongRun | null {
    const run = Atomics.load(this.slots, Slot.RUN);
    const ms = since(Atomics.load(this.slots, Slot.RUN_AT));
    return run === 0 || ms < LONG_RUN_MS || this.engineSilence() < ms ? null : { run, ms };
  }

  /** Has a call end at its next look at the clock, if it still runs. */
  cancelRun(run: number): void {
    Atomics.store(this.slots, Slot.CANCELLED, run);
  }

  isCancelled(run: number): boolean {
    return Atomics.load(this.slots, Slot.CANCELLED) === run;
  }

  /** Notes that the engine thread read from its state. */
  noteLocalRead(): void {
    Atomics.store(this.slots, Slot.LOCAL_READ, clock() || 1);
  }

  /** Milliseconds since the engine thread last read from its state; null when it never did. */
  sinceLocalRead(): number | null {
    const at = Atomics.load(this.slots, Slot.LOCAL_READ);
    return at === 0 ? null : since(at);
  }
}

function since(at: number): number {
  const passed = clock() - at;
  return passed < 0 ? passed + CLOCK_RANGE : passed;
}

const CLOCK_RANGE = 2 ** 31;

/** Wall-clock milliseconds in 31 bits: both threads see the same. */
function clock(): number {
  return Date.now() % CLOCK_RANGE;
}

/**
 * Milliseconds in 31 bits that never jump: the same for both threads, and they go on while the process is
 * halted.
 */
function monotonic(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return (seconds * 1000 + Math.floor(nanoseconds / 1e6)) % CLOCK_RANGE;
}
