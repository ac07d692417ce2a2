import { describe, expect, test } from '@jest/globals';
import { type NodeAddress, NodeList } from './node-list.js';

const places = ['http://a', 'http://b', 'http://c'].map(
  (text): NodeAddress => ({ url: new URL(text), address: null }),
);
const [a, b, c] = places as [NodeAddress, NodeAddress, NodeAddress];
const NONE = new Set<NodeAddress>();
const first = (): number => 0;

describe('the list of nodes', () => {
  test('stays at one node until that fails', () => {
    const nodes = new NodeList(places, first);
    expect([nodes.choose(0, NONE), nodes.choose(0, NONE)]).toEqual([a, a]);
    nodes.failed(a, 0);
    expect([nodes.choose(0, NONE), nodes.choose(2000, NONE)]).toEqual([b, b]);
  });

  test('draws the first node, so that clients spread', () => {
    expect(new NodeList(places, () => 0.99).choose(0, NONE)).toBe(c);
  });

  test('avoids a node that failed for 1 s, then longer, and 30 s at most', () => {
    const nodes = new NodeList([a], first);
    const other = new NodeList([a, b], first);
    let now = 0;
    for (const ms of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      other.failed(a, now);
      other.failed(b, now + ms - 1);
      // The first to be over, of two that are avoided.
      expect(other.choose(now + ms - 1, NONE)).toBe(a);
      other.served(b);
      now += ms;
      expect(other.choose(now - 1, NONE)).toBe(b);
      other.failed(b, now - 1);
      expect(other.choose(now, NONE)).toBe(a);
      other.served(b);
    }
    nodes.failed(a, 0);
    expect(nodes.choose(0, NONE)).toBe(a);
  });

  test('counts requests that fail together once', () => {
    const nodes = new NodeList([a, b], first);
    for (let i = 0; i < 64; i++) nodes.failed(a, i);
    nodes.failed(b, 1063);
    expect(nodes.choose(1063, NONE)).toBe(a);
  });

  test('gives a call a node that it has not tried, also one that is avoided', () => {
    const nodes = new NodeList([a, b], first);
    nodes.failed(b, 0);
    expect(nodes.choose(0, new Set([a]))).toBe(b);
    expect(nodes.areAllIn(new Set([a]))).toBe(false);
    expect(nodes.areAllIn(new Set([a, b]))).toBe(true);
  });

  test('leaves a node that ends its connections, unless it is the only one', () => {
    const nodes = new NodeList([a, b], first);
    nodes.choose(0, NONE);
    nodes.leaves(a, 0);
    expect(nodes.choose(0, NONE)).toBe(b);
    const alone = new NodeList([a], first);
    alone.leaves(a, 0);
    expect(alone.choose(0, NONE)).toBe(a);
  });

  test('keeps what it knows of nodes that are still in a new list', () => {
    const nodes = new NodeList([a, b], first);
    nodes.failed(a, 0);
    nodes.replace([{ ...a }, c]);
    expect(nodes.choose(0, NONE)).toBe(c);
  });
});
