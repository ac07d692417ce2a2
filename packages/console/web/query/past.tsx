/** What was run before, and what was saved under a name. Both stay in this browser, unless somebody shares one. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { mayChange } from '../state/session.js';
import { isShared } from '../state/settings.js';
import { timeText } from '../state/texts.js';
import { ActionDialog } from '../ui/action.js';
import { RowButton } from '../ui/parts.js';
import { Shared, shareDeed } from './shared.js';
import { type Past as Entry, past, save, saved, unsave } from './tabs.js';

/** Entries that are listed; a search finds the others. */
const LISTED_MAX = 50;

interface Props {
  /** The text of now. */
  readonly code: () => string;
  readonly scope: string;
  readonly open: (past: Entry) => void;
}

export function Past({ code, scope, open }: Props): JSX.Element {
  const [name, setName] = useState('');
  const [wanted, want] = useState('');
  const [shared, share] = useState<Entry | null>(null);
  const [round, setRound] = useState(0);
  const collection = scope.startsWith('@collection:');
  const isSharing = collection && mayChange(scope);
  const fits = (each: Entry): boolean =>
    wanted === '' || `${each.name ?? ''} ${each.code}`.toLowerCase().includes(wanted.toLowerCase());
  const submit = (event: Event): void => {
    event.preventDefault();
    if (name.trim() === '') return;
    save(name.trim(), scope, code());
    setName('');
  };
  return (
    <details class="past">
      <summary>History and saved queries</summary>
      <div class="stack">
        <form class="row" onSubmit={submit}>
          <input
            aria-label="Save this query as"
            placeholder="save this query as"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
          <button type="submit">Save</button>
          <input
            aria-label="Search"
            placeholder="search"
            type="search"
            value={wanted}
            onInput={(event) => want(event.currentTarget.value)}
          />
        </form>
        <List entries={saved.value.filter(fits)} open={open} share={isSharing ? share : null} />
        {collection ? <Shared scope={scope} open={open} round={round} /> : null}
        <List entries={past.value.filter(fits).slice(0, LISTED_MAX)} open={open} share={null} />
        <label class="check">
          <input
            type="checkbox"
            checked={isShared.value}
            onChange={(event) => (isShared.value = event.currentTarget.checked)}
          />
          Others use this browser, too: keep queries for this window alone, until it is closed
        </label>
      </div>
      {shared === null ? null : (
        <ActionDialog
          title="Share the query"
          what={`Everybody who may query ${scope} can then find it there, as a property of the thing .console.`}
          deed={shareDeed(scope, shared)}
          done={() => setRound(round + 1)}
          close={() => share(null)}
        />
      )}
    </details>
  );
}

interface ListProps {
  readonly entries: readonly Entry[];
  readonly open: (past: Entry) => void;
  readonly share: ((entry: Entry) => void) | null;
}

function List({ entries, open, share }: ListProps): JSX.Element {
  return (
    <ul class="plain-list">
      {entries.map((entry) => (
        <li key={`${entry.name} ${entry.at} ${entry.code}`} class="row far">
          <button type="button" class="link mono" onClick={() => open(entry)}>
            {entry.name === null ? '' : `${entry.name}: `}
            {entry.code.slice(0, 120)}
          </button>
          <span class="row quiet num">
            {entry.scope.replace(/^@collection:/, '')} {timeText(entry.at / 1000)}
            {entry.name === null || share === null ? null : (
              <RowButton text="share" about={entry.name} act={() => share(entry)} />
            )}
            {entry.name === null ? null : (
              <button
                type="button"
                class="plain"
                aria-label={`Forget ${entry.name}`}
                onClick={() => unsave(entry.name)}
              >
                ✕
              </button>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
