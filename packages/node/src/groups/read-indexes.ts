/**
 * Waiting until a state is fit to be read: for a read index (Ongaro, dissertation, §6.4), and for a log
 * position. One question to the consensus side serves everyone who asked before it was sent.
 *
 * A question costs as much as some ten reads. So it waits a moment for those who were just answered, and ask
 * again, where many were.
 */
import { Gathering } from '../between/gathering.js';

/**
 * Called when the index is confirmed and the state holds everything up to it; or when it can't be had now.
 */
export type ReadReady = (ok: boolean) => void;

/** Calls back after some milliseconds, unless it is called off by the function that it returns. */
type Later = (ms: number, work: () => void) => () => void;

interface WaitingForIndex {
  readonly index: number;
  readonly done: () => void;
}

/** Time that a question waits at most for those who may ask again, in milliseconds. */
const GATHER_MS = 3;

/** The part of those who were answered that is waited for at most: the last ones would hold up all others. */
const SHARE_MAX = 0.9;

export class ReadIndexes {
  private readonly ask: (id: number) => void;
  private readonly later: Later;
  private readonly gathering = new Gathering(SHARE_MAX);
  /** Calls off the end of the gathering. */
  private callOff = (): void => {};
  /** The question that is under way; 0 for none. */
  private current = 0;
  private nextId = 1;
  private asked: ReadReady[] = [];
  private next: ReadReady[] = [];
  private waiting: WaitingForIndex[] = [];

  /** @param ask asks the consensus side for a read index; the answer goes to `answered` */
  constructor(ask: (id: number) => void, later: Later) {
    this.ask = ask;
    this.later = later;
  }

  /** Those who wait. */
  get size(): number {
    return this.asked.length + this.next.length + this.waiting.length;
  }

  /** Asks for a read index that is confirmed after this call. */
  request(done: ReadReady): void {
    this.next.push(done);
    if (this.current === 0 && !this.gathering.goesOn(this.next.length)) this.askForNext();
  }

  /** @param applied the place that the state is at */
  answered(id: number, index: number | null, applied: number): void {
    if (id !== this.current) return;
    const { asked } = this;
    this.asked = [];
    this.current = 0;
    // Who is not answered at once does not ask again at once.
    const isAnswer = index !== null && index <= applied;
    const gathers = isAnswer && this.gathering.begin(asked.length, this.next.length);
    if (!gathers && this.next.length > 0) this.askForNext();
    if (index === null) for (const done of asked) done(false);
    else this.whenApplied(index, applied, () => asked.forEach(confirm));
    // Not before they are answered, which takes a while.
    if (this.gathering.isOn) this.callOff = this.later(GATHER_MS, () => this.gathered());
  }

  /** Calls back once the state is at a log position: at once if it is there already. */
  whenApplied(index: number, applied: number, done: () => void): void {
    if (applied >= index) done();
    else this.waiting.push({ index, done });
  }

  /** The state is at this place now. */
  appliedTo(applied: number): void {
    if (this.waiting.length === 0) return;
    const { waiting } = this;
    this.waiting = waiting.filter(({ index }) => index > applied);
    for (const { index, done } of waiting) if (index <= applied) done();
  }

  /** Gives up everything that waits. */
  abandon(): void {
    const given = [...this.asked, ...this.next];
    this.asked = [];
    this.next = [];
    this.waiting = [];
    this.current = 0;
    this.stopGathering();
    for (const done of given) done(false);
  }

  private gathered(): void {
    this.gathering.end(this.next.length);
    if (this.current === 0 && this.next.length > 0) this.askForNext();
  }

  private stopGathering(): void {
    this.gathering.stop();
    this.callOff();
    this.callOff = () => {};
  }

  private askForNext(): void {
    this.stopGathering();
    this.current = this.nextId++;
    this.asked = this.next;
    this.next = [];
    this.ask(this.current);
  }
}

function confirm(done: ReadReady): void {
  done(true);
}
