import type { Scheduler } from './scheduler.js';

/**
 * A thread of a simulated process: what is planned on it runs only while the process runs, and waits while the thread is
 * paused. Work that became due meanwhile runs in order when it goes on.
 */
export class Thread {
  private held: (() => void)[] | null = null;
  private pausedAt = 0;
  protected alive = true;

  constructor(protected readonly scheduler: Scheduler) {}

  /** Its time in milliseconds: that of all, unless what it does now takes some. */
  get now(): number {
    return this.scheduler.now;
  }

  get isPaused(): boolean {
    return this.held !== null;
  }

  /** The time for which it has been paused, in milliseconds; 0 while it runs. */
  get silenceMs(): number {
    return this.held === null ? 0 : this.scheduler.now - this.pausedAt;
  }

  after(delayMs: number, work: () => void): () => void {
    return this.at(this.scheduler.now + delayMs, work);
  }

  at(time: number, work: () => void): () => void {
    let wanted = true;
    const run = (): void => {
      if (!this.alive || !wanted) return;
      if (this.held === null) work();
      else this.held.push(run);
    };
    this.scheduler.at(time, run);
    return () => {
      wanted = false;
    };
  }

  /** Does something behind the next look at what has come in; `workedMs` were spent until now. */
  soon(workedMs: number, work: () => void): void {
    this.after(workedMs, work);
  }

  /** Does something again and again. What could not run in time because of a pause is done once. */
  every(periodMs: number, work: () => void): () => void {
    let callOff = (): void => {};
    const plan = (): void => {
      callOff = this.after(periodMs, () => {
        work();
        plan();
      });
    };
    plan();
    return () => callOff();
  }

  pause(): void {
    if (this.held !== null) return;
    this.held = [];
    this.pausedAt = this.scheduler.now;
  }

  resume(): void {
    const { held } = this;
    this.held = null;
    for (const work of held ?? []) this.scheduler.after(0, work);
  }

  end(): void {
    this.alive = false;
    this.held = null;
  }
}

/** Messages from one thread to another, in order. Those of one turn travel together. */
export class Line<Message> {
  private batch: Message[] = [];
  private batchTurn = -1;
  private lastTime = 0;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly target: Thread,
    private readonly delayMs: () => number,
    private readonly receive: (message: Message) => void,
  ) {}

  send(message: Message): void {
    const { now, turns } = this.scheduler;
    if (this.batchTurn === turns) {
      this.batch.push(message);
      return;
    }
    const batch = [message];
    this.batch = batch;
    this.batchTurn = turns;
    this.lastTime = Math.max(this.lastTime, now + this.delayMs());
    this.target.at(this.lastTime, () => {
      for (const each of batch) this.receive(each);
    });
  }
}
