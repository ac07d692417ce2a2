import { ErrorCode, QueryError } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import type { FailedReply, Request } from '../groups/request.js';
import {
  APPLYING,
  BEHIND_OTHERS,
  COMMITTING,
  CONFIRMING,
  DECIDING,
  type Doubt,
  FOLLOWING,
  HASHING,
  PendingRequest,
  QUEUED,
  READING_ON,
  RESTORING,
  type RequestEnd,
  type RequestOwner,
  type RequestState,
  SENT,
  WRITING_ON,
  WRITTEN_IN_PART,
} from './request.js';

const REQUEST: Request = {
  scope: { kind: 'collection', name: 'stuff' },
  user: { id: 1, name: 'admin', createdAt: 0, password: null, tokens: [] },
  body: { type: 'query', code: '.x', vars: null },
  format: 'json',
  client: { gone: false },
};

const OWNER: RequestOwner = { advance: () => {}, wait: () => {}, refuse: () => {}, ended: () => {} };
const WAITING: RequestState = { kind: 'waiting', group: 1, retryAt: 20 };
const REFUSAL: FailedReply = { ok: false, error: new QueryError(ErrorCode.LOOKUP, 'no such thing') };

/** A request, and how it ended. */
function begun({ isForwarded = false, doubt = 'none' as Doubt } = {}) {
  const ends: RequestEnd[] = [];
  const name = { origin: 2, incarnation: 1, sequence: 7, low: 1 };
  const origin = isForwarded ? { name, group: 1, doubt, early: null } : null;
  return { ends, pending: new PendingRequest(OWNER, REQUEST, 0, 1000, (end) => ends.push(end), origin) };
}

describe('a request that waits', () => {
  const waits = [QUEUED, WAITING, FOLLOWING, CONFIRMING, APPLYING, HASHING, SENT, RESTORING];

  test.each(waits)(
    'a request that waits as $kind is decided on anew before it waits for anything else',
    (state) => {
      const { pending } = begun();
      pending.become(state);
      for (const other of [...waits, COMMITTING, READING_ON]) {
        expect(() => pending.become(other)).toThrow('broken invariant');
      }
      expect(pending.resume()).toBe(true);
      expect(pending.state).toBe(DECIDING);
      pending.become(SENT);
    },
  );

  test.each(waits)(
    'a request that waits as $kind ends at its deadline, and is not decided on any more',
    (state) => {
      const { pending, ends } = begun();
      pending.become(state);
      pending.end({ kind: 'late', unknown: false });
      pending.end({ kind: 'reply', reply: REFUSAL });
      expect(ends).toEqual([{ kind: 'late', unknown: false }]);
      expect([pending.state.kind, pending.resume()]).toEqual(['ended', false]);
    },
  );
});

describe('a request that is answered', () => {
  test.each([
    ['while its change waits for the commit', COMMITTING],
    ['between two parts of it', WRITTEN_IN_PART],
  ])('%s is late until that is decided', (_title, state) => {
    const { pending, ends } = begun();
    pending.noteProposed(1, state);
    pending.end({ kind: 'late', unknown: false });
    expect([pending.state.kind, pending.isAnswered, pending.group]).toEqual(['late', true, 1]);
    expect(ends).toEqual([{ kind: 'late', unknown: true }]);
    pending.noteOutcomeKnown();
    expect(pending.state.kind).toBe('ended');
    expect(() => pending.noteOutcomeKnown()).toThrow('broken invariant');
  });

  test.each([
    ['while it waits for changes of others', BEHIND_OTHERS],
    ['while futures read', READING_ON],
    ['before its futures made a change', WRITING_ON],
  ])('%s has ended', (_title, state) => {
    const { pending } = begun();
    pending.become(state);
    pending.end({ kind: 'late', unknown: false });
    expect(pending.state.kind).toBe('ended');
  });
});

describe('a refusal', () => {
  test('is told where no attempt made a change', () => {
    const { pending, ends } = begun();
    pending.end({ kind: 'reply', reply: REFUSAL });
    expect(ends).toEqual([{ kind: 'reply', reply: REFUSAL }]);
  });

  test.each([
    ['a change was proposed', (pending: PendingRequest) => pending.noteProposed(1)],
    ['another node may have made a change', (pending: PendingRequest) => pending.noteDoubt()],
    ['a copy was sent that nobody answered', (pending: PendingRequest) => pending.noteCopy()],
  ])('becomes an outcome that is unknown after %s', (_title, happens) => {
    const { pending, ends } = begun();
    happens(pending);
    pending.end({ kind: 'reply', reply: REFUSAL });
    expect(ends).toMatchObject([{ kind: 'reply', reply: { ok: false, outcome: 'unknown' } }]);
  });

  test.each<[string, boolean, Doubt, (pending: PendingRequest) => void, Doubt]>([
    [
      'of one attempt ends where a leader finds nothing',
      false,
      'mine',
      (one) => one.noteNothingFound(),
      'none',
    ],
    [
      'of copies does not, on the node that sent them',
      false,
      'others',
      (one) => one.noteNothingFound(),
      'others',
    ],
    [
      'of copies does, on a node that did not send them',
      true,
      'others',
      (one) => one.noteNothingFound(),
      'none',
    ],
    ['of copies ends with what the log holds', false, 'others', (one) => one.noteSealed(), 'none'],
    [
      'goes back to what it was where nothing was proposed',
      false,
      'mine',
      (one) => one.noteWithdrawn('none'),
      'none',
    ],
    ['of copies is not made less by one more attempt', false, 'others', (one) => one.noteDoubt(), 'others'],
  ])('is in doubt, which %s', (_title, isForwarded, before, happens, after) => {
    const { pending } = begun({ isForwarded, doubt: isForwarded ? before : 'none' });
    if (!isForwarded && before === 'mine') pending.noteDoubt();
    if (!isForwarded && before === 'others') pending.noteCopy();
    expect(pending.doubt).toBe(before);
    happens(pending);
    expect(pending.doubt).toBe(after);
  });

  test('a refusal of a forwarded request is never followed by a copy that this node sends', () => {
    const { pending } = begun({ isForwarded: true });
    expect(() => pending.noteCopy()).toThrow('broken invariant');
  });
});
