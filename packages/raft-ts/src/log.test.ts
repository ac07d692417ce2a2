import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { changeOf, encodeChange } from './change.js';
import { chainEntry, murmur3 } from './hash.js';
import { RaftLog } from './log.js';
import { NO_MEMBERS } from './membership.js';
import { MemoryLog } from './memorylog.js';
import { type Entry, type EntryKind, entryBytes, type SnapshotMeta } from './types.js';

const EMPTY = { term: 0, vote: 0, commit: 0 };
/** No limit to what may be applied. */
const ALL = Number.POSITIVE_INFINITY;

function entryAfter(
  log: { last: number; lastHash: number },
  term: number,
  kind: EntryKind = 'normal',
  size = 3,
): Entry {
  const payload =
    kind === 'change' ? encodeChange(changeOf({ action: 'addVoter', node: 9 })) : new Uint8Array(size);
  return chainEntry(log.lastHash, log.last + 1, term, kind, payload, murmur3);
}

function fill(log: RaftLog, terms: readonly number[]): Entry[] {
  return terms.map((term) => {
    const entry = entryAfter(log, term);
    log.push(entry);
    return entry;
  });
}

/** Hands everything out and acknowledges it. */
function write(log: RaftLog, view: MemoryLog): void {
  const { snapshot, entries } = log.takeUnwritten();
  if (snapshot !== null) view.reset(snapshot);
  view.append(entries);
  log.stableTo(log.handed);
}

const snapshotAt = (index: number, term: number): SnapshotMeta => ({
  index,
  term,
  hash: 77,
  membership: NO_MEMBERS,
});

describe('log', () => {
  test('entries are written, become durable, are applied, and leave memory', () => {
    const view = new MemoryLog();
    const log = new RaftLog(view, EMPTY, 0, false);
    const entries = fill(log, [1, 1, 2]);
    expect([log.last, log.lastTerm, log.stable, log.hasUnwritten()]).toEqual([3, 2, 0, true]);
    expect(log.takeUnwritten().entries).toEqual(entries);
    expect(log.hasUnwritten()).toBe(false);
    log.commitTo(3);
    expect(log.takeCommitted(1000, ALL)).toEqual([]);
    view.append(entries);
    log.stableTo(2);
    expect(log.takeCommitted(1000, ALL)).toEqual(entries.slice(0, 2));
    log.trim(1000);
    expect(log.tailBytes).toBe(entryBytes(entries[2]!));
    expect(log.termAt(1)).toBe(1);
    expect(log.slice(1, 1000, 10)).toEqual(entries.slice(0, 2));
    log.stableTo(3);
    log.takeCommitted(1000, ALL);
    log.trim(1000);
    expect(log.tailBytes).toBe(0);
    expect(log.unappliedBytes).toBeGreaterThan(0);
    log.appliedTo(3);
    expect([log.applied, log.unappliedBytes]).toEqual([3, 0]);
    log.check();
  });

  test('durable entries leave memory although they are not applied, if there are too many of them', () => {
    const view = new MemoryLog();
    const log = new RaftLog(view, EMPTY, 0, false);
    fill(log, [1, 1, 1]);
    write(log, view);
    log.trim(1000);
    expect(log.tailBytes).toBeGreaterThan(0);
    log.trim(1);
    expect(log.tailBytes).toBe(0);
    log.commitTo(3);
    expect(log.takeCommitted(1000, ALL).map((entry) => entry.index)).toEqual([1, 2, 3]);
  });

  test('a cut at any place leaves what is before, in memory or not', () => {
    for (const cut of [2, 4, 6]) {
      const view = new MemoryLog();
      const log = new RaftLog(view, EMPTY, 0, false);
      const entries = fill(log, [1, 1, 1]);
      write(log, view);
      log.commitTo(1);
      log.takeCommitted(1000, ALL);
      log.trim(1);
      entries.push(...fill(log, [2, 2, 2]));
      log.truncateFrom(cut);
      expect([log.last, log.lastTerm, log.lastHash]).toEqual([
        cut - 1,
        cut > 4 ? 2 : 1,
        entries[cut - 2]!.hash,
      ]);
      fill(log, [3]);
      expect(log.takeUnwritten().entries.map((entry) => entry.index)).toEqual(
        cut === 6 ? [4, 5, 6] : cut === 4 ? [4] : [2],
      );
      log.check();
    }
  });

  test('committed entries are never cut', () => {
    const log = new RaftLog(new MemoryLog(), EMPTY, 0, false);
    fill(log, [1, 1]);
    log.commitTo(1);
    expect(() => log.truncateFrom(1)).toThrow('committed entry is to be overwritten');
    expect(() => log.truncateFrom(3)).toThrow('outside the log');
    expect(() => log.commitTo(0)).toThrow('commit index falls');
    expect(() => log.commitTo(9)).toThrow('beyond the log');
  });

  test('pending changes are known, forgotten when they are cut, and taken when they are committed', () => {
    const view = new MemoryLog();
    const log = new RaftLog(view, EMPTY, 0, false);
    fill(log, [1]);
    log.push(entryAfter(log, 1, 'change'));
    log.push(entryAfter(log, 1, 'change'));
    expect(log.firstPendingChange).toBe(2);
    log.truncateFrom(3);
    expect(() => log.shiftChange()).toThrow('No committed change');
    const again = new RaftLog(view, EMPTY, 0, false);
    expect(again.firstPendingChange).toBe(0);
    write(log, view);
    expect(new RaftLog(view, EMPTY, 0, false).firstPendingChange).toBe(2);
    expect(new RaftLog(view, { ...EMPTY, commit: 2 }, 2, false).firstPendingChange).toBe(0);
  });

  test('the place where logs may agree is found by term, and not beyond the border', () => {
    const view = new MemoryLog();
    const log = new RaftLog(view, EMPTY, 0, false);
    fill(log, [1, 1, 3, 3, 5]);
    write(log, view);
    expect(log.lastIndexWithTermUpTo(9, 4)).toEqual({ index: 4, term: 3 });
    expect(log.lastIndexWithTermUpTo(4, 2)).toEqual({ index: 2, term: 1 });
    expect(log.lastIndexWithTermUpTo(2, 9)).toEqual({ index: 2, term: 1 });
    log.commitTo(5);
    log.takeCommitted(1000, ALL);
    log.appliedTo(5);
    view.compact(3);
    log.compactedTo(3);
    expect(log.lastIndexWithTermUpTo(4, 2)).toEqual({ index: 3, term: 3 });
    expect(log.lastIndexWithTermUpTo(1, 2)).toEqual({ index: 1, term: 0 });
    expect([log.first, log.termAt(3), log.termAt(2), log.termAt(9)]).toEqual([4, 3, -1, -1]);
    expect(log.hashAt(3)).toBe(view.hash(3));
    expect(() => log.hashAt(2)).toThrow('not there');
    expect(() => log.slice(3, 1, 1)).toThrow('before the first entry');
    log.compactedTo(2);
    expect(log.first).toBe(4);
    expect(() => log.compactedTo(6)).toThrow('still needed');
  });

  test('a snapshot replaces everything; nothing is applied before it is installed', () => {
    const view = new MemoryLog();
    const log = new RaftLog(view, EMPTY, 0, false);
    fill(log, [1, 1]);
    write(log, view);
    log.restore(snapshotAt(10, 4));
    expect([log.first, log.last, log.lastTerm, log.commit, log.installing]).toEqual([11, 10, 4, 10, 10]);
    expect(log.takeUnwritten()).toEqual({ snapshot: snapshotAt(10, 4), entries: [] });
    view.reset(snapshotAt(10, 4));
    log.stableTo(10);
    fill(log, [5]);
    write(log, view);
    log.commitTo(11);
    expect(log.hasCommitted(1000, ALL)).toBe(false);
    log.installedTo(9);
    expect(log.installing).toBe(10);
    log.installedTo(10);
    expect([log.installing, log.applied]).toEqual([0, 10]);
    expect(log.takeCommitted(1000, ALL).map((entry) => entry.index)).toEqual([11]);
    expect(() => log.installedTo(10)).toThrow('No such snapshot');
    log.check();
  });

  test('mistakes of the host are noticed', () => {
    const view = new MemoryLog();
    const log = new RaftLog(view, EMPTY, 0, false);
    fill(log, [2]);
    expect(() => log.stableTo(1)).toThrow('not handed out');
    expect(() => log.appliedTo(1)).toThrow('not handed out');
    expect(() => log.push(entryAfter({ last: 5, lastHash: 0 }, 2))).toThrow('Gap');
    expect(() => log.push(entryAfter(log, 1))).toThrow('Terms go back');
    write(log, view);
    expect(() => new RaftLog(view, { ...EMPTY, commit: 2 }, 0, false)).toThrow('More is committed');
    expect(new RaftLog(view, { ...EMPTY, commit: 2 }, 0, true).commit).toBe(1);
    expect(() => new RaftLog(view, EMPTY, 2, false)).toThrow('More was applied');
    view.compact(1);
    expect(() => new RaftLog(view, EMPTY, 0, false)).toThrow('entries between are missing');
  });

  test('a view that does not keep its contract is noticed', () => {
    const view = new MemoryLog();
    const log = new RaftLog(view, EMPTY, 0, false);
    fill(log, [1, 1, 1]);
    write(log, view);
    log.trim(1);
    log.commitTo(3);
    const real = view.entries.bind(view);
    view.entries = () => real(2, 4, 1000);
    expect(() => log.slice(1, 1000, 10)).toThrow('other entries');
    view.entries = () => real(1, 4, 1000);
    expect(() => log.slice(1, 1000, 2)).toThrow('more than was asked for');
    view.entries = () => [];
    expect(() => log.takeCommitted(1000, ALL)).toThrow('must be at hand');
    expect(() => new RaftLog(view, EMPTY, 0, false)).toThrow('at hand when a node starts');
  });

  test('behaves like a plain list under any sequence of operations', () => {
    const operation = fc.record({
      kind: fc.constantFrom('push', 'cut', 'write', 'commit', 'apply', 'trim', 'compact'),
      amount: fc.nat({ max: 7 }),
    });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 80 }), (operations) => {
        const view = new MemoryLog();
        const log = new RaftLog(view, EMPTY, 0, false);
        const model: Entry[] = [];
        let term = 1;
        for (const { kind, amount } of operations) {
          if (kind === 'push') {
            term += amount % 2;
            model.push(
              ...fill(
                log,
                Array.from({ length: amount }, () => term),
              ),
            );
          } else if (kind === 'cut') {
            const from = log.last - amount + 1;
            if (amount === 0 || from <= log.commit) continue;
            term = Math.max(term, log.lastTerm) + 1;
            log.truncateFrom(from);
            model.length = from - 1;
          } else if (kind === 'write') write(log, view);
          else if (kind === 'commit') log.commitTo(Math.min(log.commit + amount, log.last));
          else if (kind === 'apply') {
            const entries = log.takeCommitted(100 * (amount + 1), ALL);
            expect(entries).toEqual(model.slice(log.applying - entries.length, log.applying));
            if (amount % 2 === 0) log.appliedTo(log.applying);
          } else if (kind === 'trim') log.trim(amount < 3 ? 1 : 10_000);
          else {
            const upTo = log.applied - amount;
            if (upTo < log.first) continue;
            view.compact(upTo);
            log.compactedTo(upTo);
          }
          log.check();
          expect(log.last).toBe(model.length);
          for (let index = log.first; index <= log.last; index += 1) {
            expect(log.termAt(index)).toBe(model[index - 1]!.term);
            expect(log.hashAt(index)).toBe(model[index - 1]!.hash);
          }
          if (log.last >= log.first) {
            const slice = log.slice(log.first, 200, 5);
            expect(slice).toEqual(model.slice(log.first - 1, log.first - 1 + slice.length));
            expect(slice.length).toBeGreaterThan(0);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
