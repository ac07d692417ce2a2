import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { Harness } from '../testing/harness.js';

const harness = new Harness();
const run = harness.run.bind(harness);
const error = harness.error.bind(harness);

describe('text is Unicode (decision 2)', () => {
  test('len counts characters', () => {
    expect(run("['añ🙂b'.len(), ''.len(), '🙂🙂'.len()]")).toEqual([4, 0, 2]);
  });

  test('upper and lower use the full case conversion', () => {
    expect(run("['straße'.upper(), 'ÀÉÎ'.lower(), 'ΟΔΟΣ'.lower(), 'ŉ'.upper()]")).toEqual([
      'STRASSE',
      'àéî',
      'οδος',
      'ʼN',
    ]);
  });

  test('trim removes all white space of Unicode and nothing else', () => {
    const space = '\u0085\u00a0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000 \t\n\v\f\r';
    const vars = { s: `${space}a${space}b${space}`, t: '\ufeffa\u200b\0' };
    expect(run('s.trim()', { vars })).toBe(`a${space}b`);
    expect(run('s.trim_left()', { vars })).toBe(`a${space}b${space}`);
    expect(run('s.trim_right()', { vars })).toBe(`${space}a${space}b`);
    expect(run('[t.trim(), t.trim_left(), t.trim_right()]', { vars })).toEqual([vars.t, vars.t, vars.t]);
  });

  test('split shares that white space', () => {
    const vars = { s: 'a\u00a0\u2003b\u3000c\ufeffd' };
    expect(run('s.split()', { vars })).toEqual(['a', 'b', 'c\ufeffd']);
    expect(run('s.split(-1)', { vars })).toEqual(['a\u00a0\u2003b', 'c\ufeffd']);
  });

  test('positions given to closures count characters', () => {
    const show = '|from, till, all| `[{from} {till} {all.len()}]`';
    expect(run(`'🙂-🙂🙂-'.replace('-', ${show})`)).toBe('🙂[1 2 5]🙂🙂[4 5 5]');
    expect(run(`'🙂-🙂🙂-'.replace('-', ${show}, -2)`)).toBe('🙂[2 3 5]🙂🙂[5 6 5]');
    expect(run(`'x🙂y🙂'.replace('🙂', ${show})`)).toBe('x[1 2 4]y[3 4 4]');
    expect(run("'🙂'.contains('🙂')")).toBe(true);
  });
});

describe('contains, starts_with and ends_with', () => {
  test('find texts in their place', () => {
    expect(run("['harbour'.contains('bou'), 'harbour'.contains('uob'), 'a'.contains('')]")).toEqual([
      true,
      false,
      true,
    ]);
    expect(run("['ab'.starts_with('a'), 'ab'.starts_with('b'), 'ab'.starts_with('')]")).toEqual([
      true,
      false,
      true,
    ]);
    expect(run("['ab'.ends_with('b'), 'ab'.ends_with('abc'), 'ab'.ends_with('')]")).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('take time in proportion to the text', () => {
    // Without a limit of time: what is counted is the work that is charged. A search whose work grows with the square
    // of the length would not end before the test is given up.
    const patient = new Harness({ limits: { durationMs: 600_000 } });
    const charged = (length: number): number => {
      const half = 'a'.repeat(length / 4);
      const vars = { s: half.repeat(4), t: `${half}b${half}` };
      const charge = jest.spyOn(patient.engine.runtime, 'charge');
      const code = '[s.contains(t), s.split(t)[0] == s, s.replace(t, "", -1) == s]';
      expect(patient.run(code, { vars })).toEqual([false, true, true]);
      const units = charge.mock.calls.reduce((sum, [count]) => sum + count, 0);
      charge.mockRestore();
      return units;
    };
    const [once, twice, fourTimes] = [400_000, 800_000, 1_600_000].map(charged) as [number, number, number];
    expect(once).toBeGreaterThan(400_000);
    expect(twice / once).toBeCloseTo(2, 1);
    expect(fourTimes / twice).toBeCloseTo(2, 1);
  });
});

describe('split', () => {
  test('split at white space takes a run as one separator', () => {
    expect(run("' a  b '.split()")).toEqual(['', 'a', 'b', '']);
    expect(run("[''.split(), ' '.split(), 'a'.split()]")).toEqual([[''], ['', ''], ['a']]);
  });

  test('limits from either side', () => {
    expect(run("'a b  c d'.split(2)")).toEqual(['a', 'b', 'c d']);
    expect(run("'a b  c d'.split(-2)")).toEqual(['a b', 'c', 'd']);
    expect(run("' a '.split(-1)")).toEqual([' a', '']);
    expect(run("'a,b,c'.split(',', 1)")).toEqual(['a', 'b,c']);
    expect(run("'a,b,c'.split(',', -1)")).toEqual(['a,b', 'c']);
    expect(run("['a b'.split(0), 'a,b'.split(',', 0), 'a1b'.split(/\\d/, 0)]")).toEqual([
      ['a b'],
      ['a,b'],
      ['a1b'],
    ]);
    expect(run("'a:::b:::c'.split('::', -9)")).toEqual(['a:', 'b:', 'c']);
  });

  test('agrees with joining', () => {
    const part = fc.string({ unit: fc.constantFrom('a', '🙂', ' '), maxLength: 4 });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        expect(run("s.split('-')", { vars: { s: parts.join('-') } })).toEqual(parts);
        expect(run("s.split('-', -99)", { vars: { s: parts.join('-') } })).toEqual(parts);
      }),
      { numRuns: 50 },
    );
  });

  test('checks its arguments one after another', () => {
    expect(error("'a'.split('')")).toBe('value_err');
    expect(error("'a'.split('', raise('never'))")).toBe('value_err');
    expect(error("'a'.split(1.0)")).toBe('type_err');
    expect(error("'a'.split(1, raise('never'))")).toBe('num_arguments_err');
    expect(error("'a'.split(nil)")).toBe('type_err');
    expect(error("'a'.split('a', '1')")).toBe('type_err');
    expect(error("'a'.split('a', INT_MIN)")).toBe('overflow_err');
    expect(error("'a'.split(/a/, -1)")).toBe('value_err');
  });
});

describe('replace', () => {
  test('replaces texts from either side', () => {
    expect(run("'banana'.replace('a', 'o')")).toBe('bonono');
    expect(run("'banana'.replace('a', 'o', 2)")).toBe('bonona');
    expect(run("'banana'.replace('a', 'o', -2)")).toBe('banono');
    expect(run("'aaaaa'.replace('aa', '<>', -9)")).toBe('a<><>');
    expect(run("'abc'.replace('', 'x', 0)")).toBe('abc');
    expect(run("'a'.replace('a', '$&$1')")).toBe('$&$1');
  });

  test('calls closures in the order of the matches', () => {
    expect(run("n = 0; '...'.replace('.', || { n += 1; str(n); }, -2)")).toBe('.21');
    expect(run("'a-b'.replace('-', |a, b, c, d| str(is_nil(d)))")).toBe('atrueb');
    expect(error("'a'.replace('a', || 5)")).toBe('type_err');
    expect(run("try('a'.replace('a', || raise('inside'))).msg()")).toBe('inside');
  });

  test('is refused for the empty text and for texts that get too long', () => {
    expect(error("''.replace('', 'x')")).toBe('value_err');
    const small = new Harness({ limits: { valueBytes: 1000 } });
    const vars = { s: 'a'.repeat(100), t: 'b'.repeat(100) };
    expect(small.error("s.replace('a', t)", { vars })).toBe('max_quota_err');
    expect(small.error("s.replace('a', t, -50)", { vars })).toBe('max_quota_err');
    expect(small.error('s.replace(/a/, t)', { vars })).toBe('max_quota_err');
    expect(small.error('s.replace(/a/, || t)', { vars })).toBe('max_quota_err');
  });
});
