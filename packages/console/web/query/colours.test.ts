import { FIRST_LINE, tokenizeLine } from '@althing/language';
import { Text } from '@codemirror/state';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LineStates } from './colours.js';

/** Lines that leave something open, close it, or do neither. */
const LINES = ['.a;', "'", '`{', '} `', '/* x', '*/ y', '', '/ 2', 'x = 1 +', '"a" // b'];

const line = fc.constantFrom(...LINES);
const change = fc.record({
  at: fc.nat(40),
  lines: fc.nat(3),
  by: fc.array(line, { minLength: 1, maxLength: 3 }),
  looks: fc.boolean(),
});

test('lines have the tokens of a text that is read from its begin, whatever was changed before', () => {
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 30 }), fc.array(change), (begin, changes) => {
      let lines = begin;
      const states = new LineStates();
      const tokensOf = (doc: Text, number: number) => states.tokensOf(doc, doc.line(number));
      for (const { at, lines: count, by, looks } of changes) {
        const first = Math.min(at, lines.length - 1);
        const last = Math.min(first + count, lines.length - 1);
        const before = tokensOfAll(lines);
        lines = [...lines.slice(0, first), ...by, ...lines.slice(last + 1)];
        const doc = Text.of(lines);
        const after = tokensOfAll(lines);
        if (states.change(doc, first + 1, last + 1, first + by.length))
          expect(after.slice(first + by.length)).toEqual(before.slice(last + 1));
        if (looks) expect(tokensOf(doc, lines.length)).toEqual(after.at(-1));
      }
      const doc = Text.of(lines);
      expect(lines.map((_, i) => tokensOf(doc, i + 1))).toEqual(tokensOfAll(lines));
    }),
  );
});

function tokensOfAll(lines: readonly string[]): unknown[] {
  let state = FIRST_LINE;
  return lines.map((text) => {
    const read = tokenizeLine(text, state);
    state = read.state;
    return read.tokens;
  });
}
