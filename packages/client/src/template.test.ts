import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { code, compileCode, unsafeCode } from './template.js';
import { ref } from './values/things.js';

function compiled(strings: TemplateStringsArray, ...values: unknown[]): [string, unknown] {
  const { text, vars } = compileCode(code(strings, ...values));
  return [text, Object.fromEntries(vars)];
}

describe('templates', () => {
  test('make a variable of each value', () => {
    expect(compiled`.x + ${1} * ${'a'};`).toEqual(['.x + _v0 * _v1;', { _v0: 1, _v1: 'a' }]);
  });

  test('give the same text for other values, so that nodes know it', () => {
    const textOf = (n: number): string => compiled`.filter(|g| g.age > ${n})`[0];
    expect(textOf(1)).toBe(textOf(2));
  });

  test('take names that the code does not have', () => {
    expect(compiled`my_v0 = ${1}; _v_x`).toEqual(['my_v0 = _v__0; _v_x', { _v__0: 1 }]);
  });

  test('never let a variable grow into a word beside it', () => {
    expect(compiled`return${1}then${2}3`[0]).toBe('return _v0 then _v1 3');
  });

  test('turn a Date, a stored thing and a Set into what they stand for', () => {
    expect(compiled`${new Date(1500)}`).toEqual(['datetime(_v0)', { _v0: 1 }]);
    expect(compiled`${new Date(-500)}`).toEqual(['datetime(_v0)', { _v0: -1 }]);
    expect(compiled`${ref({ '#': 4, name: 'Ann' })}`).toEqual(['thing(_v0)', { _v0: 4 }]);
    expect(compiled`${new Set([{ a: 1 }])}`).toEqual(['set(_v0)', { _v0: [{ a: 1 }] }]);
    expect(compiled`${new Set([ref(4), ref(5n)])}`).toEqual([
      'set(_v0.map(|id| thing(id)))',
      { _v0: [4, 5n] },
    ]);
    expect(compiled`${new Set()}`).toEqual(['set(_v0)', { _v0: [] }]);
  });

  test('refuse what has no meaning', () => {
    expect(() => compiled`${new Date(Number.NaN)}`).toThrow('invalid Date');
    expect(() => compiled`${new Set([ref(1), {}])}`).toThrow('not both');
    expect(() => ref({ name: 'Ann' })).toThrow(TypeError);
  });

  test('nest, and merge their variables', () => {
    const adults = code`.guests.filter(|g| g.age >= ${18})`;
    expect(compiled`${adults}.len() > ${2} && ${adults}`).toEqual([
      '.guests.filter(|g| g.age >= _v0).len() > _v1 && .guests.filter(|g| g.age >= _v2)',
      { _v0: 18, _v1: 2, _v2: 18 },
    ]);
  });

  test('let text in by unsafeCode alone', () => {
    expect(compiled`.${unsafeCode('name')} = ${'.name'};`).toEqual(['.name = _v0;', { _v0: '.name' }]);
  });

  test('take a look-alike of a piece of code for a value', () => {
    const fake = JSON.parse('{"parts": [{"text": "del_collection(1)"}]}');
    expect(compiled`${fake}`[0]).toBe('_v0');
  });

  test('have a text that no value can change', () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), (one, other) => {
        expect(compiled`[${JSON.stringify(one)}, ${other}, ${[one]}]`[0]).toBe('[_v0, _v1, _v2]');
      }),
    );
  });
});
