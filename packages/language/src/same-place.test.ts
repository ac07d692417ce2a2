import { expect, test } from '@jest/globals';
import { compactClosure } from './compact.js';
import { parseClosure } from './parse.js';
import { placesInDefinition } from './same-place.js';

test.each([
  ['|a, b| { x = a + b; /* why */ .list.push(x / 0); [1, 2]; }', '.push(x / 0)'],
  ['|| if (a) f(1) else g(2, h(3))', 'h(3)'],
  ['|x| x', 'x'],
])('%s: %s is found in the layout of definitions', (text, part) => {
  const closure = parseClosure(text);
  const stored = compactClosure(closure, text);
  const compactPart = part.replaceAll(' ', '');
  const start = stored.lastIndexOf(compactPart);
  const found = placesInDefinition(stored)({ start, end: start + compactPart.length });
  expect(found.text.slice(found.start, found.end)).toBe(part);
});

test('a place that is no node is the whole', () => {
  const { text, start, end } = placesInDefinition('|x|x+1')({ start: 1, end: 2 });
  expect(text.slice(start, end)).toBe('|x| x + 1');
});
