/** Something that changes the database: shown as code before it is done, and done once. */
import type { WireValue } from '@althing/client';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { scalarText } from '../results/show.js';
import { hasHistory } from '../state/names.js';
import { ask, tryOut } from '../state/session.js';
import { changesText, type Deed, withReason } from './deed.js';
import { Code, Dialog, Failure, Field } from './parts.js';

interface Props {
  readonly title: string;
  /** What it does, in a sentence; empty where the fields say it. */
  readonly what?: string;
  /** Null while the fields are not filled in. */
  readonly deed: Deed | null;
  /** A name to type first: what it does can't be taken back. */
  readonly typed?: string;
  /** Shows what the query gave; then the window stays open. */
  /** A dry run can count the changes of this action. */
  readonly canBeTried?: boolean;
  readonly show?: (value: WireValue) => ComponentChildren;
  readonly done: () => void;
  readonly close: () => void;
  readonly children?: ComponentChildren;
}

export function ActionDialog({
  title,
  what = '',
  deed: wanted,
  typed,
  canBeTried = true,
  show,
  done,
  close,
  children,
}: Props): JSX.Element {
  const [text, setText] = useState('');
  const [why, setWhy] = useState('');
  const [tried, setTried] = useState('');
  const [error, fail] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const [given, give] = useState<{ readonly value: WireValue } | null>(null);
  const needsReason = wanted?.defines === true && hasHistory(wanted.scope);
  const deed = wanted === null || !needsReason ? wanted : why === '' ? null : withReason(wanted, why);
  const work = async (what: (deed: Deed) => Promise<void>): Promise<void> => {
    if (deed === null || isBusy) return;
    setBusy(true);
    fail(null);
    setTried('');
    try {
      await what(deed);
    } catch (caught) {
      fail(caught);
    } finally {
      setBusy(false);
    }
  };
  const act = async ({ scope, code, vars }: Deed): Promise<void> => {
    const value = await ask(scope, code, vars);
    done();
    if (show === undefined) close();
    else give({ value });
  };
  const count = async ({ scope, code, vars }: Deed): Promise<void> =>
    setTried(`It would change ${changesText(await tryOut(scope, code, vars))}. Nothing was changed.`);
  const submit = (event: Event): void => {
    event.preventDefault();
    void work(act);
  };
  if (given !== null && show !== undefined) {
    return (
      <Dialog title={title} close={close}>
        <div class="stack">
          {show(given.value)}
          <div class="row">
            <button type="button" class="main" onClick={close}>
              Done
            </button>
          </div>
        </div>
      </Dialog>
    );
  }
  const isDanger = typed !== undefined;
  return (
    <Dialog title={title} close={close}>
      <form class="stack" onSubmit={submit}>
        {what === '' ? null : <p>{what}</p>}
        {children}
        {needsReason ? (
          <Field label="Why; the history of definitions keeps it">
            <input value={why} onInput={(event) => setWhy(event.currentTarget.value)} />
          </Field>
        ) : null}
        {typed === undefined ? null : (
          <Field label={`This can't be taken back. Type ${typed} to go on`}>
            <input
              value={text}
              autoComplete="off"
              spellcheck={false}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </Field>
        )}
        <Failure error={error} isDeed />
        <div class="row">
          <button
            type="submit"
            class={isDanger ? 'main danger' : 'main'}
            disabled={deed === null || isBusy || (typed !== undefined && text !== typed)}
          >
            {title}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
          {!canBeTried || wanted?.scope.startsWith('@node') === true ? null : (
            <button
              type="button"
              class="plain"
              title="Counts what it would change, and takes it back"
              disabled={deed === null || isBusy}
              onClick={() => void work(count)}
            >
              Dry run
            </button>
          )}
        </div>
        <p role="status">{tried}</p>
        {deed === null ? null : <DeedCode deed={deed} />}
      </form>
    </Dialog>
  );
}

/** The code that a button runs, to read and to copy. */
function DeedCode({ deed: { scope, code, vars = {} } }: { readonly deed: Deed }): JSX.Element {
  const entries = Object.entries(vars).filter(([name]) => !/password|secret/.test(name));
  return (
    <details>
      <summary>The code that this runs</summary>
      <Code>
        {`// ${scope}\n${code}`}
        {entries.length === 0
          ? ''
          : `\n\n${entries.map(([name, value]) => `// ${name}: ${scalarText(value).slice(0, 200)}`).join('\n')}`}
      </Code>
    </details>
  );
}
