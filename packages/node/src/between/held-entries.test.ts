import { describe, expect, test } from '@jest/globals';
import { HeldEntries } from './held-entries.js';
import type { Event } from './protocol.js';

const TERM = 3;

/** A clock that is turned by hand. */
class ManualClock {
  time = 1000;
  private waiting: { readonly at: number; readonly work: () => void }[] = [];

  readonly now = (): number => this.time;

  readonly after = (ms: number, work: () => void): (() => void) => {
    this.waiting.push({ at: this.time + ms, work });
    return () => {};
  };

  turnBy(ms: number): void {
    this.time += ms;
    const due = this.waiting.filter(({ at }) => at <= this.time);
    this.waiting = this.waiting.filter(({ at }) => at > this.time);
    for (const { work } of due) work();
  }
}

function entriesOf(bytes: number): Event {
  const entry = { index: 1, term: TERM, hash: 0, payload: new Uint8Array(bytes) };
  return { kind: 'entries', group: 1, entries: [entry], last: { index: 1, term: TERM, hash: 0 } };
}

const FEW = entriesOf(100);

/** What is emitted, as a sender does it; gives when it went. */
function sender(): { clock: ManualClock; held: HeldEntries; emit: (event: Event) => void; went: number[] } {
  const clock = new ManualClock();
  const went: number[] = [];
  const go = (): void => {
    went.push(clock.time);
    held.sent();
  };
  const held = new HeldEntries(clock, go);
  const emit = (event: Event): void => {
    if (!held.holds(event)) go();
  };
  return { clock, held, emit, went };
}

describe('entries that stream in', () => {
  test('go at once after a pause, and then together', () => {
    const { clock, emit, went } = sender();
    for (let i = 0; i < 10; i++) {
      emit(FEW);
      clock.turnBy(1);
    }
    clock.turnBy(2);
    clock.turnBy(100);
    emit(FEW);
    clock.turnBy(100);
    expect(went).toEqual([1000, 1004, 1008, 1012, 1112]);
  });

  test('go with any other event', () => {
    const { clock, emit, went } = sender();
    emit(FEW);
    clock.turnBy(1);
    emit(FEW);
    clock.turnBy(1);
    emit({ kind: 'read', group: 1, id: 1, index: 1 });
    clock.turnBy(1);
    emit(FEW);
    clock.turnBy(1);
    expect(went).toEqual([1000, 1002]);
    clock.turnBy(1);
    // The look that was due for those that went.
    expect(went).toEqual([1000, 1002]);
    clock.turnBy(1);
    expect(went).toEqual([1000, 1002, 1006]);
    clock.turnBy(10);
    expect(went).toEqual([1000, 1002, 1006]);
  });

  test('go at once while the engine thread may wait for them', () => {
    const { clock, held, emit, went } = sender();
    emit(FEW);
    held.commanded({ kind: 'read' });
    clock.turnBy(1);
    emit(FEW);
    clock.turnBy(98);
    emit(FEW);
    clock.turnBy(1);
    emit(FEW);
    held.commanded({ kind: 'applied' });
    held.commanded({ kind: 'propose' });
    expect(went).toEqual([1000, 1001, 1099]);
    clock.turnBy(3);
    expect(went).toEqual([1000, 1001, 1099, 1103]);
  });

  test('go at once when there is much', () => {
    const { clock, emit, went } = sender();
    emit(FEW);
    clock.turnBy(1);
    emit(entriesOf(40_000));
    emit(entriesOf(40_000));
    expect(went).toEqual([1000, 1001]);
  });
});
