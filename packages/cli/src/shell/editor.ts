/**
 * The editor of the prompt as a pure function: a state and a key give the next state, and what the shell is asked to do. It knows nothing
 * of terminals; `screen.ts` draws a state. Keys are those of readline.
 */
import type { Completion, Completions } from '@althing/language';
import {
  indentAt,
  isWord,
  lineEnd,
  lineStart,
  stepLeft,
  stepRight,
  wholeOffset,
  wordLeft,
  wordRight,
} from './text-offsets.js';

/**
 * A key as `emitKeypressEvents` of `node:readline` reports it; `sequence` is the text to insert for a key without a name. A whole paste is
 * one key named `paste`.
 */
export interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
  readonly shift?: boolean | undefined;
}

interface Revision {
  readonly text: string;
  readonly cursor: number;
}

/** Completions that are offered, and the one that is chosen. */
export interface Menu {
  readonly completions: Completions;
  readonly chosen: number;
}

/** A search through the history, newest first. */
export interface Search {
  readonly query: string;
  /** Index of the entry that is shown; null when nothing fits. */
  readonly found: number | null;
}

/** All offsets in UTF-16 units. Invariant: `0 <= cursor <= text.length`, never within a surrogate pair. */
export interface EditorState {
  readonly text: string;
  readonly cursor: number;
  /** Column that moving up and down keeps, in UTF-16 units; null when the last key did something else. */
  readonly goal: number | null;
  readonly killed: string;
  readonly revisions: readonly Revision[];
  /** True if Ctrl-X was pressed last. */
  readonly isPrefixed: boolean;
  /** True if Ctrl-C was pressed last, on an empty text. */
  readonly isLeaving: boolean;
  /** Place in the history, which its length stands for the text that is being written. */
  readonly place: number;
  /** The text that was being written before the history was looked through. */
  readonly draft: string;
  readonly search: Search | null;
  readonly menu: Menu | null;
}

export type Request =
  | 'none'
  /** The text is whole, and to be sent. */
  | 'submit'
  /** Ctrl-C: the text was given up. */
  | 'cancel'
  /** Ctrl-C on an empty text: a second one leaves. */
  | 'warn'
  /** Ctrl-D, or a second Ctrl-C, on an empty text. */
  | 'end'
  /** Tab: `offer` takes the completions. */
  | 'complete'
  /** Ctrl-X Ctrl-E: the text belongs into $EDITOR; `replace` takes it back. */
  | 'edit'
  /** Ctrl-L. */
  | 'clear'
  /** A key that can do nothing here. */
  | 'bell';

export interface Step {
  readonly state: EditorState;
  readonly request: Request;
}

export interface EditorContext {
  /** Earlier texts, the oldest first. */
  readonly history: readonly string[];
  /** True if Enter begins a new line in place of sending the text. */
  isIncomplete(text: string): boolean;
}

/** Longest text that the editor takes, in UTF-16 units; longer ones come by a file. */
export const TEXT_LENGTH_MAX = 4 * 1024 ** 2;
/** Steps that can be undone. */
const REVISIONS_MAX = 200;

export function emptyEditor(history: readonly string[], killed = ''): EditorState {
  return {
    text: '',
    cursor: 0,
    goal: null,
    killed,
    revisions: [],
    isPrefixed: false,
    isLeaving: false,
    place: history.length,
    draft: '',
    search: null,
    menu: null,
  };
}

/** The state behind a key. */
export function press(state: EditorState, key: Key, context: EditorContext): Step {
  if (key.name === 'paste') return paste(state, key);
  if (state.search !== null) return pressInSearch(state, state.search, key, context);
  if (state.menu !== null) return pressInMenu(state, state.menu, key, context);
  return pressInText(state, key, context);
}

/** Puts completions in: a single one, or what all have in common, at once; several as a menu. */
export function offer(state: EditorState, completions: Completions): Step {
  const { from, to, items } = completions;
  const [first, second] = items;
  if (first === undefined) return { state, request: 'bell' };
  if (second === undefined) return only(change(state, from, to, first.insert));
  const common = commonStart(items.map(({ label }) => label));
  if (common.length > to - from && common.startsWith(state.text.slice(from, to))) {
    const written = change(state, from, to, common);
    return only({
      ...written,
      menu: { completions: { ...completions, to: from + common.length }, chosen: -1 },
    });
  }
  return only({ ...state, menu: { completions, chosen: -1 } });
}

/** The state with another text, as a step that can be undone. */
export function replace(state: EditorState, text: string): EditorState {
  return change(state, 0, state.text.length, text);
}

function interrupt({ text, killed, isLeaving }: EditorState, { history }: EditorContext): Step {
  const state = emptyEditor(history, killed);
  if (text !== '') return { state, request: 'cancel' };
  return isLeaving ? { state, request: 'end' } : { state: { ...state, isLeaving: true }, request: 'warn' };
}

function pressInText(state: EditorState, key: Key, context: EditorContext): Step {
  const { text, cursor } = state;
  const plain: EditorState = { ...state, isPrefixed: false, isLeaving: false };
  if (state.isPrefixed) {
    if (key.ctrl === true && key.name === 'e') return { state: plain, request: 'edit' };
    return { state: plain, request: 'bell' };
  }
  if (key.ctrl === true && key.name === 'c') return interrupt(state, context);
  if (key.ctrl === true) return pressWithControl(plain, key, context);
  if (key.meta === true) return pressWithMeta(plain, key);
  switch (key.name) {
    case 'return':
    case 'enter':
      if (context.isIncomplete(text)) return only(insert(plain, `\n${indentAt(text, cursor)}`));
      return { state: plain, request: 'submit' };
    case 'backspace':
      return only(kill(plain, stepLeft(text, cursor), cursor, false));
    case 'delete':
      return only(kill(plain, cursor, stepRight(text, cursor), false));
    case 'left':
      return only(moved(plain, stepLeft(text, cursor)));
    case 'right':
      return only(moved(plain, stepRight(text, cursor)));
    case 'home':
      return only(moved(plain, lineStart(text, cursor)));
    case 'end':
      return only(moved(plain, lineEnd(text, cursor)));
    case 'up':
      return vertical(plain, -1, context);
    case 'down':
      return vertical(plain, 1, context);
    case 'tab':
      // In the indent of a line a tab is an indent.
      if (text.slice(lineStart(text, cursor), cursor).trim() === '') return only(insert(plain, '  '));
      return { state: plain, request: 'complete' };
    case 'escape':
    case 'insert':
      return only(plain);
    default:
      return typed(plain, key);
  }
}

function typed(state: EditorState, { sequence = '', name }: Key): Step {
  const isText = sequence !== '' && !CONTROL.test(sequence) && name !== 'undefined';
  return isText ? only(insert(state, sequence)) : { state, request: 'none' };
}

const CONTROL = /\p{Cc}/u;

function pressWithControl(state: EditorState, key: Key, context: EditorContext): Step {
  const { text, cursor } = state;
  switch (key.name) {
    case 'a':
      return only(moved(state, lineStart(text, cursor)));
    case 'e':
      return only(moved(state, lineEnd(text, cursor)));
    case 'b':
      return only(moved(state, stepLeft(text, cursor)));
    case 'f':
      return only(moved(state, stepRight(text, cursor)));
    case 'left':
      return only(moved(state, wordLeft(text, cursor)));
    case 'right':
      return only(moved(state, wordRight(text, cursor)));
    case 'h':
      return only(kill(state, stepLeft(text, cursor), cursor, false));
    case 'd':
      if (text === '') return { state, request: 'end' };
      return only(kill(state, cursor, stepRight(text, cursor), false));
    case 'k': {
      const end = lineEnd(text, cursor);
      return only(kill(state, cursor, end === cursor ? Math.min(end + 1, text.length) : end));
    }
    case 'u':
      return only(kill(state, lineStart(text, cursor), cursor));
    case 'w':
      return only(kill(state, wordLeft(text, cursor), cursor));
    case 'y':
      return only(insert(state, state.killed));
    case 'p':
      return recall(state, state.place - 1, context);
    case 'n':
      return recall(state, state.place + 1, context);
    case 'r':
      return only({ ...state, search: { query: '', found: null } });
    case 'x':
      return only({ ...state, isPrefixed: true });
    case 'j':
      return pressInText(state, { name: 'return' }, context);
    case 'l':
      return { state, request: 'clear' };
    case '_':
    case '-':
      return undone(state);
    default:
      return key.sequence === '\x1f' ? undone(state) : { state, request: 'none' };
  }
}

function pressWithMeta(state: EditorState, key: Key): Step {
  const { text, cursor } = state;
  switch (key.name) {
    case 'return':
    case 'enter':
      return only(insert(state, `\n${indentAt(text, cursor)}`));
    case 'b':
    case 'left':
      return only(moved(state, wordLeft(text, cursor)));
    case 'f':
    case 'right':
      return only(moved(state, wordRight(text, cursor)));
    case 'd':
      return only(kill(state, cursor, wordRight(text, cursor)));
    case 'backspace':
      return only(kill(state, wordLeft(text, cursor), cursor));
    default:
      return { state, request: 'none' };
  }
}

function pressInMenu(state: EditorState, menu: Menu, key: Key, context: EditorContext): Step {
  const { items } = menu.completions;
  const choose = (chosen: number): Step =>
    only({ ...state, menu: { ...menu, chosen: (chosen + items.length) % items.length } });
  if (key.name === 'tab' && key.shift !== true) return choose(menu.chosen + 1);
  if (key.name === 'down' && menu.chosen >= 0) return choose(menu.chosen + 1);
  if (key.name === 'tab' || (key.name === 'up' && menu.chosen >= 0))
    return choose(Math.max(menu.chosen, 0) - 1);
  const closed: EditorState = { ...state, menu: null };
  if (key.name === 'escape' || (key.ctrl === true && (key.name === 'g' || key.name === 'c')))
    return only(closed);
  const item: Completion | undefined = items[menu.chosen];
  if ((key.name === 'return' || key.name === 'enter') && item !== undefined) {
    return only(change(closed, menu.completions.from, menu.completions.to, item.insert));
  }
  return pressInText(closed, key, context);
}

function pressInSearch(state: EditorState, search: Search, key: Key, context: EditorContext): Step {
  const { history } = context;
  const find = (query: string, below: number): Step => {
    const found = query === '' ? -1 : history.slice(0, below).findLastIndex((entry) => entry.includes(query));
    if (found < 0 && search.found !== null && query === search.query) return { state, request: 'bell' };
    return only({ ...state, search: { query, found: found < 0 ? null : found } });
  };
  const entry = search.found === null ? undefined : history[search.found];
  const closed: EditorState = { ...state, search: null };
  if (key.ctrl === true && key.name === 'r') return find(search.query, search.found ?? history.length);
  if (key.name === 'escape' || (key.ctrl === true && (key.name === 'g' || key.name === 'c')))
    return only(closed);
  if (key.name === 'backspace') return find([...search.query].slice(0, -1).join(''), history.length);
  const { sequence = '' } = key;
  if (key.ctrl !== true && key.meta !== true && sequence !== '' && !CONTROL.test(sequence)) {
    return find(search.query + sequence, history.length);
  }
  if (entry === undefined) return only(closed);
  const taken: EditorState = {
    ...change(closed, 0, closed.text.length, entry),
    place: search.found ?? history.length,
  };
  // Every other key goes on with what was found; Enter sends it only when it is seen in the text.
  return key.name === 'return' || key.name === 'enter' ? only(taken) : pressInText(taken, key, context);
}

function paste(state: EditorState, { sequence = '' }: Key): Step {
  const text = sequence.replaceAll(/\r\n?/g, '\n').replaceAll(PASTE_REFUSED, '');
  const isTooLong = state.text.length + text.length > TEXT_LENGTH_MAX;
  return isTooLong ? { state, request: 'bell' } : only(insert({ ...state, menu: null, search: null }, text));
}

const PASTE_REFUSED = /(?![\n\t])\p{Cc}/gu;

function vertical(state: EditorState, by: -1 | 1, context: EditorContext): Step {
  const { text, cursor } = state;
  const start = lineStart(text, cursor);
  const goal = state.goal ?? cursor - start;
  const end = lineEnd(text, cursor);
  if (by < 0 && start === 0) return recall(state, state.place - 1, context);
  if (by > 0 && end === text.length) return recall(state, state.place + 1, context);
  const other = by < 0 ? lineStart(text, start - 1) : end + 1;
  const target = wholeOffset(text, Math.min(other + goal, lineEnd(text, other)));
  return only({ ...state, cursor: target, goal });
}

function recall(state: EditorState, place: number, { history }: EditorContext): Step {
  if (place < 0 || place > history.length) return { state, request: 'bell' };
  const draft = state.place === history.length ? state.text : state.draft;
  const text = history[place] ?? draft;
  return only({ ...state, text, cursor: text.length, goal: null, place, draft, revisions: [] });
}

function undone(state: EditorState): Step {
  const revision = state.revisions.at(-1);
  if (revision === undefined) return { state, request: 'bell' };
  return only({ ...state, ...revision, goal: null, revisions: state.revisions.slice(0, -1) });
}

function insert(state: EditorState, text: string): EditorState {
  return change(state, state.cursor, state.cursor, text);
}

function kill(state: EditorState, from: number, to: number, keep = true): EditorState {
  if (from === to) return state;
  const killed = keep ? state.text.slice(from, to) : state.killed;
  return { ...change(state, from, to, ''), killed };
}

function change(state: EditorState, from: number, to: number, text: string): EditorState {
  const next = state.text.slice(0, from) + text + state.text.slice(to);
  if (next.length > TEXT_LENGTH_MAX) return state;
  // Letters of one word are undone together.
  const goesOn = from === to && from === state.cursor && isWordStep(state, text);
  return {
    ...state,
    text: next,
    cursor: from + text.length,
    goal: null,
    revisions: goesOn ? state.revisions : revised(state),
  };
}

function revised({ revisions, text, cursor }: EditorState): readonly Revision[] {
  return [...revisions, { text, cursor }].slice(-REVISIONS_MAX);
}

function isWordStep({ text, cursor }: EditorState, typedText: string): boolean {
  return /^\w$/.test(typedText) && cursor > 0 && isWord(text, cursor - 1);
}

function moved(state: EditorState, cursor: number): EditorState {
  return { ...state, cursor, goal: null };
}

function only(state: EditorState): Step {
  return { state, request: 'none' };
}

function commonStart(labels: readonly string[]): string {
  const [first = ''] = labels;
  let length = first.length;
  for (const label of labels) {
    while (!label.startsWith(first.slice(0, length))) length -= 1;
  }
  return first.slice(0, length);
}
