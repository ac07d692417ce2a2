import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CsvError, CsvParser, RECORD_LENGTH_MAX } from './csv.js';

function cellsOf(text: string, separator = ','): (readonly (string | null)[])[] {
  const parser = new CsvParser(separator);
  return [...parser.push(text), ...parser.end()].map(({ cells }) => cells);
}

describe('CSV', () => {
  test.each<[string, (string | null)[][]]>([
    [
      'a,b\nc,d\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'a,b\r\nc,d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['"a,b",c\n', [['a,b', 'c']]],
    ['"a ""b"" c"\n', [['a "b" c']]],
    ['"a\nb",c\n', [['a\nb', 'c']]],
    ['"a\r\nb"\r\n', [['a\r\nb']]],
    [',""\n', [[null, '']]],
    ['a,\n', [['a', null]]],
    ['"a",\n', [['a', null]]],
    ['\n\na\n\n', [['a']]],
    ['""\n', [['']]],
    ['', []],
  ])('%j has these values', (text, cells) => {
    expect(cellsOf(text)).toEqual(cells);
  });

  test('a file with tabs has commas in its values', () => {
    expect(cellsOf('a,b\tc\n', '\t')).toEqual([['a,b', 'c']]);
  });

  test.each([
    ['a\n"b', /line 2: a quote that begins here does not end/],
    ['a\n"b"c\n', /line 2: behind the quote/],
    ['a\nb"c"\n', /line 2: a quote in the middle/],
  ])('%j is refused with its line', (text, why) => {
    expect(() => cellsOf(text)).toThrow(why);
  });

  test('tells the line that a record begins in, also behind values of several lines', () => {
    const parser = new CsvParser(',');
    const records = [...parser.push('"a\nb\nc"\n\nd\n')];
    expect(records.map(({ line }) => line)).toEqual([1, 5]);
  });

  test('a quote without an end is given up before it is all in memory', () => {
    const parser = new CsvParser(',');
    const push = (): void => {
      for (let size = 0; size <= RECORD_LENGTH_MAX; size += 1024 * 1024)
        for (const record of parser.push(`${size === 0 ? '"' : ''}${'x'.repeat(1024 * 1024)}`)) void record;
    };
    expect(push).toThrow(CsvError);
  });

  test('is read alike in pieces of any size, and as it was written', () => {
    const cell = fc.oneof(fc.constant(null), fc.stringMatching(/^[a",\n\r é]{0,6}$/));
    const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 6 });
    fc.assert(
      fc.property(rows, fc.array(fc.nat(7), { minLength: 1 }), (wanted, sizes) => {
        const text = wanted
          .map((row) => row.map((one) => (one === null ? '' : `"${one.replaceAll('"', '""')}"`)).join(','))
          .map((line) => `${line}\n`)
          .join('');
        const parser = new CsvParser(',');
        const found: (readonly (string | null)[])[] = [];
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const size = (sizes[turn % sizes.length] ?? 0) + 1;
          found.push(...[...parser.push(text.slice(at, at + size))].map(({ cells }) => cells));
          at += size;
        }
        expect([...found, ...[...parser.end()].map(({ cells }) => cells)]).toEqual(wanted);
      }),
      { numRuns: 50 },
    );
  });
});
