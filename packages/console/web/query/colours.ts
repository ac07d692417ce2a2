/**
 * Colours of the language's own tokens, and the bracket that belongs to the one beside the cursor. States at the begin of lines are kept, so that a
 * key reads one line and colours it alone: neither a tree of all of the text nor the other lines are made anew for it.
 */
import { FIRST_LINE, type LineState, type Token, type TokenKind, tokenizeLine } from '@althing/language';
import type { Extension, Line, Range, Text } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';

/** Lines that are read for the state at the begin of another one: behind more of them it is read as if the text began there. */
const READ_BACK = 2000;

/** Changed lines that are coloured one by one. */
const ONE_BY_ONE = 20;

/** UTF-16 units of a line that are read. */
const LINE_MAX = 10_000;

/** Lines in which a bracket's other one is looked for. */
const BRACKET_LINES = 100;

const OPENING = '([{';
const CLOSING = ')]}';

const MARKS: Readonly<Partial<Record<TokenKind, Decoration>>> = {
  comment: markOf('comment'),
  keyword: markOf('keyword'),
  constant: markOf('keyword'),
  number: markOf('number'),
  string: markOf('string'),
  template: markOf('string'),
  regex: markOf('string'),
  call: markOf('number'),
  type: markOf('type'),
  invalid: markOf('invalid'),
};

const MATCHED = markOf('bracket');
const UNMATCHED = markOf('unmatched');

const LOOK = EditorView.theme({
  '.code-comment': { color: 'var(--quiet)', fontStyle: 'italic' },
  '.code-keyword': { color: 'var(--ochre)' },
  '.code-string': { color: 'var(--moss)' },
  '.code-number': { color: 'var(--ice)' },
  '.code-type': { color: 'var(--ochre)', fontWeight: '600' },
  '.code-invalid': { color: 'var(--red)' },
  '.code-bracket': { backgroundColor: 'var(--moss-wash)', outline: '1px solid var(--moss)' },
  '.code-unmatched': { outline: '1px solid var(--red)' },
});

/** States at the begin of the lines of a text. */
export class LineStates {
  /** By line number less one, as far as they are known. */
  private starts: (LineState | undefined)[] = [FIRST_LINE];

  tokensOf(doc: Text, line: Line): readonly Token[] {
    const { tokens, state } = read(line, this.startOf(doc, line.number));
    this.starts[line.number] = state;
    return tokens;
  }

  /**
   * Lines `first` to `lastBefore` became lines `first` to `last` of the text.
   * @returns whether all lines behind them are read as before
   */
  change(doc: Text, first: number, lastBefore: number, last: number): boolean {
    const behind = this.starts.splice(first);
    const before = behind[lastBefore - first];
    let state = this.starts[first - 1];
    if (state === undefined || last - first > ONE_BY_ONE) return false;
    for (let number = first; number <= last; number++) {
      state = read(doc.line(number), state).state;
      this.starts[number] = state;
    }
    if (before?.open !== state.open || before.isAfterOperand !== state.isAfterOperand) return false;
    this.starts = this.starts.concat(behind.slice(lastBefore - first + 1));
    return true;
  }

  private startOf(doc: Text, number: number): LineState {
    const known = this.starts[number - 1];
    if (known !== undefined) return known;
    let from = number - 1;
    while (this.starts[from - 1] === undefined && number - from < READ_BACK) from -= 1;
    let state = this.starts[from - 1] ?? FIRST_LINE;
    for (; from < number; from++) {
      state = read(doc.line(from), state).state;
      this.starts[from] = state;
    }
    return state;
  }
}

class Colours {
  decorations: DecorationSet = Decoration.none;
  brackets: DecorationSet = Decoration.none;
  private readonly states = new LineStates();
  /** The range that has colours now. */
  private from = 0;
  private to = 0;

  constructor(view: EditorView) {
    this.colourAll(view);
  }

  update(update: ViewUpdate): void {
    const { docChanged, selectionSet, view } = update;
    const isColoured = !docChanged || this.change(update);
    const { from, to } = view.viewport;
    if (!isColoured || from < this.from || to > this.to) this.colourAll(view);
    if (docChanged || selectionSet) this.brackets = this.bracketsAt(view);
  }

  /** @returns false when all that is shown must be coloured anew */
  private change({ changes, startState, state }: ViewUpdate): boolean {
    let [fromA, toA, fromB, toB] = [startState.doc.length, 0, state.doc.length, 0];
    changes.iterChangedRanges((beginA, endA, beginB, endB) => {
      fromA = Math.min(fromA, beginA);
      toA = Math.max(toA, endA);
      fromB = Math.min(fromB, beginB);
      toB = Math.max(toB, endB);
    });
    const { doc } = state;
    const [first, last] = [doc.lineAt(fromB), doc.lineAt(toB)];
    if (!this.states.change(doc, first.number, startState.doc.lineAt(toA).number, last.number)) return false;
    this.from = changes.mapPos(this.from, -1);
    this.to = changes.mapPos(this.to, 1);
    const add: Range<Decoration>[] = [];
    for (let { number } = first; number <= last.number; number++) {
      const line = doc.line(number);
      if (line.from >= this.from && line.to <= this.to) this.colour(doc, line, add);
    }
    this.decorations = this.decorations.map(changes).update({
      filterFrom: first.from,
      filterTo: last.to,
      filter: () => false,
      add,
    });
    return true;
  }

  private colourAll({ state: { doc }, viewport: { from, to } }: EditorView): void {
    const all: Range<Decoration>[] = [];
    for (let at = from; at <= to; ) {
      const line = doc.lineAt(at);
      this.colour(doc, line, all);
      at = line.to + 1;
    }
    this.decorations = Decoration.set(all);
    [this.from, this.to] = [from, to];
  }

  private colour(doc: Text, line: Line, into: Range<Decoration>[]): void {
    for (const { kind, start, end } of this.states.tokensOf(doc, line)) {
      const mark = MARKS[kind];
      if (mark !== undefined) into.push(mark.range(line.from + start, line.from + end));
    }
  }

  private bracketsAt({ state: { doc, selection } }: EditorView): DecorationSet {
    const { head, empty } = selection.main;
    if (!empty) return Decoration.none;
    const line = doc.lineAt(head);
    const near = this.bracketsOf(doc, line);
    const at = (place: number): number => near.findIndex(({ from }) => from === place);
    const index = at(head - 1) >= 0 ? at(head - 1) : at(head);
    const one = near[index];
    if (one === undefined) return Decoration.none;
    const step = OPENING.includes(one.text) ? 1 : -1;
    let depth = 0;
    for (let lines = 0, { number } = line; lines < BRACKET_LINES; lines++, number += step) {
      if (number < 1 || number > doc.lines) return Decoration.set([UNMATCHED.range(one.from, one.from + 1)]);
      const found = lines === 0 ? near : this.bracketsOf(doc, doc.line(number));
      let i = lines === 0 ? index : step > 0 ? 0 : found.length - 1;
      for (let other = found[i]; other !== undefined; i += step, other = found[i]) {
        depth += OPENING.includes(other.text) === step > 0 ? 1 : -1;
        if (depth > 0) continue;
        const mark = pairOf(one.text) === pairOf(other.text) ? MATCHED : UNMATCHED;
        return Decoration.set(
          [one, other].map(({ from }) => mark.range(from, from + 1)),
          true,
        );
      }
    }
    return Decoration.none;
  }

  private bracketsOf(doc: Text, line: Line): { readonly from: number; readonly text: string }[] {
    return this.states
      .tokensOf(doc, line)
      .filter(({ kind }) => kind === 'bracket')
      .map(({ start }) => ({ from: line.from + start, text: line.text.charAt(start) }));
  }
}

const COLOURS = ViewPlugin.fromClass(Colours, {
  decorations: ({ decorations }) => decorations,
  provide: (plugin) => EditorView.decorations.of((view) => view.plugin(plugin)?.brackets ?? Decoration.none),
});

export const colours: Extension = [COLOURS, LOOK];

function read({ text }: Line, start: LineState): ReturnType<typeof tokenizeLine> {
  return tokenizeLine(text.length > LINE_MAX ? text.slice(0, LINE_MAX) : text, start);
}

/** Equal for brackets that may belong together. */
function pairOf(bracket: string): number {
  return Math.max(OPENING.indexOf(bracket), CLOSING.indexOf(bracket));
}

function markOf(name: string): Decoration {
  return Decoration.mark({ class: `code-${name}` });
}
