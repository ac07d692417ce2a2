/**
 * Waiting until a state is fit to be read: for a read index (Ongaro, dissertation, §6.4), and for a log
 * position. One question to the consensus side serves everyone who asked before it was sent.
 */

/**
 * Called when the index is confirmed and the state holds everything up to it; or when it can't be had now.
 */
export type ReadReady = (ok: boolean) => void;

interface Asked {
  readonly done: ReadReady;
  /** False for who does not wait for a state that takes long. */
  readonly isPatient: boolean;
}

interface WaitingForIndex {
  readonly index: number;
  readonly done: () => void;
  /** Called in place of `done` when that takes long; null for who waits all the same. */
  readonly turnedAway: (() => void) | null;
}

export class ReadIndexes {
  /** The question that is under way; 0 for none. */
  private current = 0;
  private nextId = 1;
  private asked: Asked[] = [];
  private next: Asked[] = [];
  private waiting: WaitingForIndex[] = [];

  /** @param ask asks the consensus side for a read index; the answer goes to `answered` */
  constructor(private readonly ask: (id: number) => void) {}

  /** Callers that wait. */
  get size(): number {
    return this.asked.length + this.next.length + this.waiting.length;
  }

  /** Asks for a read index that is confirmed after this call; see `GroupSession.readIndex`. */
  request(done: ReadReady, isPatient: boolean): void {
    this.next.push({ done, isPatient });
    if (this.current === 0) this.askForNext();
  }

  /** @param applied the place that the state is at */
  answered(id: number, index: number | null, applied: number): void {
    if (id !== this.current) return;
    const { asked } = this;
    this.asked = [];
    this.current = 0;
    if (this.next.length > 0) this.askForNext();
    for (const { done, isPatient } of asked) {
      if (index === null || applied >= index) done(index !== null);
      else
        this.waiting.push({
          index,
          done: () => done(true),
          turnedAway: isPatient ? null : () => done(false),
        });
    }
  }

  /** Calls back once the state is at a log position: at once if it is there already. */
  whenApplied(index: number, applied: number, done: () => void): void {
    if (applied >= index) done();
    else this.waiting.push({ index, done, turnedAway: null });
  }

  /** The state is at this place now. */
  appliedTo(applied: number): void {
    if (this.waiting.length === 0) return;
    const { waiting } = this;
    this.waiting = waiting.filter(({ index }) => index > applied);
    for (const { index, done } of waiting) if (index <= applied) done();
  }

  /** Tells those who wait for the state to be at a read index that they can't have that now. */
  turnAway(): void {
    const { waiting } = this;
    this.waiting = waiting.filter(({ turnedAway }) => turnedAway === null);
    for (const { turnedAway } of waiting) turnedAway?.();
  }

  /** Gives up everything that waits. */
  abandon(): void {
    const given = [...this.asked, ...this.next];
    this.asked = [];
    this.next = [];
    this.waiting = [];
    this.current = 0;
    for (const { done } of given) done(false);
  }

  private askForNext(): void {
    this.current = this.nextId++;
    this.asked = this.next;
    this.next = [];
    this.ask(this.current);
  }
}
