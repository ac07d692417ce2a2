/** The commit history of a collection: definitions, by whom they were changed, and why. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { collectionScope, collections, hasHistory, loadCollections } from '../state/names.js';
import { ask, mayChange } from '../state/session.js';
import { itemsOf, textAt } from '../state/values.js';
import type { Deed } from '../ui/deed.js';
import { type Form, useForm } from '../ui/form.js';
import { Code, Failure, Mark, Part, useAnswer } from '../ui/parts.js';
import type { SectionProps } from './page.js';

const ROOT = '@thingsdb';
/** Commits that are shown: the last. */
const SHOWN_MAX = 100n;

export function History({ name, scope }: SectionProps): JSX.Element {
  const [open, dialog] = useForm(() => void loadCollections());
  const isKept = (collections.value ?? []).includes(name) && hasHistory(collectionScope(name));
  const mayEdit = mayChange(ROOT);
  return (
    <Part
      title="Commits"
      actions={
        mayEdit ? (
          <button type="button" onClick={() => open(isKept ? end(name, scope) : begin(scope))}>
            {isKept ? 'End the history' : 'Begin a history'}
          </button>
        ) : undefined
      }
    >
      {isKept ? (
        <Commits scope={scope} />
      ) : (
        <p class="empty">
          With a commit history, types, enums, indexes and procedures change only in queries that say why, by{' '}
          <code>commit('…')</code>. This collection has none.
        </p>
      )}
      {dialog}
    </Part>
  );
}

function Commits({ scope }: { readonly scope: string }): JSX.Element {
  const [wanted, want] = useState('');
  const { value, error } = useAnswer(`${scope} ${wanted}`, async () => {
    const options = wanted === '' ? 'detail: true, last: last' : 'detail: true, last: last, contains: text';
    const code = `history({scope: scope, ${options}});`;
    return itemsOf(await ask(ROOT, code, { scope, last: SHOWN_MAX, text: wanted }));
  });
  return (
    <>
      <Failure error={error} />
      <input
        type="search"
        aria-label="Search in messages and code"
        placeholder="search"
        value={wanted}
        onInput={(event) => want(event.currentTarget.value)}
      />
      {value?.length === 0 ? (
        <p class="empty">There are no commits{wanted === '' ? ' yet' : ' of that'}.</p>
      ) : null}
      <ol class="stack plain-list">
        {[...(value ?? [])].reverse().map((commit) => {
          const failed = textAt(commit, 'err_msg');
          return (
            <li key={textAt(commit, 'id')}>
              <details>
                <summary>
                  <span class="num">{textAt(commit, 'created_on')}</span> {textAt(commit, 'by')}:{' '}
                  {textAt(commit, 'message')} {failed === '' ? null : <Mark kind="bad">{failed}</Mark>}
                </summary>
                <Code>{textAt(commit, 'code')}</Code>
              </details>
            </li>
          );
        })}
      </ol>
    </>
  );
}

function begin(scope: string): Form {
  return {
    title: 'Begin a history',
    what: 'Definitions change only in queries that call commit() from then on; others get an error.',
    deed: () => setHistory(scope, true),
  };
}

function end(name: string, scope: string): Form {
  return {
    title: 'End the history',
    what: 'All of its commits are deleted.',
    typed: name,
    deed: () => setHistory(scope, false),
  };
}

function setHistory(scope: string, isOn: boolean): Deed {
  return { scope: ROOT, code: 'set_history(scope, on);', vars: { scope, on: isOn } };
}
