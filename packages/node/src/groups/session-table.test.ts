import { ByteWriter } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { seeded } from 'raft-ts';
import { ANY_BODY, bodyHashOf } from './body-hash.js';
import { type ClientRequest, type EntryHead, plainHead, type RequestIdentity } from './entry.js';
import { encodeReply, REPLY_BYTES_MAX } from './kept-reply.js';
import { SessionRecord } from './session-records.js';
import { SessionTable, TABLE_LIMITS, type TableLimits } from './session-table.js';

const HOUR_MS = 3_600_000;

/** Limits that are reached soon. */
const SMALL: TableLimits = {
  nodes: { ...TABLE_LIMITS.nodes, sessionBytesMax: 60 },
  keys: { ...TABLE_LIMITS.keys, sessionsMax: 6, bytesMax: 400 },
  clients: { ...TABLE_LIMITS.clients, sessionsMax: 6, bytesMax: 2400, sessionBytesMax: 400 },
};

function request(sequence: number, low = 1, incarnation = 1, origin = 7): RequestIdentity {
  return { origin, incarnation, sequence, low };
}

function entry(time: number, names: Partial<EntryHead>, answer = 'x'): EntryHead {
  return { ...plainHead(time), reply: encodeReply(answer), ...names };
}

function key(name: string, user = 1, body = 2): NonNullable<EntryHead['key']> {
  return { user, key: name, body: String.fromCharCode(body).repeat(16) };
}

/** The time since the last entry. */
function after(ms: number): () => number {
  return () => ms;
}

function client(name: string, sequence: number, low: number, user = 1): ClientRequest {
  return { user, client: name, sequence, low, body: '\x01'.repeat(16) };
}

/** Records as a checkpoint leaves them on disk. */
class Disk {
  readonly records = new Map<string, Uint8Array>();

  /** @param meanwhile noted behind what the checkpoint stands for, while it is written */
  checkpoint(table: SessionTable, meanwhile: EntryHead[] = [], durable = true): void {
    const capture = table.capture();
    for (const head of meanwhile) table.note(head);
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

  /** The numbers of the records of sessions. */
  sessions(): number[] {
    const names = [...this.records.keys()].map((name) => name.split(' ').map(Number));
    const sessions = names.filter(([kind]) => kind === SessionRecord.SESSION);
    return sessions.map((name) => numberAt(name, 1)).sort((a, b) => a - b);
  }

  load(limits?: TableLimits): SessionTable {
    const table = new SessionTable(limits);
    for (const wanted of Object.values(SessionRecord)) {
      const found = [...this.records]
        .map(([name, value]) => ({ name: name.split(' ').map(Number), value }))
        .filter(({ name }) => name[0] === wanted)
        .sort(
          (a, b) => numberAt(a.name, 1) - numberAt(b.name, 1) || numberAt(a.name, 2) - numberAt(b.name, 2),
        );
      for (const { name, value } of found)
        table.loadRecord(wanted, numberAt(name, 1), numberAt(name, 2), value);
    }
    return table;
  }
}

function numberAt(name: readonly number[], at: number): number {
  return name[at] ?? 0;
}

/** Everything that is known, in a form that can be compared. */
function contentOf(table: SessionTable): string[] {
  const lines: string[] = [];
  table.writeAll({
    put: (kind, id, part, value) =>
      lines.push(`${kind} ${id} ${part}: ${Buffer.from(value).toString('hex')}`),
    delete: () => lines.push('nothing is there that could be deleted'),
  });
  return lines;
}

describe('requests', () => {
  test('are known by origin, incarnation and sequence', () => {
    const table = new SessionTable();
    table.note(entry(1, { request: request(5) }, '"five"'));
    expect(table.find(request(5))).toEqual({
      kind: 'reply',
      reply: { kind: 'result', format: 'json', result: '"five"' },
    });
    expect(table.find(request(6))).toEqual({ kind: 'new' });
    expect(table.find(request(5, 1, 1, 8))).toEqual({ kind: 'new' });
    expect(table.find(request(5, 1, 2))).toEqual({ kind: 'new' });
  });

  test('are forgotten below the low watermark, and not carried out again', () => {
    const table = new SessionTable();
    for (const sequence of [1, 2, 3]) table.note(entry(1, { request: request(sequence) }));
    table.note(entry(1, { request: request(4, 3) }));
    expect(table.find(request(2))).toEqual({ kind: 'outdated' });
    expect(table.find(request(3))).toMatchObject({ kind: 'reply' });
  });

  test('requests of an earlier start are outdated once there is one of a later start', () => {
    const table = new SessionTable();
    table.note(entry(1, { request: request(9, 5, 1) }));
    table.note(entry(1, { request: request(1, 1, 2) }));
    expect(table.find(request(9, 5, 1))).toEqual({ kind: 'outdated' });
    expect(table.find(request(2, 1, 2))).toEqual({ kind: 'new' });
    table.note(entry(1, { request: request(10, 5, 1) }));
    expect(table.find(request(1, 1, 2))).toMatchObject({ kind: 'reply' });
  });

  test('are forgotten an hour after the last one of their node, but not because a clock jumps', () => {
    const table = new SessionTable();
    table.note(entry(1, { request: request(1) }));
    table.note(entry(100 * HOUR_MS, {}));
    expect(table.find(request(1))).toMatchObject({ kind: 'reply' });
    table.note(entry(100 * HOUR_MS, { elapsed: HOUR_MS + 1 }));
    expect(table.find(request(1))).toEqual({ kind: 'new' });
  });

  test('requests whose answer is too large are known to be done', () => {
    const table = new SessionTable();
    table.note(entry(1, { request: request(1) }, 'x'.repeat(REPLY_BYTES_MAX + 1)));
    expect(table.find(request(1))).toEqual({ kind: 'reply', reply: { kind: 'too_large' } });
  });

  test('requests that take too much room together keep no more answers', () => {
    const table = new SessionTable(SMALL);
    for (let i = 1; i <= 4; i++) table.note(entry(1, { request: request(i) }, 'x'.repeat(25)));
    expect(table.find(request(2))).toMatchObject({ reply: { kind: 'result' } });
    expect(table.find(request(4))).toMatchObject({ reply: { kind: 'too_large' } });
  });
});

describe('keys', () => {
  test('are known by user and name, and belong to one body', () => {
    const table = new SessionTable();
    table.note(entry(1, { key: key('a') }, '1'));
    expect(table.findKey(key('a'))).toMatchObject({ kind: 'reply', reply: { result: '1' } });
    expect(table.findKey(key('a', 2))).toEqual({ kind: 'new' });
    expect(table.findKey(key('a', 1, 1))).toEqual({ kind: 'conflict' });
  });

  test('are forgotten after a day', () => {
    const table = new SessionTable();
    table.note(entry(1, { key: key('a') }));
    table.note(entry(1, { elapsed: 24 * HOUR_MS }));
    expect(table.findKey(key('a'))).toMatchObject({ kind: 'reply' });
    table.note(entry(1, { elapsed: 1 }));
    expect(table.findKey(key('a'))).toEqual({ kind: 'new' });
  });

  const later = (elapsed: number, name: string, user = 1): EntryHead => ({
    ...entry(1, { key: key(name, user) }),
    elapsed,
  });

  test('are not dropped for want of room as long as they are young; then the oldest gives way', () => {
    const table = new SessionTable(SMALL);
    for (let i = 0; i < 8; i++) table.note(later(1000, `k${i}`));
    expect(table.findKey(key('k0'))).toMatchObject({ kind: 'reply' });
    table.note(later(55_001, 'k8'));
    // By now the first three are older than a minute.
    expect(table.findKey(key('k2'))).toMatchObject({ kind: 'new' });
    expect(table.findKey(key('k3'))).toMatchObject({ kind: 'reply' });
  });

  test('leave room until their user has half of it, or all have it all', () => {
    const table = new SessionTable(SMALL);
    for (const name of ['a', 'b', 'c']) {
      expect(table.keyShortage(key('new'), after(0))).toBeNull();
      table.note(later(1000, name));
    }
    expect(table.keyShortage(key('new'), after(0))).toBe('sessions');
    for (const name of ['a', 'b']) table.note(later(1000, name, 2));
    expect(table.keyShortage(key('new', 3), after(0))).toBeNull();
    table.note(later(1000, 'a', 3));
    expect(table.keyShortage(key('new', 4), after(0))).toBe('sessions');
    expect(table.keyShortage(key('new', 4), after(60_001))).toBeNull();
    expect(table.keyShortage(key('new'), after(60_001))).toBeNull();
  });

  test('a clock that leaps makes none of them old: the time is what the leader measured', () => {
    const table = new SessionTable(SMALL);
    for (let i = 0; i < 5; i++) table.note({ ...later(1, `k${i}`), time: 1 + i * HOUR_MS });
    expect(table.findKey(key('k0'))).toMatchObject({ kind: 'reply' });
    expect(table.keyShortage(key('new'), after(0))).toBe('sessions');
  });

  test('keys whose body was hashed in another way, in a cluster of another level, are repetitions', () => {
    for (const [before, now] of [
      [2, 3],
      [3, 2],
    ] as const) {
      const hashed = (body: string, level: number) => ({
        ...key('a'),
        body: bodyHashOf(Buffer.from(body), level),
      });
      const table = new SessionTable();
      table.note({ ...later(0, 'a'), key: hashed('.x += 1;', before) });
      expect(table.findKey(hashed('.x += 1;', now))).toMatchObject({ kind: 'reply' });
      expect(table.findKey(hashed('.x += 1;', before))).toMatchObject({ kind: 'reply' });
      expect(table.findKey(hashed('.x += 2;', before))).toEqual({ kind: 'conflict' });
    }
  });

  test('keys whose body held a password come again with any body', () => {
    const table = new SessionTable();
    table.note({ ...later(0, 'a'), key: { ...key('a'), body: ANY_BODY } });
    expect(table.findKey(key('a', 1, 5))).toMatchObject({ kind: 'reply' });
  });
});

describe('requests that clients name by numbers', () => {
  const named = (request: ClientRequest, elapsed = 0, answer = 'x'): EntryHead => ({
    ...entry(1, { client: request }, answer),
    elapsed,
  });

  test('are known by user, client and number, and belong to one body', () => {
    const table = new SessionTable();
    table.note(named(client('c', 5, 3), 0, '"five"'));
    expect(table.findClient(client('c', 5, 3))).toMatchObject({ reply: { result: '"five"' } });
    expect(table.findClient(client('c', 6, 3))).toEqual({ kind: 'new' });
    expect(table.findClient(client('d', 5, 3))).toEqual({ kind: 'new' });
    expect(table.findClient(client('c', 5, 3, 2))).toEqual({ kind: 'new' });
    expect(table.findClient({ ...client('c', 5, 3), body: '\x09'.repeat(16) })).toEqual({
      kind: 'conflict',
    });
  });

  test('are kept until the client says that they are answered, and not carried out below that', () => {
    const table = new SessionTable();
    for (const sequence of [1, 2, 3]) table.note(named(client('c', sequence, 1)));
    table.note(named(client('c', 4, 3)));
    expect(table.findClient(client('c', 2, 1))).toEqual({ kind: 'outdated' });
    expect(table.findClient(client('c', 3, 1))).toMatchObject({ kind: 'reply' });
    expect(table.findClient(client('c', 5, 1))).toEqual({ kind: 'new' });
  });

  test('however many there are after them: nothing that is open is dropped', () => {
    const table = new SessionTable();
    table.note(named(client('c', 1, 1)));
    for (let i = 0; i < 30_000; i++) table.note(named(client('d', i + 1, i + 1), 1));
    expect(table.findClient(client('c', 1, 1))).toMatchObject({ kind: 'reply' });
  });

  test('are forgotten an hour after the last one of their client', () => {
    const table = new SessionTable();
    table.note(named(client('c', 1, 1)));
    table.note(named(client('d', 1, 1), HOUR_MS / 2));
    table.note(named(client('e', 1, 1), HOUR_MS / 2 + 1));
    expect(table.findClient(client('c', 1, 1))).toEqual({ kind: 'new' });
    expect(table.findClient(client('d', 1, 1))).toMatchObject({ kind: 'reply' });
  });

  test('new clients find no room when there are too many, or too many of their user, until others are forgotten', () => {
    const table = new SessionTable(SMALL);
    for (const name of ['a', 'b', 'c']) table.note(named(client(name, 1, 1), 1000));
    expect(table.clientShortage(client('d', 1, 1), after(0))).toBe('sessions');
    expect(table.clientShortage(client('a', 2, 1), after(0))).toBeNull();
    expect(table.clientShortage(client('d', 1, 1, 2), after(0))).toBeNull();
    for (const name of ['a', 'b', 'c']) table.note(named(client(name, 1, 1, 2), 1000));
    expect(table.clientShortage(client('a', 1, 1, 3), after(0))).toBe('sessions');
    expect(table.clientShortage(client('a', 1, 1, 3), after(HOUR_MS))).toBeNull();
    table.note(named(client('a', 1, 1, 3), HOUR_MS));
    expect(table.clientShortage(client('d', 1, 1), after(0))).toBeNull();
  });

  test('answers that may be asked for take a bounded room, of which a user gets half; what was done stays known', () => {
    const table = new SessionTable(SMALL);
    for (let i = 1; i <= 5; i++) table.note(named(client('a', i, 1), 0, 'x'.repeat(100)));
    expect(table.findClient(client('a', 1, 1))).toMatchObject({ reply: { kind: 'result' } });
    expect(table.findClient(client('a', 5, 1))).toMatchObject({ reply: { kind: 'too_large' } });
    for (let i = 1; i <= 12; i++) table.note(named(client('b', i, 1), 0, 'x'.repeat(100)));
    expect(table.clientShortage(client('a', 6, 1), after(0))).toBe('bytes');
    expect(table.clientShortage(client('a', 6, 1, 2), after(0))).toBeNull();
    table.note(named(client('b', 13, 13)));
    expect(table.clientShortage(client('a', 6, 1), after(0))).toBeNull();
  });

  test('cost a checkpoint what was changed since the last one', () => {
    const table = new SessionTable();
    const disk = new Disk();
    for (const name of ['a', 'b', 'c']) table.note(named(client(name, 1, 1)));
    disk.checkpoint(table);
    const stored = disk.records.get(`${SessionRecord.SESSION} 1 0`);
    table.note(named(client('b', 2, 2)));
    disk.checkpoint(table, [named(client('c', 2, 1))]);
    expect(disk.sessions()).toEqual([1, 3, 4]);
    expect(disk.records.get(`${SessionRecord.SESSION} 1 0`)).toBe(stored);
    expect(disk.load().findClient(client('b', 1, 1))).toEqual({ kind: 'outdated' });
    expect(disk.load().findClient(client('c', 2, 1))).toEqual({ kind: 'new' });
    expect(table.findClient(client('c', 2, 1))).toMatchObject({ kind: 'reply' });
    disk.checkpoint(table);
    expect(disk.sessions()).toEqual([1, 4, 5]);
    table.note(named(client('d', 1, 1), 2 * HOUR_MS));
    disk.checkpoint(table);
    expect(disk.sessions()).toEqual([6]);
  });
});

test('records that can not be read are refused', () => {
  const table = new SessionTable();
  const load = (kind: number, part: number, ...bytes: number[]): void =>
    table.loadRecord(kind, 1, part, Uint8Array.from(bytes));
  expect(() => load(SessionRecord.TABLE, 0, 3)).toThrow('format 3');
  expect(() => load(SessionRecord.SESSION, 1)).toThrow('part 1 of request session 1 has no beginning');
  expect(() => load(SessionRecord.SESSION, 0, 3)).toThrow('unknown kind 3');
  expect(() => load(0x29, 0)).toThrow('unexpected record');
});

describe('checkpoints', () => {
  test('checkpoints of a session that did not become durable are written again; what went meanwhile is removed', () => {
    const table = new SessionTable();
    const disk = new Disk();
    const named = (sequence: number, low: number): EntryHead => ({
      ...entry(1, { client: client('c', sequence, low) }),
      elapsed: 0,
    });
    table.note(named(1, 1));
    disk.checkpoint(table, [named(2, 1)], false);
    expect(disk.sessions()).toEqual([]);
    disk.checkpoint(table, [named(3, 1)]);
    expect(disk.sessions()).toEqual([2]);
    disk.checkpoint(table, [named(4, 1)], false);
    disk.checkpoint(table);
    expect(disk.sessions()).toEqual([4]);
    expect(contentOf(disk.load())).toEqual(contentOf(table));
  });

  test('many large answers are spread over several records', () => {
    const table = new SessionTable();
    for (let i = 1; i <= 40; i++) table.note(entry(1, { request: request(i) }, 'y'.repeat(30_000)));
    const disk = new Disk();
    disk.checkpoint(table);
    const sizes = [...disk.records.values()].map(({ length }) => length);
    expect(sizes.length).toBeGreaterThan(3);
    expect(Math.max(...sizes)).toBeLessThan(400_000);
    expect(contentOf(disk.load())).toEqual(contentOf(table));
    const loaded = disk.load();
    for (const each of [table, loaded]) each.note(entry(1, { request: request(41, 41) }));
    disk.checkpoint(loaded);
    expect(disk.records.size).toBe(2);
    expect(contentOf(disk.load())).toEqual(contentOf(table));
  });

  test('random histories: a table is the same after any checkpoints, failed or not, and loading', () => {
    const seed = Number(process.env.ALTHING_TEST_SEED);
    const rounds = 200 * Number(process.env.ALTHING_TEST_RUNS_FACTOR);
    const random = seeded(seed);
    for (let round = 0; round < rounds; round++) {
      let table = new SessionTable(SMALL);
      const whole = new SessionTable(SMALL);
      const disk = new Disk();
      /** Entries that the log would bring again after a restart. */
      let behind: EntryHead[] = [];
      let time = 1;
      for (let step = 0; step < 60; step++) {
        time += Math.floor(random() * 20) * 30_000;
        const plain = randomEntry(random, time);
        const head = namedEntry(random, plain);
        const dice = random();
        if (dice < 0.1) {
          const isDurable = dice < 0.05;
          disk.checkpoint(table, [head], isDurable);
          behind = isDurable ? [head] : [...behind, head];
        } else {
          table.note(head);
          behind.push(head);
        }
        whole.note(head);
        if (dice > 0.93) {
          table = disk.load(SMALL);
          for (const missed of behind) table.note(missed);
        }
        if (contentOf(table).join() !== contentOf(whole).join()) {
          throw new Error(`seed ${seed}, round ${round}, step ${step}: the tables differ`);
        }
      }
    }
  });
});

test('a table of a cluster that was founded at the first level is read with all names, and written in the form of today', () => {
  const bytes = (...parts: (number | string | Uint8Array)[]): Uint8Array => {
    const out = new ByteWriter();
    for (const part of parts) {
      if (typeof part === 'number') out.varint(part);
      else if (typeof part === 'string') out.text(part);
      else out.blob(part);
    }
    return out.take();
  };
  const reply = encodeReply('42');
  const body = new ByteWriter();
  body.latin1(key('a').body);
  const disk = new Disk();
  disk.records.set(`${SessionRecord.TABLE} 0 0`, bytes(1, 5, 1000, 1, 2, 1));
  disk.records.set(`${SessionRecord.ORIGINS} 0 0`, bytes(7, 1, 1, 4, 1, 3, reply, 8, 2, 1, 5, 0));
  disk.records.set(`${SessionRecord.KEY} 1 0`, Buffer.concat([bytes(3, 1, 'a'), body.take(), bytes(reply)]));
  const table = disk.load();
  expect(table.find(request(3))).toMatchObject({ kind: 'reply' });
  expect(table.find(request(4))).toEqual({ kind: 'new' });
  expect(table.find(request(9, 1, 1, 8))).toEqual({ kind: 'outdated' });
  expect(table.findKey(key('a'))).toMatchObject({ kind: 'reply' });
  table.note(entry(2000, { key: key('b') }));
  disk.checkpoint(table);
  expect(disk.records.get(`${SessionRecord.TABLE} 0 0`)?.[0]).toBe(2);
  // The old records still lie there: all that they tell stands in those of today.
  expect(contentOf(disk.load())).toEqual(contentOf(table));
});

/** The same some time later, perhaps of a client that names its requests. */
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
