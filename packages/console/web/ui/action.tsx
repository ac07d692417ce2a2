/** Something that changes the database: shown as code before it is done, and done once. */
import type { WireValue } from '@althing/client';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { scalarText } from '../results/show.js';
import { ask } from '../state/session.js';
import type { Deed } from './deed.js';
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
  readonly show?: (value: WireValue) => ComponentChildren;
  readonly done: () => void;
  readonly close: () => void;
  readonly children?: ComponentChildren;
}

export function ActionDialog({
  title,
  what = '',
  deed,
  typed,
  show,
  done,
  close,
  children,
}: Props): JSX.Element {
  const [text, setText] = useState('');
  const [error, fail] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const [given, give] = useState<{ readonly value: WireValue } | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (deed === null || isBusy) return;
    setBusy(true);
    fail(null);
    try {
      const value = await ask(deed.scope, deed.code, deed.vars);
      done();
      if (show === undefined) close();
      else give({ value });
    } catch (caught) {
      fail(caught);
    } finally {
      setBusy(false);
    }
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
      <form class="stack" onSubmit={(event) => void submit(event)}>
        {what === '' ? null : <p>{what}</p>}
        {children}
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
        </div>
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
