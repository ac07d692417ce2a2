import {
  ByteWriter,
  type CollectionGroup,
  EMPTY_SOURCE,
  ErrorCode,
  Preparation,
  QueryError,
} from '@althing/engine';
import { describe, expect, jest, test } from '@jest/globals';
import { membershipOf } from 'raft-ts';
import { encodeMembership, nothing } from '../between/membership.js';
import { shown, TestBench } from '../testing/session-bench.js';
import { encodeEntry, plainHead, type RequestIdentity } from './entry.js';
import { GroupSession } from './group-session.js';
import { CHANGE_BYTES_MAX } from './limits.js';
import { SessionTable } from './session-table.js';

/** The collection of a fresh installation. */
const STUFF = 2;

const JOINING = { isNew: true, campaign: false };

async function bench(): Promise<TestBench> {
  const made = await new TestBench().start();
  await made.value(STUFF, '.x = 0;');
  return made;
}

test('values of a dropped field are kept until no change that waits can be taken back', async () => {
  const { ask, travel, session } = bound(await bench());
  const { store } = session().group as CollectionGroup;
  const kept = (): number | undefined => store.schema.typeNamed('T')?.rescue?.deref()?.values.size;
  ask("set_type('T', {a: 'int', b: 'int'}); .t = T{};");
  await travel();
  ask("mod_type('T', 'del', 'a'); .t.id();");
  expect(kept()).toBe(1);
  await travel();
  expect(kept()).toBeUndefined();
});

describe('answers of a leader', () => {
  test('wait for what they were computed on, and come in order', async () => {
    // Given a change that is not committed yet,
    const { ask, session, travel } = bound(await bench());
    const change = ask('.x = 1;');
    // when something is read that depends on it,
    const read = ask('.x;');
    const failing = ask('.x = 2; raise("no");');
    // then neither is answered before the change is committed,
    expect([change, read, failing].map(shown)).toEqual(['nothing', 'nothing', 'nothing']);
    expect(session().hasUncommitted).toBe(true);
    await travel();
    expect([change, read, failing].map(shown)).toEqual(['1', '1', 'error -100']);
    // and with nothing under way a read is answered at once.
    expect(shown(ask('.x;'))).toBe('1');
  });

  test('tell where they stand: a change at its entry, what was read behind it at the end of what is committed', async () => {
    const { ask, session } = bound(await bench());
    const { appliedIndex } = session();
    const change = ask('.x = 1;');
    const between = ask('.x;');
    const other = ask('.x = 2;');
    const read = ask('.x;');
    // When Raft's own entry is committed together with the changes.
    const last = { index: appliedIndex + 3, term: 1, hash: 0 };
    session().handle({ kind: 'committed', group: STUFF, count: 2, last });
    const indexes = [change, between, other, read].map(({ reply }) => (reply?.ok ? reply.index : undefined));
    expect(indexes).toEqual([1, 1, 2, 3].map((more) => appliedIndex + more));
  });

  test('answers to changes that a lost leadership leaves open say so, and their effects are taken back, newest first', async () => {
    const { ask, session, all } = bound(await bench());
    const first = ask('.list = [1];');
    const second = ask('.list.push(2); .x = 5;');
    const read = ask('.list.len();');
    session().handle({ kind: 'following', group: STUFF, term: 9, leader: 2 });
    expect([first, second, read].map(shown)).toEqual(['error -51', 'error -51', 'error -51']);
    expect(first.reply).toMatchObject({ outcome: 'unknown', lost: true });
    expect(read.reply).toMatchObject({ lost: true });
    expect(all()).toBe('{"x":0}');
    expect(session().leading).toBe(false);
    expect(session().leader).toBe(2);
    expect(session().refusal()?.code).toBe(-51);
  });

  test('answers of a leader that was suspended take waiting changes back; reads go on, and changes are refused', async () => {
    const { ask, session, all } = bound(await bench());
    const change = ask('.x = 1;');
    session().handle({ kind: 'suspended', group: STUFF });
    expect(shown(change)).toBe('error -51');
    expect(session().leading).toBe(true);
    expect(all()).toBe('{"x":0}');
    expect(shown(ask('.x = 7;'))).toBe('error -51');
    expect(all()).toBe('{"x":0}');
  });

  test('a change larger than an entry of the log is answered with an error, and nothing is changed', async () => {
    const { session, all } = bound(await bench());
    let takenBack = false;
    let reply: unknown;
    session().propose(
      {
        effects: new Uint8Array(CHANGE_BYTES_MAX + 1),
        undo: [() => (takenBack = true)],
        collectionEvents: [],
      },
      { ok: true, result: '' },
      (given) => {
        reply = given;
      },
    );
    expect(takenBack).toBe(true);
    expect(reply).toMatchObject({ ok: false, error: { code: -57 } });
    expect(all()).toBe('{"x":0}');
  });

  test('requests that wait when the node stops are answered with errors', async () => {
    const { ask, session } = bound(await bench());
    const change = ask('.x = 1;');
    const read = ask('.x;');
    session().abandon(new QueryError(ErrorCode.NODE, 'stopping'));
    // A change that is under way may still be found later, and its client is told so.
    expect(change.reply).toMatchObject({
      error: { code: -51, message: 'stopping; the change may or may not take effect' },
    });
    expect(read.reply).toMatchObject({ error: { code: -51, message: 'stopping' } });
    expect(session().hasUncommitted).toBe(false);
  });
});

describe('the session table of a checkpoint', () => {
  const named = (session: GroupSession, sequence: number): RequestIdentity => {
    const request = { origin: 7, incarnation: 1, sequence, low: 1 };
    const change = { effects: new Uint8Array(0), undo: [], collectionEvents: [] };
    session.propose(change, { ok: true, result: '' }, () => {}, { request, key: null, client: null });
    return request;
  };

  test('holds each change that the state holds now, when that is committed, and none behind', async () => {
    const { session } = bound(await bench());
    const index = session().appliedIndex;
    const first = named(session(), 1);
    const loaded = new SessionTable();
    const captured: unknown[] = [];
    session().captureTable((capture) => {
      captured.push(capture);
      const put = loaded.loadRecord.bind(loaded);
      capture?.write({ put, delete: () => {} });
    });
    const second = named(session(), 2);
    expect(captured).toEqual([]);
    session().handle({
      kind: 'committed',
      group: STUFF,
      count: 2,
      last: { index: index + 2, term: 1, hash: 0 },
    });
    expect(captured).toHaveLength(1);
    expect(loaded.find(first)).toMatchObject({ kind: 'reply' });
    expect(loaded.find(second)).toEqual({ kind: 'new' });
    expect(session().table.find(second)).toMatchObject({ kind: 'reply' });
  });

  test('is not there when some of what the state held is taken back', async () => {
    const { session } = bound(await bench());
    named(session(), 1);
    const captured: unknown[] = [];
    session().captureTable((capture) => captured.push(capture));
    session().handle({ kind: 'following', group: STUFF, term: 9, leader: 2 });
    expect(captured).toEqual([null]);
  });
});

describe('a session that stands still', () => {
  test('takes what came meanwhile afterwards, in order, once it was resumed as often as paused', async () => {
    const { ask, session, travel } = bound(await bench());
    const change = ask('.x = 1;');
    session().pause();
    session().pause();
    await travel();
    expect(session().leading).toBe(false);
    expect(shown(change)).toBe('nothing');
    session().resume();
    expect(shown(change)).toBe('nothing');
    session().resume();
    expect(shown(change)).toBe('1');
    expect(session().leading).toBe(true);
  });
});

test('a session whose group waits for its first snapshot can not be read, since it has no state yet', async () => {
  // Given a node that joins, and so knows a collection only by its name,
  const { engine } = await bench();
  const session = new GroupSession(
    9,
    engine.collections.open(9, EMPTY_SOURCE),
    new SessionTable(),
    nothing(),
    JOINING,
    {
      consensus: { send: () => {} },
      now: () => 0,
      monotonic: () => 0,
      soon: queueMicrotask,
      failed: () => {},
      preparation: new Preparation(),
      changed: () => {},
      alone: () => false,
      collectionsChanged: () => {},
      roomEvents: () => {},
      snapshots: { send: () => {}, install: () => {}, refused: () => {} },
    },
  );
  // then its state can be read only when the snapshot is there.
  expect(session.readable).toBe(false);
  session.replaceState(session.group, new SessionTable(), { ...nothing(), index: 7 });
  expect(session.readable).toBe(true);
});

test('a client that waits for entries that take long is turned away, whether the log has answered by then or not', async () => {
  const { session } = bound(await bench());
  session().handle({ kind: 'following', group: STUFF, term: 5, leader: 9 });
  const now = session().appliedIndex;
  const place = (index: number) => ({ index, term: 5, hash: 0 });
  const seen: string[] = [];
  const ask = (name: string): void => session().readIndex((ok) => seen.push(`${name} ${ok}`), false);
  const of = jest.spyOn(Preparation.prototype, 'of').mockImplementationOnce(function* () {
    for (let slices = 0; slices < 40; slices++) yield;
  });
  const turns = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await Promise.resolve();
  };
  try {
    // Given one who was answered before entries that take long, and one who is after that,
    ask('one');
    ask('other');
    session().handle({ kind: 'read', group: STUFF, id: 1, index: now + 1 });
    const payload = encodeEntry(plainHead(1), new Uint8Array(0), new ByteWriter());
    const entries = [{ ...place(now + 1), payload }];
    session().handle({ kind: 'entries', group: STUFF, entries, last: place(now + 1) });
    await turns(10);
    expect([seen, session().delay]).toEqual([[], 'short']);
    await turns(10);
    session().handle({ kind: 'read', group: STUFF, id: 2, index: now + 1 });
    expect(seen).toEqual(['one false', 'other false']);
    // then nobody is who asks for what is there,
    ask('former');
    session().handle({ kind: 'read', group: STUFF, id: 3, index: now });
    // nor later.
    await turns(40);
    ask('later');
    session().handle({ kind: 'read', group: STUFF, id: 4, index: now + 1 });
    expect(seen.slice(2)).toEqual(['former true', 'later true']);
  } finally {
    of.mockRestore();
  }
});

describe('a look at a state at an index', () => {
  const place = (index: number) => ({ index, term: 5, hash: index * 10 });

  test('is called while it stands there: at once, before what is behind it, or never when it is past', async () => {
    const { session } = bound(await bench());
    const head = plainHead(1);
    const payload = encodeEntry(head, new Uint8Array(0), new ByteWriter());
    session().handle({ kind: 'following', group: STUFF, term: 5, leader: 9 });
    const now = session().appliedIndex;
    const seen: string[] = [];
    const look = (index: number): (() => void) =>
      session().whenAt(now + index, (there) => {
        const where = session().appliedIndex - now;
        seen.push(`${index}: ${there ? `at ${where}` : 'no'}`);
      });
    look(0);
    look(-1);
    look(2);
    const entries = [1, 2, 3].map((n) => ({ ...place(now + n), payload }));
    session().handle({ kind: 'entries', group: STUFF, entries, last: place(now + 4) });
    look(7);
    session().handle({ kind: 'entries', group: STUFF, entries: [], last: place(now + 8) });
    look(9);
    session().handle({ kind: 'leading', group: STUFF, epoch: 77 });
    look(9);
    session().handle({ kind: 'following', group: STUFF, term: 6, leader: 9 });
    const giveUp = look(10);
    giveUp();
    giveUp();
    look(11);
    giveUp();
    session().handle({ kind: 'entries', group: STUFF, entries: [], last: place(now + 11) });
    expect(seen).toEqual([
      '0: at 0',
      '-1: no',
      '2: at 2',
      '7: at 8',
      '9: no',
      '9: no',
      '10: no',
      '11: at 11',
    ]);
  });

  test('finds the membership that is in force there', async () => {
    const { session } = bound(await bench());
    session().handle({ kind: 'following', group: STUFF, term: 5, leader: 9 });
    const index = session().appliedIndex + 1;
    const membership = encodeMembership(membershipOf([1, 2, 3]));
    const seen: (readonly number[])[] = [];
    session().whenAt(index, () => seen.push(session().membership.voters));
    session().handle({ kind: 'entries', group: STUFF, entries: [], last: place(index), membership });
    session().handle({ kind: 'membership', group: STUFF, index, membership });
    expect(seen).toEqual([[1, 2, 3]]);
  });
});

describe('a full disk', () => {
  test('a full disk on which the state can not be opened: clients that wait are told, and what the log took takes effect', async () => {
    const made = await bench();
    const { ask, session, travel, all } = bound(made);
    const change = ask('.x = 1;');
    session().pause();
    const ready: boolean[] = [];
    session().readIndex((ok) => ready.push(ok));
    expect(session().outage).toBeNull();
    session().shut();
    expect(session().outage).toMatchObject({
      code: -51,
      message: expect.stringMatching(/disk.*full.*not be opened/),
    });
    expect(change.reply).toMatchObject({ ok: false, outcome: 'unknown', lost: true, error: { code: -51 } });
    expect(ready).toEqual([false]);
    await travel();
    session().resume();
    expect(session().outage).toBeNull();
    expect(session().hasUncommitted).toBe(false);
    expect(all()).toBe('{"x":1}');
  });

  test('refuses changes of collections when little is left, and of the root scope only when nothing is', async () => {
    const made = await bench();
    const codes = (): (number | undefined)[] => [
      made.session(STUFF).refusal()?.code,
      made.session('thingsdb').refusal()?.code,
    ];
    expect(codes()).toEqual([undefined, undefined]);
    made.sessions.setDisk('low');
    expect(codes()).toEqual([-51, undefined]);
    made.sessions.setDisk('full');
    expect(codes()).toEqual([-51, -51]);
    expect(made.session(STUFF).refusal()?.message).toMatch(/disk.*full.*reads go on/);
    made.sessions.setDisk('ok');
    expect(codes()).toEqual([undefined, undefined]);
  });
});

/** Shorthands for the collection. */
test('nothing of a group is stored while the log declines what is asked of it: it may not know the group yet', async () => {
  const made = await new TestBench().start({ travels: false });
  await made.settle();
  const session = made.sessions.root;
  const declined = [
    { kind: 'read', group: session.id, id: 1, index: null },
    { kind: 'mark_lost', group: session.id, id: 1 },
    { kind: 'install_refused', group: session.id },
  ] as const;
  for (const event of declined) session.handle(event);
  expect(session.isOpen).toBe(false);
  await made.travel();
  expect(session.isOpen).toBe(true);
});

function bound(made: TestBench): {
  readonly ask: (code: string) => ReturnType<TestBench['ask']>;
  readonly session: () => ReturnType<TestBench['session']>;
  readonly travel: () => Promise<void>;
  readonly all: () => string;
} {
  return {
    ask: (code) => made.ask(STUFF, code),
    session: () => made.session(STUFF),
    travel: () => made.travel(),
    all: () => {
      const { engine } = made;
      const scope = engine.scope(STUFF);
      const user = engine.root.usersByName.get('admin');
      if (scope === undefined || user === undefined) throw new Error('there is no collection');
      const body = { kind: 'query', prepared: engine.prepare('return root().copy();'), vars: null } as const;
      const outcome = engine.run({ scope, user, body, format: 'json' });
      return outcome.kind === 'value' ? String(outcome.result) : outcome.kind;
    },
  };
}
