/** Messages that no sound node sends: each is refused, counted, and changes nothing. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { changeOf, encodeChange } from './change.js';
import { genesisOf } from './genesis.js';
import { chainEntry, murmur3 } from './hash.js';
import { membershipOf, NO_MEMBERS } from './membership.js';
import { MemoryLog } from './memorylog.js';
import type { Append, Message } from './messages.js';
import { RaftNode } from './node.js';
import { message } from './testing/arbitraries.js';
import { type Entry, type EntryKind, MAX_COUNT } from './types.js';

const MEMBERS = membershipOf([1, 2, 3]);
const GENESIS = genesisOf(MEMBERS, new Uint8Array(1));

function follower(): RaftNode {
  const log = new MemoryLog();
  log.reset(GENESIS.snapshot);
  return new RaftNode({
    id: 1,
    log,
    hardState: GENESIS.hardState,
    applied: 1,
    membership: MEMBERS,
    random: 1,
  });
}

const ENVELOPE = { from: 2, to: 1, term: 2 };
const CLAIM = { commit: 1, commitTerm: 1 };
const APPEND: Append = {
  kind: 'append',
  ...ENVELOPE,
  prevIndex: 1,
  prevTerm: 1,
  prevHash: GENESIS.snapshot.hash,
  commit: 1,
  entries: [],
  notice: false,
};

function entry(
  index: number,
  term: number,
  kind: EntryKind = 'normal',
  payload: Uint8Array = new Uint8Array(2),
): Entry {
  return chainEntry(GENESIS.snapshot.hash, index, term, kind, payload, murmur3);
}

function verdict(each: Message, node = follower()): string {
  const before = node.status();
  const result = node.step(each);
  if (result.status === 'refused') {
    expect(node.status().refused.get(result.reason)).toBe(1);
    expect(node.status().lastIndex).toBe(before.lastIndex);
    expect(node.status().commitIndex).toBe(before.commitIndex);
  }
  return result.status === 'ok' ? 'ok' : `${result.status} ${result.reason}`;
}

describe('unsound messages', () => {
  test('wrong envelopes', () => {
    const wake: Message = { kind: 'wake', ...ENVELOPE };
    expect(verdict(wake)).toBe('ok');
    expect(verdict({ ...wake, to: 3 })).toBe('refused wrong_recipient');
    expect(verdict({ ...wake, from: 1 })).toBe('refused bad_sender');
    expect(verdict({ ...wake, from: -2 })).toBe('refused bad_sender');
    expect(verdict({ ...wake, term: 1.5 })).toBe('refused bad_number');
    expect(verdict({ ...wake, term: MAX_COUNT * 2 })).toBe('refused bad_number');
    expect(verdict({ ...wake, term: 1_000_002 })).toBe('refused term_jump');
    expect(verdict({ ...wake, term: 1_000_001 })).toBe('ok');
  });

  test('numbers that are none, in every kind', () => {
    const bad = -1;
    const messages: Message[] = [
      { kind: 'heartbeat', ...ENVELOPE, commit: bad, round: 0 },
      { kind: 'heartbeat', ...ENVELOPE, commit: 1, round: Number.NaN },
      { kind: 'heartbeatResponse', ...ENVELOPE, round: bad },
      { ...APPEND, prevIndex: bad },
      { ...APPEND, prevTerm: bad },
      { ...APPEND, commit: bad },
      {
        kind: 'appendResponse',
        ...ENVELOPE,
        index: bad,
        rejected: false,
        hintIndex: 0,
        hintTerm: 0,
        recovering: false,
      },
      {
        kind: 'appendResponse',
        ...ENVELOPE,
        index: 0,
        rejected: true,
        hintIndex: bad,
        hintTerm: 0,
        recovering: false,
      },
      {
        kind: 'appendResponse',
        ...ENVELOPE,
        index: 0,
        rejected: true,
        hintIndex: 0,
        hintTerm: bad,
        recovering: false,
      },
      { kind: 'preVote', ...ENVELOPE, ...CLAIM, attempt: 1, lastIndex: bad, lastTerm: 1 },
      { kind: 'preVote', ...ENVELOPE, ...CLAIM, attempt: 1, lastIndex: 1, lastTerm: 3 },
      { kind: 'vote', ...ENVELOPE, ...CLAIM, transfer: false, lastIndex: 1, lastTerm: bad },
      { kind: 'vote', ...ENVELOPE, term: 0, ...CLAIM, transfer: false, lastIndex: 0, lastTerm: 0 },
      { kind: 'voteResponse', ...ENVELOPE, ...CLAIM, commit: bad, granted: true },
      { kind: 'preVoteResponse', ...ENVELOPE, ...CLAIM, commitTerm: bad, attempt: 1, granted: true },
      { kind: 'quiesce', ...ENVELOPE, index: bad },
      { kind: 'readIndex', ...ENVELOPE, id: bad },
      { kind: 'readIndexResponse', ...ENVELOPE, id: 1, index: 0 },
      { kind: 'readIndexResponse', ...ENVELOPE, id: bad, index: 1 },
    ];
    for (const each of messages) expect([each, verdict(each)]).toEqual([each, 'refused bad_number']);
  });

  test('entries that do not follow from what is before them', () => {
    expect(verdict({ ...APPEND, entries: [entry(2, 2)] })).toBe('ok');
    expect(verdict({ ...APPEND, prevTerm: 3 })).toBe('refused bad_entries');
    expect(verdict({ ...APPEND, entries: [entry(3, 2)] })).toBe('refused bad_entries');
    expect(verdict({ ...APPEND, entries: [entry(2, 3)] })).toBe('refused bad_entries');
    expect(verdict({ ...APPEND, entries: [entry(2, 0)] })).toBe('refused bad_entries');
    expect(verdict({ ...APPEND, entries: [{ ...entry(2, 2), hash: 5 }] })).toBe('refused hash_mismatch');
    expect(verdict({ ...APPEND, entries: [entry(2, 2, 'change')] })).toBe('refused bad_change');
    const change = encodeChange(changeOf({ action: 'remove', node: 3 }));
    expect(verdict({ ...APPEND, entries: [entry(2, 2, 'change', change)] })).toBe('ok');
    expect(verdict({ ...APPEND, prevHash: 5 })).toBe('refused hash_mismatch');
    expect(verdict({ ...APPEND, prevIndex: MAX_COUNT, entries: [entry(MAX_COUNT + 1, 2)] })).toBe(
      'refused bad_entries',
    );
    const odd = JSON.parse('{"index":2,"term":2,"kind":"strange","hash":0,"payload":[]}');
    expect(verdict({ ...APPEND, entries: [odd] })).toBe('refused bad_entries');
  });

  test('an entry that is known with another hash', () => {
    const node = follower();
    const first = entry(2, 2);
    expect(node.step({ ...APPEND, entries: [first] }).status).toBe('ok');
    const other = entry(2, 2, 'normal', Uint8Array.of(9));
    expect(verdict({ ...APPEND, entries: [other] }, node)).toBe('refused hash_mismatch');
  });

  test('impossible snapshots', () => {
    const snapshot = { index: 9, term: 2, hash: 1, membership: MEMBERS };
    const of = (change: Partial<typeof snapshot>): Message => {
      return { kind: 'snapshot', ...ENVELOPE, snapshot: { ...snapshot, ...change } };
    };
    expect(verdict(of({}))).toBe('ok');
    expect(verdict(of({ index: 0 }))).toBe('refused bad_snapshot');
    expect(verdict(of({ index: -1 }))).toBe('refused bad_snapshot');
    expect(verdict(of({ term: 3 }))).toBe('refused bad_snapshot');
    expect(verdict(of({ term: 0 }))).toBe('refused bad_snapshot');
    expect(verdict(of({ hash: -1 }))).toBe('refused bad_snapshot');
    expect(verdict(of({ membership: { ...NO_MEMBERS, learners: [1] } }))).toBe('refused bad_snapshot');
    expect(verdict(of({ membership: NO_MEMBERS }))).toBe('refused bad_snapshot');
  });

  test('a snapshot of another history', () => {
    const node = follower();
    const first = entry(2, 2);
    expect(node.step({ ...APPEND, entries: [first] }).status).toBe('ok');
    const snapshot = { index: 2, term: 2, hash: first.hash, membership: MEMBERS };
    const message: Message = { kind: 'snapshot', ...ENVELOPE, snapshot: { ...snapshot, hash: 5 } };
    expect(verdict(message, node)).toBe('refused hash_mismatch');
    expect(node.step({ ...message, snapshot }).status).toBe('ok');
    expect(node.commitIndex).toBe(2);
  });

  test('no message whatever makes a node throw, in any role', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 30 }), fc.nat({ max: 2 }), (messages, role) => {
        const node = follower();
        if (role > 0) node.campaign();
        if (role > 1) elect(node);
        for (const each of messages) {
          node.step({ ...each, to: 1 });
          const { write } = node.ready();
          if (write !== null && write.snapshot === null) expect(write.term).toBe(node.term);
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** Makes a candidate leader by hand. */
function elect(node: RaftNode): void {
  for (let turn = 0; turn < 3; turn += 1) {
    const { messages, write } = node.ready();
    const released = write === null ? [] : node.persisted(write);
    for (const each of [...messages, ...released]) {
      const { from: to, to: from, term } = each;
      if (each.kind === 'preVote') {
        node.step({
          kind: 'preVoteResponse',
          from,
          to,
          term,
          attempt: each.attempt,
          granted: true,
          ...CLAIM,
        });
      }
      if (each.kind === 'vote') node.step({ kind: 'voteResponse', from, to, term, granted: true, ...CLAIM });
    }
  }
  expect(node.role).toBe('leader');
}
