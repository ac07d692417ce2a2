import { describe, expect, test } from '@jest/globals';
import { RequestNames } from './request-names.js';

function names(): RequestNames {
  let clients = 0;
  return new RequestNames(() => `c${++clients}`);
}

describe('names of requests', () => {
  test('count up for each scope, under a client name of its own', () => {
    const all = names();
    expect(all.begin('//a', 0).header()).toBe('c1.1.1');
    expect(all.begin('//a', 0).header()).toBe('c1.2.1');
    expect(all.begin('//b', 0).header()).toBe('c2.1.1');
  });

  test('tell the lowest number that may be sent again, whatever the order in which requests end', () => {
    const all = names();
    const [first, second, third] = [all.begin('//a', 0), all.begin('//a', 0), all.begin('//a', 0)];
    second.end();
    expect(third.header()).toBe('c1.3.1');
    first.end();
    expect(third.header()).toBe('c1.3.3');
    third.end();
    expect(all.begin('//a', 0).header()).toBe('c1.4.4');
  });

  test('begin under another client before nodes refuse the span, and the old ones keep their LOW', () => {
    const all = names();
    const stuck = all.begin('//a', 0);
    for (let i = 0; i < 9000; i++) all.begin('//a', 0).end();
    expect(all.begin('//a', 0).header()).toBe('c2.1.1');
    expect(stuck.header()).toBe('c1.1.1');
  });

  test('begin under another client after a long silence, since nodes forget the old one', () => {
    const all = names();
    all.begin('//a', 0).end();
    expect(all.begin('//a', 29 * 60_000).header()).toBe('c1.2.2');
    expect(all.begin('//a', 60 * 60_000).header()).toBe('c2.1.1');
  });
});
