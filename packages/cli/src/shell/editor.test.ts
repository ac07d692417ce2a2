import type { Completions } from '@althing/language';
import { describe, expect, test } from '@jest/globals';
import {
  type EditorContext,
  type EditorState,
  emptyEditor,
  type Key,
  offer,
  press,
  type Request,
} from './editor.js';

const HISTORY = ['first', 'second\nline', 'third'];
const CONTEXT: EditorContext = { history: HISTORY, isIncomplete: (text) => text.endsWith('(') };

const NAMED: Readonly<Record<string, Key>> = {
  enter: { name: 'return', sequence: '\r' },
  'alt-enter': { name: 'return', meta: true },
  tab: { name: 'tab', sequence: '\t' },
  'shift-tab': { name: 'tab', shift: true },
  undo: { sequence: '\x1f', ctrl: true },
  paste: { name: 'paste', sequence: 'a\r  b(\t\u0007\r\nc' },
};

/** `abc` types letters; `<left>`, `<ctrl-a>`, `<alt-b>` press keys. A bar stands for the cursor in what comes out. */
function keysOf(script: string): Key[] {
  return Array.from(script.matchAll(/<([a-z-]+)>|([\s\S])/gu), ([, name, letter]): Key => {
    if (name === undefined) return { name: letter, sequence: letter };
    const known = NAMED[name];
    if (known !== undefined) return known;
    const [prefix, base] = name.includes('-') ? name.split('-') : ['', name];
    return { name: base, ctrl: prefix === 'ctrl', meta: prefix === 'alt', sequence: '' };
  });
}

function run(script: string, state = emptyEditor(HISTORY)): { state: EditorState; request: Request } {
  let step: { state: EditorState; request: Request } = { state, request: 'none' };
  for (const key of keysOf(script)) step = press(step.state, key, CONTEXT);
  return step;
}

function shown({ text, cursor }: EditorState): string {
  return `${text.slice(0, cursor)}¦${text.slice(cursor)}`;
}

describe('keys', () => {
  test.each([
    ['abc', 'abc¦'],
    ['abc<left><left>X', 'aX¦bc'],
    ['abc<ctrl-a>X<ctrl-e>Y', 'XabcY¦'],
    ['abc<backspace><backspace>', 'a¦'],
    ['abc<home><delete>', '¦bc'],
    ['a<backspace><backspace>', '¦'],
    ['one two three<ctrl-w>', 'one two ¦'],
    ['one two<alt-b>X', 'one X¦two'],
    ['one two<home><alt-f>X', 'oneX¦ two'],
    ['one two<home><alt-d>', '¦ two'],
    ['one two<ctrl-u><ctrl-y><ctrl-y>', 'one twoone two¦'],
    ['one two<home><ctrl-k>', '¦'],
    ['f(<enter>1)', 'f(\n  1)¦'],
    ['abc<alt-enter>d', 'abc\nd¦'],
    ['abc<alt-enter>de<up>X', 'abX¦c\nde'],
    ['abcd<alt-enter>e<alt-enter>fghi<up><up>X', 'abcdX¦\ne\nfghi'],
    ['abc<alt-enter>d<ctrl-a><ctrl-k>', 'abc\n¦'],
    ['abc<alt-enter>d<up><ctrl-e><ctrl-k>', 'abc¦d'],
    ['é👨‍👩‍👧x<left><left>Y', 'éY¦👨‍👩‍👧x'],
    ['👨‍👩‍👧<backspace>', '¦'],
    ['abc def<undo>', 'abc ¦'],
    ['abc<ctrl-w><undo>', 'abc¦'],
    ['<tab>x', '  x¦'],
    ['<paste>', 'a\n  b(\t\nc¦'],
    ['xy<paste><undo>', 'xy¦'],
    ['xy<left><paste>', 'xa\n  b(\t\nc¦y'],
    ['x<ctrl-r>fi<paste>', 'xa\n  b(\t\nc¦'],
    ['<up>', 'third¦'],
    ['<up><up>', 'second\nline¦'],
    ['<up><up><up><up>', 'first¦'],
    ['draft<ctrl-p><ctrl-p><ctrl-n><ctrl-n>', 'draft¦'],
    ['<ctrl-r>sec<enter>', 'second\nline¦'],
    ['<ctrl-r>ir<ctrl-r><enter>', 'first¦'],
    ['<ctrl-r>nothing<escape>x', 'x¦'],
    ['<ctrl-r>thi<left>X', 'thirX¦d'],
  ])('%s', (script, expected) => {
    expect(shown(run(script).state)).toBe(expected);
  });

  test.each<[string, Request]>([
    ['1 + 1<enter>', 'submit'],
    ['f(<enter>', 'none'],
    ['abc<ctrl-c>', 'cancel'],
    ['<ctrl-c>', 'warn'],
    ['<ctrl-c><ctrl-c>', 'end'],
    ['abc<ctrl-c><ctrl-c>', 'warn'],
    ['<ctrl-c>a<backspace><ctrl-c>', 'warn'],
    ['<ctrl-d>', 'end'],
    ['abc<ctrl-d>', 'none'],
    ['ra<tab>', 'complete'],
    ['abc<ctrl-x><ctrl-e>', 'edit'],
    ['<ctrl-x>e', 'bell'],
    ['<ctrl-l>', 'clear'],
    ['<undo>', 'bell'],
    ['<ctrl-n>', 'bell'],
    ['<paste>', 'none'],
  ])('%s asks for %s', (script, request) => {
    expect(run(script).request).toBe(request);
  });

  test('text that Ctrl-C gave up is gone, and text that was killed is kept', () => {
    expect(shown(run('one<ctrl-u>abc<ctrl-c><ctrl-y>').state)).toBe('one¦');
  });
});

describe('completions', () => {
  const item = (label: string) => ({
    label,
    kind: 'function' as const,
    detail: '',
    doc: '',
    insert: `${label}(`,
  });
  const completions = (...labels: string[]): Completions => ({
    from: 0,
    to: 2,
    items: labels.map(item),
    call: null,
  });

  test('a single one is written', () => {
    expect(shown(offer(run('ra').state, completions('range')).state)).toBe('range(¦');
  });

  test('the beginning that several names have in common is written, and Tab walks through them', () => {
    const offered = offer(run('ra').state, completions('random', 'rand')).state;
    expect(shown(offered)).toBe('rand¦');
    expect(shown(run('<tab><tab><enter>', offered).state)).toBe('rand(¦');
    expect(shown(run('<shift-tab><enter>', offered).state)).toBe('rand(¦');
    expect(shown(run('<tab><escape>x', offered).state)).toBe('randx¦');
    expect(run('<tab><escape>', offered).state.menu).toBeNull();
  });

  test('typing closes the menu', () => {
    const { state } = run('n', offer(run('ra').state, completions('range', 'random')).state);
    expect([shown(state), state.menu]).toEqual(['rann¦', null]);
  });

  test('none rings the bell', () => {
    expect(offer(run('ra').state, completions()).request).toBe('bell');
  });
});
