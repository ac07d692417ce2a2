/** The query page: tabs with code, what it would do, and what it gave. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DryRunKind, Failed, Ran } from '../results/protocol.js';
import { askWorker, judge } from '../results/remote.js';
import { FailedView, ResultView, RunningView } from '../results/view.js';
import {
  collectionScope,
  collections,
  loadCollections,
  loadNames,
  loadProcedures,
  type Names,
  namesOf,
} from '../state/names.js';
import { linkTo, route } from '../state/route.js';
import { readOnly } from '../state/settings.js';
import { Choice, Mark } from '../ui/parts.js';
import type { Editor } from './codemirror.js';
import { CodeEditor } from './editor.js';
import { Past } from './past.js';
import type { Verdict } from './rules.js';
import { changeTab, closeTab, currentTab, openTab, remember, type Tab, tabs } from './tabs.js';
import { valuesOf } from './variables.js';
import { VariablesForm } from './variables-form.js';

/** How the last run of a tab ended; it outlives the page that shows it. */
type Outcome =
  | { readonly kind: 'running'; readonly isSent: boolean }
  | { readonly kind: 'refused'; readonly message: string }
  | {
      readonly kind: 'ended';
      readonly run: number;
      readonly ended: Ran | Failed;
      readonly dry: DryRunKind | null;
    };

const outcomes = signal<ReadonlyMap<string, Outcome>>(new Map());
let runs = 0;

export function QueryPage(): JSX.Element {
  useLink();
  const tab = tabs.value.find(({ id }) => id === currentTab.value) ?? tabs.value[0];
  return (
    <div class="page query">
      <h1 class="hidden-text">Query</h1>
      <TabBar />
      {tab === undefined ? null : <TabPage key={tab.id} tab={tab} />}
    </div>
  );
}

/** A link may fill the editor (`#/q?scope=..&code=..`); it never runs anything. */
function useLink(): void {
  const { options } = route.value;
  const code = options.get('code');
  useEffect(() => {
    if (code === null) return;
    openTab(options.get('scope') ?? '', code);
    location.replace(linkTo(['q']));
  }, [code, options]);
}

function TabBar(): JSX.Element {
  const current = tabs.value.find(({ id }) => id === currentTab.value);
  return (
    <div class="tabs">
      <div role="tablist" aria-label="Queries">
        {tabs.value.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`tab-${tab.id}`}
            aria-controls="query"
            aria-selected={tab.id === currentTab.value}
            onClick={() => {
              currentTab.value = tab.id;
            }}
          >
            {titleOf(tab)}
          </button>
        ))}
      </div>
      <button
        type="button"
        class="plain"
        aria-label="New query"
        onClick={() => openTab(current?.scope ?? '', '')}
      >
        +
      </button>
    </div>
  );
}

function titleOf({ code }: Tab): string {
  const line = /\S.*/.exec(code)?.[0].trim() ?? '';
  return line === '' ? 'New query' : line.length > 24 ? `${line.slice(0, 23)}…` : line;
}

/** The scope of a tab for which nobody chose one; null while the collections are not known. */
function defaultScope(): string | null {
  if (collections.value === null) return null;
  const [first] = collections.value;
  return first === undefined ? '@thingsdb' : collectionScope(first);
}

/** @throws Error when no scope was chosen, and no node tells the collections */
async function scopeOf({ id, scope }: Tab): Promise<string> {
  if (scope !== '') return scope;
  if (collections.value === null) await loadCollections();
  const found = defaultScope();
  if (found === null) throw new Error('No node told its collections yet: choose a scope, or run it again.');
  changeTab(id, { scope: found });
  return found;
}

function TabPage({ tab }: { readonly tab: Tab }): JSX.Element {
  const byDefault = defaultScope();
  const scope = tab.scope === '' ? (byDefault ?? '@thingsdb') : tab.scope;
  useEffect(() => {
    // A text stays where it was written, also when another collection comes before the first one.
    if (tab.scope === '' && tab.code.trim() !== '' && byDefault !== null)
      changeTab(tab.id, { scope: byDefault });
  }, [tab, byDefault]);
  const editor = useRef<Editor | null>(null);
  const [side, show] = useState<'code' | 'result'>('code');
  const names = namesOf(scope);
  const verdict = useVerdict(tab.code, scope, names.functions);
  const outcome = outcomes.value.get(tab.id);
  const run = async (selected: string | null, dry: DryRunKind | null = null): Promise<void> => {
    const code = selected ?? editor.current?.text() ?? tab.code;
    if (code.trim() === '' || outcomes.peek().get(tab.id)?.kind === 'running') return;
    const ended = await runIn(tab, code, dry);
    show('result');
    if (ended?.ok === false && ended.at !== null && ended.procedure === null && selected === null)
      editor.current?.mark(ended.at.offset, ended.at.length, `${ended.name}: ${ended.message}`);
  };
  // Neither changes with the text, and both may be long.
  const history = useMemo(
    () => (
      <Past
        code={() => tabs.peek().find(({ id }) => id === tab.id)?.code ?? ''}
        scope={scope}
        open={(past) => openTab(past.scope, past.code)}
      />
    ),
    [tab.id, scope],
  );
  const result = useMemo(
    () => <OutcomeView id={tab.id} scope={scope} outcome={outcome} />,
    [tab.id, scope, outcome],
  );
  return (
    <div class="bench" id="query" role="tabpanel" aria-labelledby={`tab-${tab.id}`}>
      <div class="row bar">
        <ScopeChoice scope={scope} choose={(next) => changeTab(tab.id, { scope: next })} />
        <VerdictMark verdict={verdict} />
        <span class="grow" />
        <button type="button" class="plain" onClick={() => editor.current?.format()}>
          Format
        </button>
        <button type="button" class="plain" onClick={() => void run(editor.current?.selected() ?? null)}>
          Run selection
        </button>
        {verdict === 'changes' && !scope.startsWith('@node') ? (
          <button
            type="button"
            class="plain"
            title="Counts what it would change, and takes it back"
            onClick={() => void run(null, 'true')}
          >
            Dry run
          </button>
        ) : null}
        {verdict === 'empty' || scope.startsWith('@node') ? null : (
          <button
            type="button"
            class="plain"
            title="Counts what each statement takes, and takes back what it changes"
            onClick={() => void run(null, 'explain')}
          >
            Explain
          </button>
        )}
        {outcome?.kind === 'running' ? (
          <button type="button" onClick={() => stop(tab, outcome.isSent)}>
            Stop
          </button>
        ) : (
          <button type="button" class="main" disabled={tab.code.trim() === ''} onClick={() => void run(null)}>
            Run
          </button>
        )}
        <button type="button" class="plain" aria-label="Close this query" onClick={() => close(tab)}>
          ✕
        </button>
      </div>
      <div class="sides">
        <Choice
          label="Show"
          value={side}
          options={[
            ['code', 'Code'],
            ['result', 'Result'],
          ]}
          choose={show}
        />
      </div>
      <div class={side === 'code' ? 'side shown' : 'side'}>
        <CodeEditor
          id={tab.id}
          text={tab.code}
          scope={() => scope}
          changed={(code) => changeTab(tab.id, { code })}
          run={(selected) => void run(selected)}
          handle={(handle) => {
            editor.current = handle;
          }}
        />
        <VariablesForm variables={tab.variables} change={(variables) => changeTab(tab.id, { variables })} />
        {history}
      </div>
      <div class={side === 'result' ? 'side shown' : 'side'} aria-live="polite">
        {result}
      </div>
    </div>
  );
}

function useVerdict(code: string, scope: string, functions: Names['functions']): Verdict['kind'] {
  const [verdict, set] = useState<Verdict['kind']>('empty');
  useEffect(() => {
    let isWanted = true;
    judge(code, scope, functions).then(
      ({ kind }) => isWanted && set(kind),
      // It says so itself when it is asked to run something.
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [code, scope, functions]);
  return verdict;
}

function close(tab: Tab): void {
  void askWorker({ kind: 'forget', result: tab.id });
  closeTab(tab.id);
}

function tell(tab: Tab, outcome: Outcome): void {
  outcomes.value = new Map(outcomes.peek()).set(tab.id, outcome);
}

function stop(tab: Tab, isSent: boolean): void {
  if (isSent) void askWorker({ kind: 'cancel', result: tab.id });
  else tell(tab, { kind: 'refused', message: 'It was stopped before it was sent.' });
}

/** @returns null when it was not sent; the page says why */
async function runIn(tab: Tab, code: string, dry: DryRunKind | null): Promise<Ran | Failed | null> {
  try {
    const vars = valuesOf(tab.variables);
    const begun: Outcome = { kind: 'running', isSent: false };
    tell(tab, begun);
    const scope = await scopeOf(tab);
    const { functions } = namesOf(scope);
    const verdict = await judge(code, scope, functions);
    if (outcomes.peek().get(tab.id) !== begun) return null;
    if (readOnly.value && verdict.kind === 'changes')
      throw new Error('The console is read-only, and this may change something: it was not sent.');
    tell(tab, { kind: 'running', isSent: true });
    remember(scope, code);
    const ended = await askWorker({ kind: 'run', result: tab.id, scope, code, vars, procedure: null, dry });
    tell(tab, { kind: 'ended', run: ++runs, ended, dry });
    // Types, procedures and collections may have come with it.
    if (ended.ok && dry === null && verdict.kind === 'changes') {
      void loadNames(scope);
      void loadProcedures(scope);
    }
    return ended;
  } catch (error) {
    tell(tab, { kind: 'refused', message: error instanceof Error ? error.message : String(error) });
    return null;
  }
}

function OutcomeView({
  id,
  scope,
  outcome,
}: {
  readonly id: string;
  readonly scope: string;
  readonly outcome: Outcome | undefined;
}): JSX.Element {
  if (outcome === undefined) {
    return (
      <p class="empty">
        What the last statement gives is shown here. Ctrl Enter runs the query, Shift Enter what is selected.
      </p>
    );
  }
  if (outcome.kind === 'running') return <RunningView result={id} />;
  if (outcome.kind === 'refused') return <p class="notice warn">{outcome.message}</p>;
  const { ended, run, dry } = outcome;
  if (!ended.ok) return <FailedView failed={ended} />;
  const name = /^@collection:(.*)$/.exec(scope)?.[1];
  const linkToThing = name === undefined ? null : (id: bigint) => linkTo(['c', name, 'data', id]);
  return (
    <>
      {dry === null ? null : (
        <p class="notice warn">
          {dry === 'explain'
            ? 'A dry run: this is what each statement takes, reads and would change. Nothing was changed.'
            : 'A dry run: this is what it would give and change. Nothing was changed.'}
        </p>
      )}
      <ResultView result={id} run={run} ran={ended} linkToThing={linkToThing} />
    </>
  );
}

function ScopeChoice({
  scope,
  choose,
}: {
  readonly scope: string;
  readonly choose: (scope: string) => void;
}): JSX.Element {
  const known = (collections.value ?? []).map(collectionScope);
  const all = [...known, '@thingsdb', '@node'];
  return (
    <label class="row">
      <span class="quiet">Scope</span>
      <select value={scope} onChange={(event) => choose(event.currentTarget.value)}>
        {(all.includes(scope) ? all : [scope, ...all]).map((each) => (
          <option key={each} value={each}>
            {each.replace(/^@collection:/, '')}
          </option>
        ))}
      </select>
    </label>
  );
}

function VerdictMark({ verdict }: { readonly verdict: Verdict['kind'] }): JSX.Element | null {
  switch (verdict) {
    case 'empty':
      return null;
    case 'mistake':
      return <Mark kind="bad">does not parse</Mark>;
    case 'reads':
      return <Mark kind="good">reads only</Mark>;
    case 'changes':
      return <Mark kind="warn">may change</Mark>;
  }
}
