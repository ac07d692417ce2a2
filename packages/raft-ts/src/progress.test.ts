import { describe, expect, test } from '@jest/globals';
import { Progress } from './progress.js';

const fresh = (next: number): Progress => new Progress(2, next, 0, 10, 1000);

describe('progress of one member', () => {
  test('a probe goes back to where the logs may agree, never behind what is known to agree', () => {
    const peer = fresh(11);
    expect(peer.rejected(10, 5)).toBe(true);
    expect(peer.next).toBe(6);
    expect(peer.matched(3)).toBe(true);
    peer.next = 9;
    expect(peer.rejected(8, 0)).toBe(true);
    expect(peer.next).toBe(4);
  });

  test('a rejection that does not answer the probe is no news', () => {
    const peer = fresh(11);
    expect(peer.rejected(7, 5)).toBe(false);
    peer.becomeSnapshot(20);
    expect(peer.rejected(20, 5)).toBe(false);
    expect(peer.next).toBe(21);
  });

  test('a rejection in replicate of what agrees is stale, any other one returns to the known match', () => {
    const peer = fresh(11);
    peer.matched(10);
    peer.becomeReplicate();
    peer.next = 20;
    expect(peer.rejected(9, 5)).toBe(false);
    expect(peer.rejected(15, 12)).toBe(true);
    expect(peer.next).toBe(11);
  });

  test('a rejection in probe of what it acknowledged is no news: the next one would be the same', () => {
    const peer = fresh(11);
    peer.matched(10);
    peer.becomeProbe();
    expect(peer.rejected(10, 4)).toBe(false);
    expect(peer.next).toBe(11);
  });

  test('after a snapshot the probe begins behind it', () => {
    const peer = fresh(5);
    peer.becomeSnapshot(30);
    expect(peer.blocked).toBe(true);
    peer.becomeProbe();
    expect([peer.next, peer.pendingSnapshot, peer.blocked]).toEqual([31, 0, false]);
    expect(() => {
      peer.matched(40);
      peer.becomeSnapshot(40);
    }).toThrow('what the member has');
  });

  test('a member that lost its tail is not believed any more', () => {
    const peer = fresh(5);
    peer.matched(10);
    peer.becomeReplicate();
    peer.recoverFrom(7);
    expect([peer.match, peer.next, peer.state, peer.recovering]).toEqual([0, 8, 'probe', true]);
  });

  test('indexes begin at 1', () => {
    expect(() => fresh(0)).toThrow('begin at 1');
    expect(() => fresh(1).reset(0, 0)).toThrow('begin at 1');
  });
});
