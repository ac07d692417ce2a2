import { describe, expect, test } from '@jest/globals';
import { seeded } from '../durability/random.js';
import type { EntryHead, RequestIdentity } from './entry.js';
import { encodeReply, RESULT_LIMITS, ResultKind, type ResultLimits, Results } from './results.js';

const HOUR_MS = 3_600_000;

/** Limits that are reached soon. */
const SMALL: ResultLimits = { ...RESULT_LIMITS, originBytesMax: 60, keysMax: 5, keyBytesMax: 200 };

function request(sequence: number, low = 1, epoch = 1, origin = 7): RequestIdentity {
  return { origin, epoch, sequence, low };
}

function entry(time: number, names: Partial<EntryHead>, answer = 'x'): EntryHead {
  return { time, request: null, key: null, reply: encodeReply(answer), ...names };
}

function key(name: string, user = 1, body = 0): NonNullable<EntryHead['key']> {
  return { user, key: name, body: new Uint8Array(16).fill(body) };
}

/** Records as a checkpoint leaves them on disk. */
class Disk {
  readonly records = new Map<string, Uint8Array>();

  checkpoint(results: Results, further: EntryHead[] = [], durable = true): void {
    const capture = results.capture(further);
    const before = new Map(this.records);
    capture.write({
      put: (kind, id, part, value) => {
        this.records.set(`${kind} ${id} ${part}`, value);
      },
      delete: (kind, id, part) => {
        this.records.delete(`${kind} ${id} ${part}`);
      },
    });
    if (durable) capture.written();
    else {
      this.records.clear();
      for (const [name, value] of before) this.records.set(name, value);
    }
  }

  load(limits?: ResultLimits): Results {
    const results = new Results(limits);
    for (const wanted of Object.values(ResultKind)) {
      const found = [...this.records]
        .map(([name, value]) => ({ name: name.split(' ').map(Number), value }))
        .filter(({ name }) => name[0] === wanted)
        .sort((a, b) => (a.name[1] as number) - (b.name[1] as number));
      for (const { name, value } of found) results.loadRecord(wanted, name[1] as number, value);
    }
    return results;
  }
}

/** Everything that is known, in a form that can be compared. */
function contentOf(results: Results): string[] {
  const lines: string[] = [];
  results.writeAll({
    put: (kind, id, part, value) =>
      lines.push(`${kind} ${id} ${part}: ${Buffer.from(value).toString('hex')}`),
    delete: () => lines.push('nothing is there that could be deleted'),
  });
  return lines;
}

describe('requests', () => {
  test('are known by origin, epoch and sequence', () => {
    const results = new Results();
    results.note(entry(1, { request: request(5) }, '"five"'));
    expect(results.find(request(5))).toEqual({
      kind: 'reply',
      reply: { kind: 'result', format: 'json', result: '"five"' },
    });
    expect(results.find(request(6))).toEqual({ kind: 'new' });
    expect(results.find(request(5, 1, 1, 8))).toEqual({ kind: 'new' });
    expect(results.find(request(5, 1, 2))).toEqual({ kind: 'new' });
  });

  test('are forgotten below the low watermark, and not carried out again', () => {
    const results = new Results();
    for (const sequence of [1, 2, 3]) results.note(entry(1, { request: request(sequence) }));
    results.note(entry(1, { request: request(4, 3) }));
    expect(results.find(request(2))).toEqual({ kind: 'outdated' });
    expect(results.find(request(3))).toMatchObject({ kind: 'reply' });
  });

  test('of an earlier start are outdated once there is one of a later start', () => {
    const results = new Results();
    results.note(entry(1, { request: request(9, 5, 1) }));
    results.note(entry(1, { request: request(1, 1, 2) }));
    expect(results.find(request(9, 5, 1))).toEqual({ kind: 'outdated' });
    expect(results.find(request(2, 1, 2))).toEqual({ kind: 'new' });
    results.note(entry(1, { request: request(10, 5, 1) }));
    expect(results.find(request(1, 1, 2))).toMatchObject({ kind: 'reply' });
  });

  test('are forgotten an hour after the last one of their node, but not because a clock jumps', () => {
    const results = new Results();
    results.note(entry(1, { request: request(1) }));
    results.note(entry(100 * HOUR_MS, {}));
    expect(results.find(request(1))).toMatchObject({ kind: 'reply' });
    for (let minute = 1; minute <= 62; minute++) results.note(entry(100 * HOUR_MS + minute * 60_000, {}));
    expect(results.find(request(1))).toEqual({ kind: 'new' });
  });

  test('whose answer is too large are known to be done', () => {
    const results = new Results();
    results.note(entry(1, { request: request(1) }, 'x'.repeat(RESULT_LIMITS.replyBytesMax + 1)));
    expect(results.find(request(1))).toEqual({ kind: 'reply', reply: { kind: 'too_large' } });
  });

  test('that take too much room together keep no more answers', () => {
    const results = new Results(SMALL);
    for (let i = 1; i <= 4; i++) results.note(entry(1, { request: request(i) }, 'x'.repeat(25)));
    expect(results.find(request(2))).toMatchObject({ reply: { kind: 'result' } });
    expect(results.find(request(4))).toMatchObject({ reply: { kind: 'too_large' } });
  });
});

describe('keys', () => {
  test('are known by user and name, and belong to one body', () => {
    const results = new Results();
    results.note(entry(1, { key: key('a') }, '1'));
    expect(results.findKey(key('a'))).toMatchObject({ kind: 'reply', reply: { result: '1' } });
    expect(results.findKey(key('a', 2))).toEqual({ kind: 'new' });
    expect(results.findKey(key('a', 1, 1))).toEqual({ kind: 'conflict' });
  });

  test('are forgotten after a day', () => {
    const results = new Results();
    results.note(entry(1, { key: key('a') }));
    for (let minute = 0; minute <= 24 * 60; minute++) results.note(entry(1 + minute * 60_000, {}));
    expect(results.findKey(key('a'))).toMatchObject({ kind: 'reply' });
    results.note(entry(1 + (24 * 60 + 1) * 60_000, {}));
    expect(results.findKey(key('a'))).toEqual({ kind: 'new' });
  });

  test('the oldest goes when there are too many, or they take too much room', () => {
    const results = new Results(SMALL);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) results.note(entry(1, { key: key(name) }));
    expect(results.findKey(key('a'))).toEqual({ kind: 'new' });
    expect(results.findKey(key('b'))).toMatchObject({ kind: 'reply' });
    results.note(entry(1, { key: key('g') }, 'x'.repeat(150)));
    expect(results.findKey(key('f'))).toMatchObject({ kind: 'reply' });
    expect(results.findKey(key('e'))).toEqual({ kind: 'new' });
  });
});

describe('checkpoints', () => {
  test('hold what is proposed but not committed yet, since the state they belong to does', () => {
    const results = new Results();
    results.note(entry(1, { request: request(1) }));
    const disk = new Disk();
    const further = [entry(2, { request: request(2) }), entry(3, { key: key('a') })];
    disk.checkpoint(results, further);
    for (const head of further) results.note(head);
    expect(contentOf(disk.load())).toEqual(contentOf(results));
  });

  test('write each key once', () => {
    const results = new Results();
    const disk = new Disk();
    results.note(entry(1, { key: key('a') }));
    disk.checkpoint(results);
    const stored = disk.records.get(`${ResultKind.KEY} 1 0`);
    results.note(entry(1, { key: key('b') }));
    disk.checkpoint(results);
    expect(disk.records.get(`${ResultKind.KEY} 1 0`)).toBe(stored);
    expect(disk.records.has(`${ResultKind.KEY} 2 0`)).toBe(true);
  });

  test('many large answers are spread over several records', () => {
    const results = new Results();
    for (let i = 1; i <= 40; i++) results.note(entry(1, { request: request(i) }, 'y'.repeat(30_000)));
    const disk = new Disk();
    disk.checkpoint(results);
    const sizes = [...disk.records.values()].map(({ length }) => length);
    expect(sizes.length).toBeGreaterThan(3);
    expect(Math.max(...sizes)).toBeLessThan(400_000);
    expect(contentOf(disk.load())).toEqual(contentOf(results));
    results.note(entry(1, { request: request(41, 41) }));
    disk.checkpoint(results);
    expect(disk.records.size).toBe(2);
    expect(contentOf(disk.load())).toEqual(contentOf(results));
  });

  test('random histories: a table is the same after any checkpoints, failed or not, and loading', () => {
    const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
    const random = seeded(seed);
    for (let round = 0; round < 200; round++) {
      let results = new Results(SMALL);
      const whole = new Results(SMALL);
      const disk = new Disk();
      /** What the log would bring again after a restart. */
      let behind: EntryHead[] = [];
      let time = 1;
      for (let step = 0; step < 60; step++) {
        time += Math.floor(random() * 20) * 30_000;
        const head = randomEntry(random, time);
        const dice = random();
        if (dice < 0.1) {
          disk.checkpoint(results, [head], dice < 0.05);
          if (dice < 0.05) behind = [];
          results.note(head);
          if (dice >= 0.05) behind.push(head);
        } else {
          results.note(head);
          behind.push(head);
        }
        whole.note(head);
        if (dice > 0.93) {
          results = disk.load(SMALL);
          for (const missed of behind) results.note(missed);
        }
        if (contentOf(results).join() !== contentOf(whole).join()) {
          throw new Error(`seed ${seed}, round ${round}, step ${step}: the tables differ`);
        }
      }
    }
  });
});

function randomEntry(random: () => number, time: number): EntryHead {
  const below = (n: number): number => Math.floor(random() * n);
  const low = 1 + Math.floor(time / 300_000);
  const names: Partial<EntryHead> = {};
  const dice = random();
  if (dice < 0.7) {
    const identity = request(
      low + below(5),
      Math.max(1, low - below(3)),
      1 + Math.floor(time / 9_000_000),
      1 + below(3),
    );
    Object.assign(names, { request: identity });
  }
  if (dice > 0.5) Object.assign(names, { key: key(String(below(8)), below(2), below(2)) });
  return entry(time, names, 'z'.repeat(below(30)));
}
