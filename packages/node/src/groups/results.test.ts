import { describe, expect, test } from '@jest/globals';
import { seeded } from '../testing/random.js';
import { ANY_BODY, type ClientRequest, type EntryHead, plainHead, type RequestIdentity } from './entry.js';
import { encodeReply, REPLY_BYTES_MAX } from './kept-reply.js';
import { RESULT_LIMITS, ResultKind, type ResultLimits, Results } from './results.js';

const HOUR_MS = 3_600_000;

/** Limits that are reached soon. */
const SMALL: ResultLimits = {
  ...RESULT_LIMITS,
  originBytesMax: 60,
  firstKeys: { keysMax: 5, keyBytesMax: 200 },
  keys: { keysMax: 6, keyBytesMax: 400 },
  clients: { clientsMax: 6, bytesMax: 3000, clientBytesMax: 400, ageMaxMs: HOUR_MS },
};

function request(sequence: number, low = 1, incarnation = 1, origin = 7): RequestIdentity {
  return { origin, incarnation, sequence, low };
}

function entry(time: number, names: Partial<EntryHead>, answer = 'x'): EntryHead {
  return { ...plainHead(time), reply: encodeReply(answer), ...names };
}

function key(name: string, user = 1, body = 0): NonNullable<EntryHead['key']> {
  return { user, key: name, body: new Uint8Array(16).fill(body) };
}

function client(name: string, sequence: number, low: number, user = 1): ClientRequest {
  return { user, client: name, sequence, low, body: new Uint8Array(16).fill(1) };
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
  test('are known by origin, incarnation and sequence', () => {
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
    results.note(entry(1, { request: request(1) }, 'x'.repeat(REPLY_BYTES_MAX + 1)));
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

describe('keys at level 2', () => {
  const later = (elapsed: number, name: string, user = 1): EntryHead => ({
    ...entry(1, { key: key(name, user) }),
    elapsed,
  });

  test('are not dropped for want of room as long as they are young; then the oldest gives way', () => {
    const results = new Results(SMALL);
    for (let i = 0; i < 8; i++) results.note(later(1000, `k${i}`));
    expect(results.findKey(key('k0'))).toMatchObject({ kind: 'reply' });
    results.note(later(55_001, 'k8'));
    // By now the first three are older than a minute.
    expect(results.findKey(key('k2'))).toMatchObject({ kind: 'new' });
    expect(results.findKey(key('k3'))).toMatchObject({ kind: 'reply' });
  });

  test('leave room until their user has half of it, or all have it all', () => {
    const results = new Results(SMALL);
    for (const name of ['a', 'b', 'c']) {
      expect(results.hasRoomForKey(1, 0)).toBe(true);
      results.note(later(1000, name));
    }
    expect(results.hasRoomForKey(1, 0)).toBe(false);
    for (const name of ['a', 'b']) results.note(later(1000, name, 2));
    expect(results.hasRoomForKey(3, 0)).toBe(true);
    results.note(later(1000, 'a', 3));
    expect(results.hasRoomForKey(4, 0)).toBe(false);
    expect(results.hasRoomForKey(4, 60_001)).toBe(true);
    expect(results.hasRoomForKey(1, 60_001)).toBe(true);
  });

  test('a clock that leaps makes none of them old: the time is what the leader measured', () => {
    const results = new Results(SMALL);
    for (let i = 0; i < 5; i++) results.note({ ...later(1, `k${i}`), time: 1 + i * HOUR_MS });
    expect(results.findKey(key('k0'))).toMatchObject({ kind: 'reply' });
    expect(results.hasRoomForKey(1, 0)).toBe(false);
  });

  test('whose body held a password come again with any body', () => {
    const results = new Results();
    results.note({ ...later(0, 'a'), key: { ...key('a'), body: ANY_BODY } });
    expect(results.findKey(key('a', 1, 5))).toMatchObject({ kind: 'reply' });
  });
});

describe('requests that clients name by numbers', () => {
  const named = (request: ClientRequest, elapsed = 0, answer = 'x'): EntryHead => ({
    ...entry(1, { client: request }, answer),
    elapsed,
  });

  test('are known by user, client and number, and belong to one body', () => {
    const results = new Results();
    results.note(named(client('c', 5, 3), 0, '"five"'));
    expect(results.findClient(client('c', 5, 3))).toMatchObject({ reply: { result: '"five"' } });
    expect(results.findClient(client('c', 6, 3))).toEqual({ kind: 'new' });
    expect(results.findClient(client('d', 5, 3))).toEqual({ kind: 'new' });
    expect(results.findClient(client('c', 5, 3, 2))).toEqual({ kind: 'new' });
    expect(results.findClient({ ...client('c', 5, 3), body: new Uint8Array(16).fill(9) })).toEqual({
      kind: 'conflict',
    });
  });

  test('are kept until the client says that they are answered, and not carried out below that', () => {
    const results = new Results();
    for (const sequence of [1, 2, 3]) results.note(named(client('c', sequence, 1)));
    results.note(named(client('c', 4, 3)));
    expect(results.findClient(client('c', 2, 1))).toEqual({ kind: 'outdated' });
    expect(results.findClient(client('c', 3, 1))).toMatchObject({ kind: 'reply' });
    expect(results.findClient(client('c', 5, 1))).toEqual({ kind: 'new' });
  });

  test('however many there are after them: nothing that is open is dropped', () => {
    const results = new Results();
    results.note(named(client('c', 1, 1)));
    for (let i = 0; i < 30_000; i++) results.note(named(client('d', i + 1, i + 1), 1));
    expect(results.findClient(client('c', 1, 1))).toMatchObject({ kind: 'reply' });
  });

  test('are forgotten an hour after the last one of their client', () => {
    const results = new Results();
    results.note(named(client('c', 1, 1)));
    results.note(named(client('d', 1, 1), HOUR_MS / 2));
    results.note(named(client('e', 1, 1), HOUR_MS / 2 + 1));
    expect(results.findClient(client('c', 1, 1))).toEqual({ kind: 'new' });
    expect(results.findClient(client('d', 1, 1))).toMatchObject({ kind: 'reply' });
  });

  test('new clients find no room when there are too many, or too many of their user, until others are forgotten', () => {
    const results = new Results(SMALL);
    for (const name of ['a', 'b', 'c']) results.note(named(client(name, 1, 1), 1000));
    expect(results.clientShortage(client('d', 1, 1), 0)).toBe('clients');
    expect(results.clientShortage(client('a', 2, 1), 0)).toBeNull();
    expect(results.clientShortage(client('d', 1, 1, 2), 0)).toBeNull();
    for (const name of ['a', 'b', 'c']) results.note(named(client(name, 1, 1, 2), 1000));
    expect(results.clientShortage(client('a', 1, 1, 3), 0)).toBe('clients');
    expect(results.clientShortage(client('a', 1, 1, 3), HOUR_MS)).toBeNull();
    results.note(named(client('a', 1, 1, 3), HOUR_MS));
    expect(results.clientShortage(client('d', 1, 1), 0)).toBeNull();
  });

  test('answers that may be asked for take a bounded room, of which a user gets half; what was done stays known', () => {
    const results = new Results(SMALL);
    for (let i = 1; i <= 5; i++) results.note(named(client('a', i, 1), 0, 'x'.repeat(100)));
    expect(results.findClient(client('a', 1, 1))).toMatchObject({ reply: { kind: 'result' } });
    expect(results.findClient(client('a', 5, 1))).toMatchObject({ reply: { kind: 'too_large' } });
    for (let i = 1; i <= 12; i++) results.note(named(client('b', i, 1), 0, 'x'.repeat(100)));
    expect(results.clientShortage(client('a', 6, 1), 0)).toBe('bytes');
    expect(results.clientShortage(client('a', 6, 1, 2), 0)).toBeNull();
    results.note(named(client('b', 13, 13)));
    expect(results.clientShortage(client('a', 6, 1), 0)).toBeNull();
  });

  test('cost a checkpoint what was changed since the last one', () => {
    const results = new Results();
    const disk = new Disk();
    for (const name of ['a', 'b', 'c']) results.note(named(client(name, 1, 1)));
    disk.checkpoint(results);
    const stored = disk.records.get(`${ResultKind.CLIENT} 1 0`);
    results.note(named(client('b', 2, 2)));
    disk.checkpoint(results, [named(client('c', 2, 1))]);
    expect(disk.records.get(`${ResultKind.CLIENT} 1 0`)).toBe(stored);
    expect(disk.load().findClient(client('b', 1, 1))).toEqual({ kind: 'outdated' });
    expect(disk.load().findClient(client('c', 2, 1))).toMatchObject({ kind: 'reply' });
    expect(results.findClient(client('c', 2, 1))).toEqual({ kind: 'new' });
    results.note(named(client('d', 1, 1), 2 * HOUR_MS));
    disk.checkpoint(results);
    expect([...disk.records.keys()].filter((name) => name.startsWith(`${ResultKind.CLIENT} `))).toEqual([
      `${ResultKind.CLIENT} 4 0`,
    ]);
  });
});

test('a table of level 1 leaves the records that its versions know', () => {
  const results = new Results();
  results.note(entry(1, { key: key('a'), request: request(1) }));
  const disk = new Disk();
  disk.checkpoint(results);
  expect(disk.records.get(`${ResultKind.TABLE} 0 0`)?.[0]).toBe(1);
  results.note({ ...entry(1, {}), elapsed: 5 });
  results.note(entry(2, {}));
  disk.checkpoint(results);
  expect(disk.records.get(`${ResultKind.TABLE} 0 0`)?.[0]).toBe(2);
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
    const seed = Number(process.env.ALTHING_TEST_SEED);
    const rounds = 200 * Number(process.env.ALTHING_TEST_RUNS_FACTOR);
    const random = seeded(seed);
    for (let round = 0; round < rounds; round++) {
      let results = new Results(SMALL);
      const whole = new Results(SMALL);
      const disk = new Disk();
      /** What the log would bring again after a restart. */
      let behind: EntryHead[] = [];
      let time = 1;
      for (let step = 0; step < 60; step++) {
        time += Math.floor(random() * 20) * 30_000;
        const plain = randomEntry(random, time);
        // Half of the histories go over to level 2 in their middle; a leader that has not heard of it may
        // follow.
        const isLater = round % 2 === 0 && step > 20 && random() > 0.1;
        const head = isLater ? namedEntry(random, plain) : plain;
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

/** The same at level 2, perhaps of a client that names its requests. */
function namedEntry(random: () => number, plain: EntryHead): EntryHead {
  const below = (n: number): number => Math.floor(random() * n);
  const head = { ...plain, elapsed: below(10) * 60_000 };
  if (below(3) === 0) return head;
  const low = 1 + below(10);
  return { ...head, client: client(`c${below(8)}`, low + below(5), low, below(3)) };
}

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
