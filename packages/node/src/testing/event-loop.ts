/** An event loop whose time only goes on where a test says so: its phases are those of Node.js. */
export class EventLoop {
  /** The time of the node that runs, in milliseconds. */
  clock = { now: 1_000_000 };
  private timers: { readonly at: number; readonly work: () => void }[] = [];
  private arrivals: { readonly at: number; readonly work: () => void }[] = [];
  private checks: (() => void)[] = [];

  get now(): number {
    return this.clock.now;
  }

  set now(now: number) {
    this.clock.now = now;
  }

  /** Calls back after some milliseconds, when timers have their turn. */
  after(ms: number, work: () => void): () => void {
    const timer = { at: this.now + ms, work };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  /** Calls back behind the next look at what has come in. */
  soon(work: () => void): void {
    this.checks.push(work);
  }

  /** Something comes in at some time, and is noticed when the loop looks for it. */
  arrive(at: number, work: () => void): void {
    this.arrivals.push({ at, work });
  }

  /** Turns until some time. */
  run(until: number): void {
    while (this.now < until) if (!this.turn()) this.now = Math.min(until, this.nextAt());
  }

  /** Timers that are due, then all that had come in when that was asked for, then what was to happen behind it; false for nothing. */
  private turn(): boolean {
    const due = this.takeDue('timers');
    for (const { work } of due) work();
    const came = this.takeDue('arrivals');
    for (const { work } of came) work();
    const checks = this.checks.splice(0);
    for (const work of checks) work();
    return due.length + came.length + checks.length > 0;
  }

  private takeDue(kind: 'timers' | 'arrivals'): readonly { readonly work: () => void }[] {
    const { now } = this;
    const due = this[kind].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
    this[kind] = this[kind].filter(({ at }) => at > now);
    return due;
  }

  private nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of this.timers) next = Math.min(next, at);
    for (const { at } of this.arrivals) next = Math.min(next, at);
    return next;
  }
}
