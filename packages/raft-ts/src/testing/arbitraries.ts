/** Generators of protocol data for property tests. */
import fc, { type Arbitrary } from 'fast-check';
import { encodeChange } from '../change.js';
import { chainEntry, murmur3 } from '../hash.js';
import type { ChangeStep, MembershipChange } from '../membership.js';
import type { Message } from '../messages.js';
import { type Entry, type EntryKind, MAX_COUNT, type Membership } from '../types.js';

export const node = fc.integer({ min: 1, max: 12 });
const count = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: MAX_COUNT }));
const hash = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const ids = fc.uniqueArray(node, { maxLength: 7 }).map((list) => list.sort((left, right) => left - right));

export const changeStep: Arbitrary<ChangeStep> = fc.oneof(
  fc.record({ action: fc.constant('addVoter' as const), node }),
  fc.record({ action: fc.constant('addLearner' as const), node, promote: fc.boolean() }),
  fc.record({ action: fc.constant('remove' as const), node }),
);

export const membershipChange: Arbitrary<MembershipChange> = fc.record({
  steps: fc.array(changeStep, { maxLength: 5 }),
  transition: fc.constantFrom('auto' as const, 'joint' as const),
  leave: fc.constantFrom('auto' as const, 'explicit' as const),
  context: fc.uint8Array({ maxLength: 20 }),
});

/** Any lists of ids: not necessarily a membership that makes sense. */
export const anyMembership: Arbitrary<Membership> = fc.record({
  voters: ids,
  outgoing: ids,
  learners: ids,
  learnersNext: ids,
  promote: ids,
  removed: ids,
  autoLeave: fc.boolean(),
});

const draft = fc.record({
  kind: fc.constantFrom<EntryKind>('normal', 'noop', 'change'),
  termStep: fc.integer({ min: 0, max: 2 }),
  payload: fc.uint8Array({ maxLength: 40 }),
  change: membershipChange,
});

/** Entries that follow `previous`. */
export function entriesAfter(
  index: number,
  term: number,
  previous: number,
  maxLength: number,
): Arbitrary<Entry[]> {
  return fc.array(draft, { maxLength }).map((drafts) => {
    const entries: Entry[] = [];
    for (const { kind, termStep, payload, change } of drafts) {
      const last = entries[entries.length - 1] ?? { index, term, hash: previous };
      const bytes = kind === 'change' ? encodeChange(change) : payload;
      entries.push(
        chainEntry(last.hash, last.index + 1, Math.max(last.term + termStep, 1), kind, bytes, murmur3),
      );
    }
    return entries;
  });
}

const envelope = { from: node, to: node, term: count };
const claim = { commit: count, commitTerm: count };

export const message: Arbitrary<Message> = fc.oneof(
  fc.record({
    kind: fc.constant('preVote' as const),
    ...envelope,
    ...claim,
    attempt: count,
    lastIndex: count,
    lastTerm: count,
  }),
  fc.record({
    kind: fc.constant('preVoteResponse' as const),
    ...envelope,
    ...claim,
    attempt: count,
    granted: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('vote' as const),
    ...envelope,
    ...claim,
    transfer: fc.boolean(),
    lastIndex: count,
    lastTerm: count,
  }),
  fc.record({ kind: fc.constant('voteResponse' as const), ...envelope, ...claim, granted: fc.boolean() }),
  fc
    .record({
      kind: fc.constant('append' as const),
      ...envelope,
      prevIndex: count,
      prevTerm: count,
      prevHash: hash,
      commit: count,
      notice: fc.boolean(),
    })
    .chain((append) =>
      entriesAfter(append.prevIndex, append.prevTerm, append.prevHash, 6).map((entries) => ({
        ...append,
        entries,
      })),
    ),
  fc
    .record({
      kind: fc.constant('appendResponse' as const),
      ...envelope,
      index: count,
      rejected: fc.boolean(),
      hintIndex: count,
      hintTerm: count,
      recovering: fc.boolean(),
    })
    // A hint belongs to a rejection.
    .map((response) => (response.rejected ? response : { ...response, hintIndex: 0, hintTerm: 0 })),
  fc.record({ kind: fc.constant('heartbeat' as const), ...envelope, commit: count, round: count }),
  fc.record({ kind: fc.constant('heartbeatResponse' as const), ...envelope, round: count }),
  fc.record({
    kind: fc.constant('snapshot' as const),
    ...envelope,
    snapshot: fc.record({ index: count, term: count, hash, membership: anyMembership }),
  }),
  fc.record({ kind: fc.constant('timeoutNow' as const), ...envelope }),
  fc.record({ kind: fc.constant('quiesce' as const), ...envelope, index: count }),
  fc.record({ kind: fc.constant('wake' as const), ...envelope }),
  fc.record({ kind: fc.constant('readIndex' as const), ...envelope, id: fc.maxSafeNat() }),
  fc.record({
    kind: fc.constant('readIndexResponse' as const),
    ...envelope,
    id: fc.maxSafeNat(),
    index: count,
  }),
  fc.record({
    kind: fc.constant('propose' as const),
    ...envelope,
    payloads: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 4 }),
  }),
);
