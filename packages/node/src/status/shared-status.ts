/**
 * What the two threads know of each other without asking: a few numbers in shared memory, written by one side and read
 * by the other.
 */
const Slot = {
  /** The engine thread's clock when it last turned its event loop, in milliseconds (modulo 2^31). */
  ENGINE_BEAT: 0,
  /** `Phase` of the node. */
  PHASE: 1,
  CONNECTIONS: 2,
  /** Whether the node has caught up with the others since it was started. */
  CAUGHT_UP: 3,
  /** As `ENGINE_BEAT`: when the engine thread last read from its state; 0 for never. */
  LOCAL_READ: 4,
} as const;

/** How far the node is in its life. A node that is `LEAVING` still serves, but asks for no more requests. */
export const Phase = { STARTING: 0, READY: 1, LEAVING: 2, DRAINING: 3, STOPPED: 4 } as const;

export type Phase = (typeof Phase)[keyof typeof Phase];

export class SharedStatus {
  readonly buffer: SharedArrayBuffer;
  private readonly slots: Int32Array;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(64)) {
    this.buffer = buffer;
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

  /** Notes that the engine thread turns its event loop. */
  beat(): void {
    Atomics.store(this.slots, Slot.ENGINE_BEAT, clock());
  }

  /** Milliseconds since the engine thread last turned its event loop. */
  engineSilence(): number {
    return since(Atomics.load(this.slots, Slot.ENGINE_BEAT));
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
