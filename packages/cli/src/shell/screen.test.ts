import { expect, test } from '@jest/globals';
import { type EditorState, emptyEditor } from './editor.js';
import { clip, draw, type View } from './screen.js';
import { coloured, colourless } from './style.js';
import { textWidth } from './text-width.js';

const VIEW: View = { prompt: 'n //s> ', width: 20, height: 10, paint: colourless, history: ['old query'] };

function state(marked: string, more: Partial<EditorState> = {}): EditorState {
  const cursor = marked.indexOf('¦');
  return { ...emptyEditor([]), text: marked.replace('¦', ''), cursor, ...more };
}

test.each([
  ['1 + 1¦', ['n //s> 1 + 1'], [0, 12]],
  ['a(¦\n  b)', ['n //s> a(', '     .   b)'], [0, 9]],
  // The row is full: the cursor goes to the next one.
  ['1234567890123¦', ['n //s> 1234567890123', ''], [1, 0]],
  ['12345678901234¦5', ['n //s> 1234567890123', '45'], [1, 1]],
  // A wide character is not divided.
  ['123456789012日¦', ['n //s> 123456789012', '日'], [1, 2]],
  ['日本¦', ['n //s> 日本'], [0, 11]],
  ['e\u0301¦', ['n //s> e\u0301'], [0, 8]],
  ['\t¦', ['n //s>     '], [0, 11]],
  ["'\u001b[2J'¦", ["n //s> '␛[2J'"], [0, 13]],
])('%j', (marked, rows, cursor) => {
  const screen = draw(state(marked), VIEW);
  expect(screen.rows).toEqual(rows);
  expect([screen.cursorRow, screen.cursorColumn]).toEqual(cursor);
});

test('a text that is higher than the terminal is shown around the cursor', () => {
  const lines = Array.from({ length: 100 }, (_, index) => String(index)).join('\n');
  const screen = draw({ ...emptyEditor([]), text: lines, cursor: lines.indexOf('\n50\n') + 1 }, VIEW);
  expect(screen.rows).toHaveLength(VIEW.height);
  expect(screen.rows[screen.cursorRow]?.trim()).toBe('. 50');
});

test('colours go on from lines that are not on the screen', () => {
  const lines = ["'open"].concat(Array.from({ length: 100 }, () => 'x'));
  const { rows, cursorRow } = draw(state(`${lines.join('\n')}¦`), { ...VIEW, paint: coloured });
  expect(rows).toHaveLength(VIEW.height);
  expect(cursorRow).toBe(VIEW.height - 1);
  expect(rows[cursorRow]).toContain('\u001b[32mx');
});

test('a search shows what it found', () => {
  const { rows } = draw({ ...emptyEditor(['old query']), search: { query: 'que', found: 0 } }, VIEW);
  expect(rows).toEqual(['n //s> old query', 'search: que']);
});

test('a menu shows names, the chosen one, and how to call what the cursor is in', () => {
  const item = (label: string) => ({
    label,
    kind: 'function' as const,
    detail: `${label}()`,
    doc: 'Doc.',
    insert: label,
  });
  const completions = { from: 0, to: 1, items: [item('range'), item('rand')], call: null };
  const { rows } = draw(state('r¦', { menu: { completions, chosen: 1 } }), {
    ...VIEW,
    width: 40,
    paint: coloured,
  });
  expect(rows.slice(1)).toEqual([
    '\u001b[2m range  range()  Doc.\u001b[0m',
    '\u001b[7m rand   rand()  Doc.\u001b[0m',
  ]);
});

test('texts are clipped by cells', () => {
  expect(clip('日本語', 5)).toBe('日本…');
  expect(clip('abc', 3)).toBe('abc');
  expect(textWidth(clip('👍👍👍👍', 5))).toBe(5);
});
