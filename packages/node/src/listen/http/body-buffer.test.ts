import { describe, expect, test } from '@jest/globals';
import { ByteBudget } from '../limits/byte-budget.js';
import { BodyBuffer } from './body-buffer.js';

describe('a body that comes in pieces', () => {
  test('is the pieces one behind the other', () => {
    const buffer = new BodyBuffer(new ByteBudget(1 << 20), 100_000);
    const pieces = [1, 5000, 3, 20_000, 1, 60_000].map((size, i) => Buffer.alloc(size, 65 + i));
    for (const piece of pieces) expect(buffer.add(piece)).toBe(true);
    expect(buffer.size).toBe(85_005);
    expect(buffer.content().equals(Buffer.concat(pieces))).toBe(true);
  });

  test('takes memory for what has come, not for what may come', () => {
    const budget = new ByteBudget(1 << 30);
    const buffer = new BodyBuffer(budget, 1 << 24);
    buffer.add(Buffer.from('x'));
    expect(budget.used).toBeLessThanOrEqual(4096);
  });

  test('never takes more than the largest body', () => {
    const budget = new ByteBudget(1 << 30);
    const buffer = new BodyBuffer(budget, 10_000);
    for (let i = 0; i < 10; i++) buffer.add(Buffer.alloc(1000));
    expect(budget.used).toBeLessThanOrEqual(10_000);
  });

  test('is refused where the budget ends, and gives back what it took', () => {
    const budget = new ByteBudget(10_000);
    const first = new BodyBuffer(budget, 16_000);
    const second = new BodyBuffer(budget, 16_000);
    expect(first.add(Buffer.alloc(6000))).toBe(true);
    expect(second.add(Buffer.alloc(6000))).toBe(false);
    first.free();
    expect(second.add(Buffer.alloc(6000))).toBe(true);
    second.free();
    second.free();
    expect(budget.used).toBe(0);
  });

  test('goes on where large ones took all, as long as it is small', () => {
    const budget = new ByteBudget(1 << 20);
    const large = new BodyBuffer(budget, 1 << 21);
    expect(large.add(Buffer.alloc(1 << 20))).toBe(true);
    expect(large.add(Buffer.alloc(1))).toBe(false);
    const small = Array.from({ length: 32 }, () => new BodyBuffer(budget, 4096));
    const taken = small.filter((each) => each.add(Buffer.alloc(4096)));
    expect(taken).toHaveLength(16);
    for (const each of [large, ...small]) each.free();
    expect(budget.used).toBe(0);
  });
});
