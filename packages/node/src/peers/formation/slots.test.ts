import { describe, expect, test } from '@jest/globals';
import { ConfigurationError } from '../../config/problem.js';
import { slotsOf } from './slots.js';

describe('the setting "cluster"', () => {
  test('means the same in any order and any spelling', () => {
    const one = slotsOf(['b:9220', 'A.example.', '[::1]:9221', 'a.example:10'], 'B', 9220);
    const two = slotsOf(['a.example:10', '[::1]:9221', 'a.EXAMPLE:9220', 'B'], 'a.example', 9220);
    expect(one.all.map(({ host, port }) => `${host} ${port}`)).toEqual([
      '::1 9221',
      'a.example 10',
      'a.example 9220',
      'b 9220',
    ]);
    expect(two.all).toEqual(one.all);
    expect(two.digest).toEqual(one.digest);
    expect([one.own, two.own]).toEqual([3, 2]);
  });

  test('may name one host with several ports: nodes on one machine', () => {
    const slots = slotsOf(['localhost:1', 'localhost:2', 'localhost:10'], 'localhost', 2);
    expect(slots.all.map(({ port }) => port)).toEqual([1, 2, 10]);
    expect(slots.own).toBe(1);
  });

  test('need not name this node', () => {
    expect(slotsOf(['a', 'b'], 'c', 9220).own).toBe(-1);
    expect(slotsOf(['a:1', 'b'], 'a', 9220).own).toBe(-1);
    expect(slotsOf([], 'a', 9220).own).toBe(-1);
  });

  test('names no node twice', () => {
    expect(() => slotsOf(['a', 'A:9220'], 'a', 9220)).toThrow(ConfigurationError);
  });

  test('others have another digest', () => {
    expect(slotsOf(['a', 'b'], 'a', 9220).digest).not.toEqual(slotsOf(['a', 'b', 'c'], 'a', 9220).digest);
  });
});
