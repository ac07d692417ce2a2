/** The editor, and when it tells the page what is typed: what a key takes until its frame comes before everything else. */

import { complete, contextAt } from '@althing/language';
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  insertBracket,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { type Diagnostic, linter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import {
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import { StyleModule } from 'style-mod';
import { judge } from '../results/remote.js';
import { catalogueOf, knowKeys } from './catalogue.js';
import { colours } from './colours.js';
import { formatted } from './format.js';

export interface EditorOptions {
  readonly parent: HTMLElement;
  readonly text: string;
  readonly scope: () => string;
  readonly isReadOnly?: boolean;
  readonly changed: (text: string) => void;
  readonly run: (selected: string | null) => void;
}

/** An editor, as the page uses it. */
export interface Editor {
  /** The text now; `changed` is told of it a moment later. */
  text(): string;
  /** The selected text; null for none. */
  selected(): string | null;
  format(): void;
  /** Marks a place in the text, in code points, until the text changes. */
  mark(offset: number, length: number, message: string): void;
  focus(): void;
  destroy(): void;
}

/** The pause in typing before mistakes are shown, in milliseconds. */
const LINT_MS = 200;

/**
 * Milliseconds until the page is told of a new text: after a pause, and at most, while somebody types. To draw it anew and to judge a long
 * text takes as long as a key may.
 */
const TELL_MS = { pause: 220, most: 450 };

/** Completions that are drawn at a time, around the chosen one; ten are to be seen. */
const OPTIONS_MAX = 12;

/** The styles of all editors. */
const styles = new CSSStyleSheet();

/**
 * CodeMirror writes `<style>`, which the page's policy forbids. In a shadow root it makes a sheet like this one by itself; but there Chromium
 * lays out the page each time when the selection is read, which is at each key.
 */
StyleModule.mount = (_root, modules) => {
  styles.replaceSync(
    [modules]
      .flat()
      .map((each) => each.getRules())
      .join('\n'),
  );
  document.adoptedStyleSheets = [styles];
};

export function makeEditor(options: EditorOptions): Editor {
  const { parent, text, changed, run } = options;
  const selected = (): string | null => {
    const { from, to, empty } = view.state.selection.main;
    return empty ? null : view.state.sliceDoc(from, to);
  };
  const format = (): boolean => {
    const before = view.state.doc.toString();
    const after = formatted(before);
    if (after !== null && after !== before)
      view.dispatch({ changes: { from: 0, to: before.length, insert: after } });
    return true;
  };
  let telling: ReturnType<typeof setTimeout> | undefined;
  let untoldSince = 0;
  const tell = (): void => {
    if (telling === undefined) return;
    clearTimeout(telling);
    telling = undefined;
    changed(view.state.doc.toString());
  };
  const tellLater = (): void => {
    if (telling === undefined) untoldSince = performance.now();
    clearTimeout(telling);
    const leftMs = untoldSince + TELL_MS.most - performance.now();
    telling = setTimeout(tell, Math.max(0, Math.min(TELL_MS.pause, leftMs)));
  };
  // Before those listen that keep the text.
  addEventListener('pagehide', tell, true);
  const running = (what: () => string | null) => (): boolean => {
    run(what());
    return true;
  };
  const keys = [
    { key: 'Mod-Enter', run: running(() => null) },
    { key: 'Shift-Enter', run: running(selected) },
    { key: 'Alt-Shift-f', run: format },
  ];
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of(keys),
        lineNumbers(),
        highlightSpecialChars(),
        history(),
        closeBrackets(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        placeholder('.guests.filter(|g| g.age >= 18)'),
        autocompletion({
          override: [(context) => completions(context, options.scope())],
          icons: false,
          maxRenderedOptions: OPTIONS_MAX,
        }),
        linter(mistakesIn, { delay: LINT_MS }),
        // Tab is not among them: it leaves the editor.
        keymap.of([
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...completionKeymap,
        ]),
        colours,
        look,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'Query code', spellcheck: 'false' }),
        EditorState.readOnly.of(options.isReadOnly ?? false),
        EditorView.domEventHandlers({ beforeinput: typeIn, blur: tell }),
        EditorView.updateListener.of(({ docChanged }) => {
          if (docChanged) tellLater();
        }),
      ],
    }),
  });
  return {
    selected,
    text: () => view.state.doc.toString(),
    format: () => void format(),
    mark: (offset, length, message) => {
      const source = view.state.doc.toString();
      const from = unitsOf(source, offset);
      const to = Math.max(from + 1, unitsOf(source, offset + length));
      const end = Math.min(to, source.length);
      view.dispatch(
        setDiagnostics(view.state, [{ from: Math.min(from, end), to: end, severity: 'error', message }]),
      );
    },
    focus: () => view.focus(),
    destroy: () => {
      tell();
      removeEventListener('pagehide', tell, true);
      view.destroy();
    },
  };
}

/**
 * Puts in what is typed. Where the browser does it, it looks through all of the text for the place, twice for each key; and in the place of
 * a selection it keeps the look of what was there in a style of its own, which the page's policy refuses and reports. Input methods, which
 * compose, are left to it.
 */
function typeIn(event: InputEvent, view: EditorView): boolean {
  const { inputType, data, isComposing } = event;
  if (inputType !== 'insertText' || data === null || isComposing || view.state.readOnly) return false;
  event.preventDefault();
  const { state } = view;
  view.dispatch(
    insertBracket(state, data) ?? state.update(state.replaceSelection(data), { userEvent: 'input.type' }),
  );
  return true;
}

/** The worker looks for it: to parse a long text takes longer than a key may. */
async function mistakesIn({ state }: EditorView): Promise<Diagnostic[]> {
  const verdict = await judge(state.doc.toString(), '', null);
  if (verdict.kind !== 'mistake') return [];
  const { mistake } = verdict;
  return [{ from: mistake.offset, to: mistake.offset, severity: 'error', message: mistake.message }];
}

/** UTF-16 units before a number of code points. */
function unitsOf(text: string, codePoints: number): number {
  let units = 0;
  for (let left = codePoints; left > 0 && units < text.length; left--)
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return units;
}

/** Text around the cursor that completion looks at, in UTF-16 units: to read all of a long one takes longer than a key may. */
const LOOKED_AT = { before: 4000, behind: 1000 };

async function completions(
  { state, pos, explicit }: CompletionContext,
  scope: string,
): Promise<CompletionResult | null> {
  const start = state.doc.lineAt(Math.max(0, pos - LOOKED_AT.before)).from;
  const source = state.sliceDoc(start, Math.min(state.doc.length, pos + LOOKED_AT.behind));
  const place = contextAt(source, pos - start);
  const { wanted, prefix } = place;
  if (wanted.kind === 'nothing' || (prefix === '' && wanted.kind === 'name' && !explicit)) return null;
  if (wanted.kind === 'member' && wanted.receiver.kind === 'path')
    await knowKeys(scope, wanted.receiver.path);
  const { from, to, items } = complete(source, pos - start, catalogueOf(scope), place);
  if (items.length === 0) return null;
  const options: Completion[] = items.map(({ label, kind, detail, doc, insert }, i) => ({
    label,
    type: kind,
    detail: detail === label ? '' : detail,
    apply: insert,
    boost: -i / 10,
    ...(doc === '' ? {} : { info: doc }),
  }));
  return { from: start + from, to: start + to, options, filter: false };
}

const look = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--sheet)', fontSize: 'var(--text-code)' },
  '&.cm-focused': { outline: '2px solid var(--ice)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '6px 0' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--quiet)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in srgb, var(--hover) 55%, transparent)',
  },
  '.cm-content ::selection': { backgroundColor: 'color-mix(in srgb, var(--moss) 28%, transparent)' },
  '.cm-placeholder': { color: 'var(--quiet)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--sheet)',
    color: 'var(--ink)',
    border: '1px solid var(--edge)',
    borderRadius: 'var(--corner)',
    maxWidth: '36rem',
  },
  '.cm-tooltip.cm-completionInfo': { padding: '4px 8px', maxWidth: '22rem', fontFamily: 'var(--sans)' },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--moss-wash)',
    color: 'var(--ink)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600' },
  '.cm-completionDetail': { color: 'var(--quiet)', fontStyle: 'normal' },
  '.cm-panels': { backgroundColor: 'var(--paper)', color: 'var(--ink)' },
  '.cm-button, .cm-button:active': { backgroundImage: 'none', borderColor: 'var(--edge)' },
  '.cm-textfield': { backgroundColor: 'var(--sheet)', borderColor: 'var(--edge)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--red)' },
});
