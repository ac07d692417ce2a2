import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { changeOf, encodeChange } from './change.js';
import { formatEntry, formatMembership, formatMessage, formatTrace } from './format.js';
import { chainEntry, murmur3 } from './hash.js';
import { changedMembership, membershipOf } from './membership.js';
import { message } from './testing/arbitraries.js';
import type { TraceEvent } from './trace.js';
import type { EntryKind } from './types.js';

const entry = (kind: EntryKind, payload: Uint8Array): string =>
  formatEntry(chainEntry(0, 7, 3, kind, payload, murmur3));

describe('lines for people', () => {
  test('entries', () => {
    expect(entry('noop', new Uint8Array(0))).toBe('7/3 noop');
    expect(entry('normal', new TextEncoder().encode('a"b\n'))).toBe('7/3 "a.b."');
    expect(entry('normal', new Uint8Array(40).fill(120))).toBe(`7/3 "${'x'.repeat(32)}..."`);
    const steps = changeOf(
      { action: 'addVoter', node: 1 },
      { action: 'addLearner', node: 2, promote: false },
      { action: 'addLearner', node: 3, promote: true },
      { action: 'remove', node: 4 },
    );
    expect(entry('change', encodeChange(steps))).toBe('7/3 change v1 l2 p3 r4');
    expect(entry('change', encodeChange(changeOf()))).toBe('7/3 change leave joint');
    expect(entry('change', Uint8Array.of(9))).toBe(
      '7/3 change (Membership change of an unknown version at byte 1)',
    );
  });

  test('memberships', () => {
    const plain = { ...membershipOf([1, 2], [4]), promote: [4], removed: [9] };
    expect(formatMembership(plain)).toBe('voters=(1 2) learners=(4) promote=(4) removed=(9)');
    const change = changeOf(
      { action: 'addVoter', node: 3 },
      { action: 'addLearner', node: 1, promote: false },
    );
    const joint = changedMembership(plain, change);
    expect(formatMembership(joint)).toBe(
      'voters=(2 3) outgoing=(1 2) learners=(4) learnersNext=(1) promote=(4) removed=(9) autoLeave',
    );
  });

  test('every message has a line that begins with its way and kind', () => {
    fc.assert(
      fc.property(message, (each) => {
        const line = formatMessage(each);
        expect(line.startsWith(`${each.from}->${each.to} ${each.kind} term=${each.term}`)).toBe(true);
        expect(line).not.toContain('\n');
      }),
    );
  });

  test('the events that scenario scripts seldom show', () => {
    const line = (event: TraceEvent): string => formatTrace(event);
    expect(line({ node: 1, type: 'change_ignored', index: 4, reason: 'no_effect' })).toContain(
      'ignores the change at 4',
    );
    expect(line({ node: 1, type: 'reads_dropped', count: 2, reason: 'timeout' })).toBe(
      'drops 2 reads (timeout)',
    );
    expect(line({ node: 1, type: 'snapshot', phase: 'wanted', peer: 2, index: 5 })).toBe(
      'snapshot 5, peer 2: wanted',
    );
  });
});
