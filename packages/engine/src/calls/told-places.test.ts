import { describe, expect, test } from '@jest/globals';
import { Harness, type RunOptions } from '../testing/harness.js';
import { toldPlaces } from './told-places.js';

/** The texts that the places of the error cover, the innermost first, each with the closure that it is in. */
function places(db: Harness, code: string, options: RunOptions = {}): string[] {
  const { places: found } = db.failure(code, options);
  return found.map(
    ({ source, start, end, callee }) => `${callee === null ? '' : `${callee}: `}${source.slice(start, end)}`,
  );
}

describe('places of errors', () => {
  const db = new Harness();

  test.each([
    ['x = 1; x.nope; 3', '.nope'],
    ['x = {}; x.nope', '.nope'],
    ['.nope', '.nope'],
    ['[1, 2].nope(3)', '.nope(3)'],
    ['1; [1][5]; 2', '[5]'],
    ["'text'[1:2:'x']", "[1:2:'x']"],
    ['x = [1]; x[3] = 5', '[3] = 5'],
    ['x = {}; x.a = 1; x.a += y', '.a += y'],
    ['nope(1)', 'nope(1)'],
    ['1 + nope()', 'nope()'],
    ['range(1, nope())', 'nope()'],
    ["range('x')", "range('x')"],
    ['range()', 'range()'],
    ['1; 2; 3 / 0; 4', '3 / 0'],
    ['if (1) { a = 1; a / 0 } else 3', 'a / 0'],
    ['for (i in [1, 0]) { 1 / i; }', 'for (i in [1, 0]) { 1 / i; }'],
    ['for (i in [1, 0]) { 1 / i; 2; }', '1 / i'],
    ['[1, 0].map(|i| 1 / i)', '1 / i'],
    ["[1].map(|i| { 'x'.upper(); i.upper(); })", '.upper()'],
    ["raise('stop')", "raise('stop')"],
    ["x = 1; assert(x > 2, 'no'); 5", "assert(x > 2, 'no')"],
    ['x = || { y = 1; y.z }; x()', '.z'],
    ["try(1 / 0); raise('after')", "raise('after')"],
    ['1 / 0', '1 / 0'],
  ])('%s: %s', (code, place) => {
    expect(places(db, code)).toEqual([place]);
  });

  test('it is the same when the code runs hot', () => {
    const code = 'range(2000).map(|i| { x = [1]; if (i == 1999) x.nope(); x.len(); })';
    expect(places(db, code)).toEqual(['.nope()']);
  });

  test('a stored closure is named, and the calls that led there follow', () => {
    db.run(
      "new_procedure('inner', |x| { y = x + 1; y / 0; }); new_procedure('outer', |x| { 1; inner(x); }); .f = |x| outer(x);",
    );
    expect(places(db, '1; outer(5);')).toEqual(['inner: y / 0', 'outer: inner(x)', 'outer(5)']);
    expect(places(db, '.f(3)')[0]).toBe('inner: y / 0');
    expect(places(db, "run('outer', 1)")[0]).toBe('inner: y / 0');
    db.run("set_type('T', {m: |t| t.nope});");
    expect(places(db, 'T{}.m()')).toEqual(['.m: .nope', '.m()']);
  });

  test('an error that is caught, kept and raised again has the place of the raise', () => {
    expect(places(db, 'e = try(.nope); 1; raise(e);')).toEqual(['raise(e)']);
  });
});

describe('places in words', () => {
  test('count code points', () => {
    const db = new Harness();
    const [place] = toldPlaces(db.failure("x = '🙂';\ny = '🙂'; y.nope();"));
    expect(place).toEqual({ line: 2, column: 11, offset: 19, length: 7, in: null });
  });

  test('places in procedures are places in the text that procedure_info shows', () => {
    const db = new Harness();
    db.run("new_procedure('p', |a|{b=a;b.nope();});");
    const [place, call] = toldPlaces(db.failure('p(1);'));
    expect([place?.in, place?.line, place?.column]).toEqual(['p', 3, 3]);
    const lines = String(db.run("procedure_info('p').load().definition")).split('\n');
    expect([...(lines[2] ?? '')].slice(2, 2 + (place?.length ?? 0)).join('')).toBe('.nope()');
    expect(call).toEqual({ line: 1, column: 1, offset: 0, length: 4, in: null });
  });

  test.each([
    ['procedures', "set_procedure('p', |a| 1 / a);", 'p(0);', { in: 'p', offset: 4 }],
    ['methods', "try(set_type('T', {m: |t, a| 1 / a}));", 'T{}.m(0);', { in: '.m', offset: 7 }],
  ])(
    'places in %s do not count from where a query begins whose code is kept',
    (_, definition, call, place) => {
      const db = new Harness();
      for (let i = 0; i < 3; i++) db.run(definition);
      const [told] = toldPlaces(db.failure(call));
      expect(told).toMatchObject({ ...place, line: 1, length: 5 });
    },
  );

  test('a text that is no query has the place of what does not fit', () => {
    const [place] = toldPlaces(new Harness().failure('1 +\n* 2'));
    expect(place).toEqual({ line: 2, column: 1, offset: 4, length: 1, in: null });
  });
});
