import { expect, test } from '@jest/globals';
import { Subject } from './subject.js';

test.each(['', 'abc', 'äöü', 'a🙂b🙂🙂c', '🙂', '\ud800x\udc00'])(
  '%j is addressed by code points',
  (text) => {
    const chars = [...text];
    const subject = new Subject(text);
    expect(subject.length).toBe(chars.length);
    for (let start = 0; start <= chars.length; start++) {
      for (let end = start; end <= chars.length; end++) {
        expect(subject.slice(start, end)).toBe(chars.slice(start, end).join(''));
      }
    }
  },
);

test('text without surrogates is not unpacked', () => {
  expect(new Subject('äöü').codes).toBeNull();
  expect(new Subject('a🙂').codes).toEqual(Int32Array.of(0x61, 0x1f642));
});
