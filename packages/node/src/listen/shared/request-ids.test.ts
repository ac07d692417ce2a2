import { describe, expect, test } from '@jest/globals';
import { RequestIds } from './request-ids.js';

describe('names of requests', () => {
  test('names that are made here are a prefix and a count, and none comes twice', () => {
    const ids = new RequestIds();
    const [prefix = ''] = ids.idOf(null).split('-');
    expect(prefix).toMatch(/^[0-9a-f]{12}$/);
    // Past the counts of two and three digits.
    for (let count = 2; count < 50_000; count++) {
      const id = ids.idOf(null);
      if (id !== `${prefix}-${count.toString(36)}`) throw new Error(`${id} for ${count}`);
    }
    expect(new RequestIds().idOf(null)).not.toBe(`${prefix}-1`);
  });

  test('names that clients give are taken when they are well-formed', () => {
    const ids = new RequestIds();
    expect(ids.idOf('job/7:a=b@c.d+e_f-g')).toBe('job/7:a=b@c.d+e_f-g');
    for (const bad of ['', 'a b', 'a\r\nb', 'ä', 'x'.repeat(129)]) expect(ids.idOf(bad)).not.toBe(bad);
  });
});
