import { DEFAULT_LIMITS, ErrorCode, QueryError } from '@althing/engine';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Reply } from '../groups/request.js';
import { encodeAnswer } from '../requests/forward-format.js';
import type { SnapshotQuery } from '../requests/snapshot-query.js';
import { ManualClock } from '../testing/index.js';
import { LineRing } from './line-ring.js';
import type { ReaderData, ToReader } from './messages.js';
import { Pool } from './pool.js';
import type { ReaderEvents } from './reader.js';

const QUERY: SnapshotQuery = {
  collection: 7,
  root: { user: new Uint8Array(), collection: new Uint8Array(), collectionId: 7, access: null },
  body: { type: 'query', code: '1;', vars: { format: 'json', data: 'xx{"a":1}', start: 2 } },
  format: 'json',
  isReadOnly: false,
  requestId: 'id',
  place: { storedIndex: 1, index: 1, ageMs: 0 },
  hasLines: false,
  hasEnd: false,
};

/** A thread that does nothing until a test says so. */
class FakeReader {
  readonly sent: ToReader[] = [];
  isTerminated = false;

  constructor(
    private readonly data: ReaderData,
    readonly events: ReaderEvents,
  ) {}

  /** Makes a line of its answer. */
  line(text: string): void {
    new LineRing(this.data.lines).put(Buffer.from(text));
  }

  send(message: ToReader): void {
    this.sent.push(message);
  }

  async terminate(): Promise<void> {
    this.isTerminated = true;
    this.events.ended(null);
  }

  answer(result: string): void {
    this.events.said({ kind: 'taken', index: 5 });
    this.said(result);
  }

  said(result: string): void {
    const answer = encodeAnswer({ kind: 'reply', reply: { ok: true, result, index: 5 } });
    this.events.said({ kind: 'answer', answer, cost: 'steps=1' });
  }
}

describe('the pool of snapshot readers', () => {
  let clock: ManualClock;
  let readers: FakeReader[];
  let defects: string[];
  let logged: object[];

  beforeEach(() => {
    clock = new ManualClock();
    readers = [];
    defects = [];
    logged = [];
  });

  function poolOf(threads = 1): Pool {
    return new Pool({
      settings: {
        threads,
        durationMs: 10_000,
        memoryMb: 64,
        keptBytes: 1024 * 1024,
        limits: DEFAULT_LIMITS,
        quotas: {
          tokensPerUser: 1,
          users: 1,
          collections: 1,
          procedures: 1,
          tasks: 1,
          sessions: { idleMs: 1, maxMs: 1 },
        },
      },
      location: 'nowhere',
      start: (data, _memoryMb, events) => {
        const reader = new FakeReader(data, events);
        readers.push(reader);
        return reader;
      },
      clock,
      log: (fields) => logged.push(fields),
      onDefect: ({ message }) => defects.push(message),
    });
  }

  /** Lets some time pass, and all that comes of it happen. */
  async function passed(ms: number): Promise<void> {
    clock.pass(ms);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  }

  /** Asks, and gives where the outcome will stand. */
  function ask(
    pool: Pool,
    userId = 1,
    gone = () => false,
    refusal: () => QueryError | null = () => null,
  ): { text: string } {
    const outcome = { text: '' };
    pool.ask(QUERY, { userId, gone, refusal, logs: null, lines: null }, ({ reply, takenMs }) => {
      outcome.text = textOf(reply, takenMs);
    });
    return outcome;
  }

  test('starts a thread for the first query, and ends it when it was quiet for a minute', async () => {
    const pool = poolOf();
    const first = ask(pool);
    clock.pass(30);
    readers[0]?.answer('one');
    expect(first.text).toBe('one at 5, taken after 30 ms');
    const second = ask(pool);
    readers[0]?.answer('two');
    expect(second.text).toContain('two');
    expect(readers.length).toBe(1);
    clock.pass(61_000);
    expect(readers[0]?.isTerminated).toBe(true);
    ask(pool);
    expect(readers.length).toBe(2);
  });

  test('ends what its user may not have any more, at the next look', () => {
    const pool = poolOf();
    let refusal: QueryError | null = null;
    const outcome = ask(pool, 1, undefined, () => refusal);
    clock.pass(300);
    expect(outcome.text).toBe('');
    refusal = new QueryError(ErrorCode.FORBIDDEN, 'revoked');
    clock.pass(300);
    expect([outcome.text, readers[0]?.isTerminated]).toEqual([expect.stringContaining('revoked'), true]);
  });

  test('begins nothing for a user who lost the privilege while it waited', () => {
    const pool = poolOf();
    ask(pool, 1);
    let refusal: QueryError | null = null;
    const [refused, next] = [ask(pool, 2, undefined, () => refusal), ask(pool, 3)];
    refusal = new QueryError(ErrorCode.FORBIDDEN, 'revoked');
    readers[0]?.answer('first');
    expect([refused.text, readers[0]?.sent.length]).toEqual(['revoked', 2]);
    readers[0]?.answer('third');
    expect(next.text).toContain('third');
  });

  test('hands values over without what lies beside them', () => {
    ask(poolOf());
    expect(readers[0]?.sent[0]?.query.body).toEqual({
      type: 'query',
      code: '1;',
      vars: { format: 'json', data: '{"a":1}' },
    });
  });

  test('runs one query of a user at a time, and no more than it has threads', () => {
    const pool = poolOf(2);
    for (const user of [1, 1, 2, 3]) ask(pool, user);
    expect(pool.queue).toEqual({ waiting: 2, running: 2 });
    readers[0]?.answer('first of 1');
    expect(readers[0]?.sent.length).toBe(2);
    readers[1]?.answer('first of 2');
    expect(pool.queue).toEqual({ waiting: 0, running: 2 });
  });

  test('lets sixteen wait, for a minute', () => {
    const pool = poolOf();
    const all = Array.from({ length: 18 }, () => ask(pool));
    expect(all[17]?.text).toContain('16 snapshot reads wait');
    readers[0]?.events.said({ kind: 'taken', index: 5 });
    // The first one is ended by its limit of time before.
    clock.pass(61_000);
    expect(all[16]?.text).toContain('took too long to leave room');
    expect(pool.queue.waiting).toBe(0);
  });

  test('ends a query whose client left, and none that waits for another', () => {
    const pool = poolOf();
    let isGone = false;
    const left = ask(pool, 1, () => isGone);
    const other = ask(pool, 2);
    isGone = true;
    clock.pass(300);
    expect(left.text).toContain('nobody waits');
    readers[1]?.answer('served');
    expect(other.text).toContain('served');
  });

  test('ends a query that its own clock did not end, and counts it', () => {
    const pool = poolOf();
    const endless = ask(pool);
    readers[0]?.events.said({ kind: 'taken', index: 5 });
    clock.pass(16_000);
    expect(endless.text).toContain('snapshot_duration_limit_ms');
    expect(pool.ends.time).toBe(1);
  });

  test('counts no time before the snapshot is taken, and ends a thread that takes none for a minute', () => {
    const pool = poolOf();
    const late = ask(pool);
    clock.pass(59_000);
    readers[0]?.answer('late');
    expect(late.text).toContain('late');
    const never = ask(pool);
    clock.pass(61_000);
    expect(never.text).toContain('no snapshot could be taken');
    expect([readers[0]?.isTerminated, pool.ends.time]).toEqual([true, 0]);
  });

  test('tells the log of an error behind lines, which the client can not be told', async () => {
    const pool = poolOf();
    const lines = { begin: () => {}, write: async () => {} };
    const outcomes: Reply[] = [];
    const asker = { userId: 1, gone: () => false, refusal: () => null, logs: null, lines };
    for (const hasWritten of [false, true]) {
      pool.ask({ ...QUERY, hasLines: true }, asker, ({ reply }) => outcomes.push(reply));
      const reader = readers.at(-1);
      if (hasWritten) reader?.line('1\n');
      reader?.events.said({ kind: 'taken', index: 5 });
      pool.endGroup(7);
    }
    expect(outcomes.map(({ ok }) => ok)).toEqual([false, false]);
    expect(logged).toEqual([{ event: 'lines_cut', request: 'id', code: ErrorCode.NODE }]);
  });

  test('hands on lines as they come without a message, all of them before the answer', async () => {
    const pool = poolOf();
    let text = '';
    const lines = {
      begin: (index: number) => {
        text += `from ${index}: `;
      },
      write: async (bytes: Uint8Array) => {
        text += Buffer.from(bytes).toString();
      },
    };
    const asker = { userId: 1, gone: () => false, refusal: () => null, logs: null, lines };
    pool.ask({ ...QUERY, hasLines: true }, asker, ({ reply }) => {
      text += reply.ok ? `end with ${String(reply.result)}` : reply.error.message;
    });
    const [reader] = readers;
    reader?.events.said({ kind: 'taken', index: 5 });
    reader?.line('1\n');
    await passed(3);
    expect(text).toBe('from 5: 1\n');
    const large = 'x'.repeat(600_000);
    reader?.line(large);
    reader?.said('nil');
    await passed(3);
    expect(text).toBe(`from 5: 1\n${large}end with nil`);
  });

  test('counts no time in which the client takes a batch of lines', async () => {
    const pool = poolOf();
    const outcome = { text: '' };
    let taken = (): void => {};
    const lines = {
      begin: () => {},
      write: () =>
        new Promise<void>((resolve) => {
          taken = resolve;
        }),
    };
    pool.ask(
      { ...QUERY, hasLines: true },
      { userId: 1, gone: () => false, refusal: () => null, logs: null, lines },
      ({ reply, takenMs }) => {
        outcome.text = textOf(reply, takenMs);
      },
    );
    readers[0]?.events.said({ kind: 'taken', index: 5 });
    clock.pass(9000);
    readers[0]?.line('1\n');
    await passed(3);
    clock.pass(30_000);
    expect(outcome.text).toBe('');
    taken();
    await passed(0);
    clock.pass(5000);
    expect(outcome.text).toBe('');
    clock.pass(2000);
    expect(outcome.text).toContain('snapshot_duration_limit_ms');
  });

  test('tells of a thread that took too much memory, and of no other end as of that', () => {
    const pool = poolOf();
    const greedy = ask(pool);
    readers[0]?.events.ended(Object.assign(new Error('full'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }));
    expect(greedy.text).toContain('snapshot_memory_limit_mb');
    const broken = ask(pool);
    readers[1]?.events.ended(new Error('broken'));
    expect(broken.text).toContain('try again');
    expect([pool.ends.memory, defects]).toEqual([1, ['broken']]);
  });

  test('ends a query while which too much was written', () => {
    const pool = poolOf();
    const first = ask(pool);
    pool.noteWritten(1024 * 1024);
    expect(first.text).toBe('');
    pool.noteWritten(1);
    expect(first.text).toContain('snapshot_kept_mb');
  });

  test('ends what runs over a group that was replaced, and on a full disk', () => {
    const pool = poolOf();
    const replaced = ask(pool);
    pool.endGroup(8);
    expect(replaced.text).toBe('');
    pool.endGroup(7);
    expect(replaced.text).toContain('was replaced');
    const full = ask(pool);
    pool.noteDiskFull();
    expect(full.text).toContain('the disk is full');
  });

  test('refuses everything from when it is closed until it is opened again, or where it has no threads', async () => {
    const pool = poolOf();
    const [running, waiting] = [ask(pool, 1), ask(pool, 2)];
    await pool.close();
    for (const { text } of [running, waiting, ask(pool)]) expect(text).toContain('at the moment');
    expect(readers.every(({ isTerminated }) => isTerminated)).toBe(true);
    pool.reopen();
    const again = ask(pool);
    readers[1]?.answer('again');
    expect(again.text).toContain('again');
    expect(ask(poolOf(0)).text).toContain('snapshot_threads');
  });
});

function textOf(reply: Reply, takenMs: number): string {
  if (reply.ok) return `${String(reply.result)} at ${reply.index}, taken after ${takenMs} ms`;
  const { message }: QueryError = reply.error;
  return message;
}
