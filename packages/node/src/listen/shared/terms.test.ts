import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { noTerms, numberedOf, problemOf, termsOf } from './terms.js';

const none = noTerms();

/** The level of the cluster. */
const LEVEL = 3;

describe('headers with terms', () => {
  test.each([
    [{ consistency: 'stale' }],
    [{ consistency: 'linearizable' }],
    [{ consistency: 'snapshot' }],
    [{ consistency: 'snapshot', maxAge: '0' }],
    [{ minIndex: '0' }],
    [{ minIndex: '9007199254740991' }],
    [{ key: 'k' }],
    [{ key: 'ü'.repeat(127) }],
    [{ request: numberedOf('c.1.1') }],
    [{ readOnly: 'true' }],
    [{ timing: '1' }],
    [{ readOnly: 'false', request: numberedOf('c.1.1') }],
    [{ request: numberedOf(`${'aZ09-_'.repeat(10)}.9007199254740991.9007199254740000`) }],
  ])('%j is fine', (headers) => {
    expect(problemOf({ ...none, ...headers })).toBeNull();
  });

  test.each([
    [{ consistency: 'eventual' }, 'Consistency'],
    [{ consistency: '' }, 'Consistency'],
    [{ consistency: 'stale', maxAge: '5' }, 'Althing-Max-Age'],
    [{ consistency: 'snapshot', maxAge: '-1' }, 'Althing-Max-Age'],
    [{ minIndex: '' }, 'Althing-Min-Index'],
    [{ minIndex: '-1' }, 'Althing-Min-Index'],
    [{ minIndex: '1e3' }, 'Althing-Min-Index'],
    [{ minIndex: '9007199254740993' }, 'Althing-Min-Index'],
    [{ key: '' }, 'Idempotency-Key'],
    [{ key: 'ü'.repeat(128) }, 'Idempotency-Key'],
    [{ request: numberedOf('') }, 'Althing-Request'],
    [{ request: numberedOf('c.1') }, 'Althing-Request'],
    [{ request: numberedOf('c.0.0') }, 'Althing-Request'],
    [{ request: numberedOf('c.1.2') }, 'LOW'],
    [{ request: numberedOf('c.01.1') }, 'Althing-Request'],
    [{ request: numberedOf('c.1e3.1') }, 'Althing-Request'],
    [{ request: numberedOf('c.1.1.1') }, 'Althing-Request'],
    [{ request: numberedOf('ü.1.1') }, 'Althing-Request'],
    [{ request: numberedOf('.1.1') }, 'Althing-Request'],
    [{ request: numberedOf(`${'c'.repeat(65)}.1.1`) }, 'Althing-Request'],
    [{ request: numberedOf('c.9007199254740993.1') }, 'Althing-Request'],
    [{ request: numberedOf('c.9007199254740992.1') }, 'Althing-Request'],
    [{ request: numberedOf('c.10001.1') }, '10000'],
    [{ request: numberedOf('c.1.1'), key: 'k' }, 'not by both'],
    [{ readOnly: '' }, 'Althing-Read-Only'],
    [{ readOnly: 'yes' }, 'Althing-Read-Only'],
    [{ dryRun: 'yes' }, 'Althing-Dry-Run'],
    [{ dryRun: 'true, explain' }, 'Althing-Dry-Run'],
    [{ timing: 'true' }, 'Althing-Timing'],
    [{ timing: '' }, 'Althing-Timing'],
    [{ readOnly: 'true, false' }, 'Althing-Read-Only'],
  ])('%j is refused', (headers, name) => {
    expect(problemOf({ ...none, ...headers })).toContain(name);
  });

  test('become terms', () => {
    expect(
      termsOf({ ...none, consistency: 'stale', minIndex: '12' }, Buffer.from('x'), 'json', LEVEL),
    ).toEqual({
      stale: true,
      snapshot: null,
      minIndex: 12,
      key: null,
      name: null,
      readOnly: false,
      dryRun: false,
      timing: false,
    });
    expect(termsOf({ ...none, timing: '1' }, Buffer.from('x'), 'json', LEVEL).timing).toBe(true);
    // A dry run makes nothing that a name could find again.
    expect(termsOf({ ...none, dryRun: 'true', key: 'k' }, Buffer.from('x'), 'json', LEVEL)).toMatchObject({
      dryRun: true,
      key: null,
    });
    expect(termsOf({ ...none, readOnly: 'true' }, Buffer.from('x'), 'json', LEVEL).readOnly).toBe(true);
    expect(
      termsOf({ ...none, request: numberedOf('c-1.12.7') }, Buffer.from('x'), 'json', LEVEL),
    ).toMatchObject({
      key: null,
      name: { client: 'c-1', sequence: 12, low: 7 },
    });
  });

  test('clients whose names look alike are told apart, however often they come', () => {
    const names = [
      'aXbYc',
      'bXbYc',
      'aZbYc',
      'XbYc',
      'aXbYcd',
      'a.bYc',
      'aübYc',
      'a'.repeat(64),
      `b${'a'.repeat(63)}`,
    ];
    const clientOf = (name: string) => {
      const read = numberedOf(`${name}.7.3`);
      return read === 'malformed' ? read : read.client;
    };
    const expected = names.map((name) => (/^[\w-]+$/.test(name) ? name : 'malformed'));
    expect([...names, ...names].map(clientOf)).toEqual([...expected, ...expected]);
  });

  test.each([2, LEVEL])('a key goes with its body and its format, at level %i', (level) => {
    const of = (body: string, format: 'json' | 'msgpack') =>
      Buffer.from(
        termsOf({ ...none, key: 'k' }, Buffer.from(body), format, level).key?.body ?? '',
        'latin1',
      ).toString('hex');
    // Nodes keep these hashes, so they stay what they are.
    const kept = {
      2: createHash('sha256').update('json:a').digest('hex').slice(0, 32),
      [LEVEL]: '4c4ad4789c419f570000000000000000',
    };
    expect(of('a', 'json')).toBe(kept[level as 2]);
    expect(new Set([of('a', 'json'), of('b', 'json'), of('a', 'msgpack')]).size).toBe(3);
  });
});
