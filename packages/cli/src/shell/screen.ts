/** Draws the editor: a state and a width give the rows of a terminal and the place of the cursor in them. */
import { FIRST_LINE, type LineState, signature, type TokenKind, tokenizeLine } from '@althing/language';
import type { EditorState, Menu } from './editor.js';
import type { Paint, Style } from './style.js';
import { graphemes, graphemeWidth, textWidth, visible } from './text-width.js';

export interface View {
  /** In front of the first line; those below are indented as far. */
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
  readonly paint: Paint;
  readonly history: readonly string[];
}

export interface Screen {
  readonly rows: readonly string[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

/** Rows of a menu at most. */
const MENU_ROWS_MAX = 8;
const TAB_WIDTH = 4;

const STYLES: Readonly<Record<TokenKind, Style>> = {
  comment: 'dim',
  keyword: 'magenta',
  constant: 'magenta',
  number: 'cyan',
  string: 'green',
  template: 'green',
  regex: 'red',
  name: 'plain',
  property: 'plain',
  call: 'blue',
  type: 'yellow',
  operator: 'plain',
  bracket: 'plain',
  invalid: 'red',
};

export function draw(state: EditorState, view: View): Screen {
  const found = state.search?.found ?? null;
  const text = found === null ? state.text : (view.history[found] ?? '');
  const cursor = found === null ? state.cursor : Math.max(0, text.indexOf(state.search?.query ?? ''));
  const below = belowText(state, view);
  const { rows, cursorRow, cursorColumn } = layOut(text, cursor, view);
  // Rows that do not fit go off the top or the bottom; the row of the cursor stays.
  const room = Math.max(1, view.height - below.length);
  const first = Math.max(0, Math.min(cursorRow - Math.floor(room / 2), rows.length - room));
  return {
    rows: [...rows.slice(first, first + room), ...below],
    cursorRow: cursorRow - first,
    cursorColumn,
  };
}

/** The rows of the lines around the cursor, more than a screen of them: in a long text the others are not drawn. */
function layOut(text: string, cursor: number, view: View): Screen {
  const out = new Rows(view.width);
  const indent = textWidth(view.prompt);
  const lines = text.split('\n');
  const cursorLine = newlinesIn(text, cursor);
  const firstLine = Math.max(0, cursorLine - view.height);
  let offset = 0;
  let lineState: LineState = FIRST_LINE;
  for (const [index, line] of lines.slice(0, cursorLine + view.height + 1).entries()) {
    if (index < firstLine) {
      if (!line.startsWith('\\') || index > 0) lineState = tokenizeLine(line, lineState).state;
      offset += line.length + 1;
      continue;
    }
    if (index > firstLine) out.newRow();
    const margin = index === 0 ? view.prompt : '. '.padStart(indent);
    for (const grapheme of graphemes(margin)) out.put(grapheme, graphemeWidth(grapheme), 'bold');
    // A line that is a command of the shell is no code.
    const isCommand = index === 0 && line.startsWith('\\');
    const { tokens, state } = isCommand ? { tokens: [], state: FIRST_LINE } : tokenizeLine(line, lineState);
    lineState = state;
    let at = 0;
    let token = 0;
    for (const grapheme of graphemes(line)) {
      if (offset + at >= cursor) out.markCursor();
      while ((tokens[token]?.end ?? Number.POSITIVE_INFINITY) <= at) token += 1;
      const current = tokens[token];
      const style = current !== undefined && current.start <= at ? STYLES[current.kind] : 'plain';
      if (grapheme === '\t') out.put(' '.repeat(TAB_WIDTH), TAB_WIDTH, style);
      else {
        const shown = visible(grapheme);
        out.put(shown, textWidth(shown), style);
      }
      at += grapheme.length;
    }
    if (offset + at >= cursor) out.markCursor();
    offset += line.length + 1;
  }
  return out.finish(view.paint);
}

/** Newlines before a place. */
function newlinesIn(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Collects cells into rows, and runs of one style into pieces. */
class Rows {
  private readonly rows: { text: string; style: Style }[][] = [[]];
  private column = 0;
  private cursor: { row: number; column: number } | null = null;

  constructor(private readonly width: number) {}

  put(text: string, width: number, style: Style): void {
    if (this.column + width > this.width && this.column > 0) this.newRow();
    const row = this.rows[this.rows.length - 1] ?? [];
    const last = row.at(-1);
    if (last?.style === style) last.text += text;
    else row.push({ text, style });
    this.column += width;
  }

  newRow(): void {
    this.rows.push([]);
    this.column = 0;
  }

  markCursor(): void {
    if (this.cursor !== null) return;
    // Behind a full row the cursor stands at the beginning of the next one.
    if (this.column >= this.width) this.newRow();
    this.cursor = { row: this.rows.length - 1, column: this.column };
  }

  finish(paint: Paint): Screen {
    return {
      rows: this.rows.map((row) => row.map(({ text, style }) => paint(style, text)).join('')),
      cursorRow: this.cursor?.row ?? this.rows.length - 1,
      cursorColumn: this.cursor?.column ?? this.column,
    };
  }
}

function belowText(state: EditorState, view: View): string[] {
  if (state.search !== null) {
    const { query, found } = state.search;
    const failed = query !== '' && found === null ? 'nothing found for ' : 'search: ';
    return [view.paint('dim', clip(`${failed}${visible(query)}`, view.width))];
  }
  return state.menu === null ? [] : menuRows(state.menu, view);
}

function menuRows({ completions, chosen }: Menu, { width, height, paint }: View): string[] {
  const room = Math.max(1, Math.min(MENU_ROWS_MAX, height - 3));
  const { items, call } = completions;
  const first = Math.max(0, Math.min(chosen - Math.floor(room / 2), items.length - room));
  const shown = items.slice(first, first + room);
  const labelWidth = Math.max(...shown.map(({ label }) => textWidth(label)));
  const rows = shown.map(({ label, detail, doc }, index) => {
    const blanks = ' '.repeat(labelWidth - textWidth(label));
    const note = visible([detail, doc].filter((part) => part !== '').join('  '));
    const line = clip(` ${visible(label)}${blanks}  ${note.replaceAll('\n', ' ')}`, width - 1);
    return paint(first + index === chosen ? 'reverse' : 'dim', line);
  });
  if (items.length > shown.length) rows.push(paint('dim', clip(` ${items.length} names`, width - 1)));
  if (call !== null)
    rows.unshift(paint('dim', clip(` ${signature(call.info)}  ${call.info.doc}`, width - 1)));
  return rows;
}

/** The beginning of a text that fits into so many cells, with dots when something is left out. */
export function clip(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let shown = '';
  let cells = 0;
  for (const grapheme of graphemes(text)) {
    cells += graphemeWidth(grapheme);
    if (cells > width - 1) break;
    shown += grapheme;
  }
  return `${shown}…`;
}
