/** Ctrl-K: finds pages, collections, procedures and actions by some letters of their names. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { collectionScope, collections, loadProcedures, proceduresOf } from '../state/names.js';
import { goTo, route } from '../state/route.js';
import { Dialog } from '../ui/parts.js';
import { COLLECTION_PLACE, PLACES } from './places.js';

interface Entry {
  readonly text: string;
  readonly kind: string;
  /** Where it leads, or what it does. */
  readonly to: readonly string[] | (() => void);
}

export interface PaletteAction {
  readonly title: string;
  readonly act: () => void;
}

/** Entries that are shown. */
const SHOWN_MAX = 50;

/** @param actions what can be done on every page */
export function Palette({
  actions,
  close,
}: {
  readonly actions: readonly PaletteAction[];
  readonly close: () => void;
}): JSX.Element {
  const [typed, type] = useState('');
  const [chosen, choose] = useState(0);
  const here = route.value.path[0] === COLLECTION_PLACE ? route.value.path[1] : undefined;
  useEffect(() => {
    if (here !== undefined) void loadProcedures(collectionScope(here));
  }, [here]);
  const found = [
    ...entries(here),
    ...actions.map(({ title, act }) => ({ text: title, kind: 'action', to: act })),
  ]
    .filter(({ text }) => fits(text, typed))
    .slice(0, SHOWN_MAX);
  const go = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    close();
    if (typeof entry.to === 'function') entry.to();
    else goTo(entry.to);
  };
  const press = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && found.length > 0) choose((chosen + step + found.length) % found.length);
    else if (event.key === 'Enter') go(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" class="palette" close={close}>
      <input
        role="combobox"
        aria-label="Find a page, a collection, a procedure, an action"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${chosen}` : undefined}
        placeholder="A page, a collection, a procedure, an action"
        value={typed}
        onInput={(event) => {
          type(event.currentTarget.value);
          choose(0);
        }}
        onKeyDown={press}
      />
      <div id="palette-list" role="listbox" aria-label="Found">
        {found.map((entry, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are those of the field above.
          <div
            key={`${entry.kind} ${entry.text}`}
            id={`palette-${i}`}
            role="option"
            aria-selected={i === chosen}
            tabIndex={-1}
            onClick={() => go(entry)}
          >
            <span>{entry.text}</span> <span class="quiet">{entry.kind}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

function entries(here: string | undefined): Entry[] {
  const pages = PLACES.map(({ title, name }) => ({
    text: title,
    kind: 'page',
    to: name === '' ? [] : [name],
  }));
  const all = (collections.value ?? []).map((name) => ({
    text: name,
    kind: 'collection',
    to: [COLLECTION_PLACE, name],
  }));
  const procedures =
    here === undefined
      ? []
      : proceduresOf(collectionScope(here)).map(({ name }) => ({
          text: name,
          kind: `procedure of ${here}`,
          to: [COLLECTION_PLACE, here, 'procedures', name],
        }));
  return [...pages, ...all, ...procedures];
}

/** Whether all letters are there, in this order. */
function fits(text: string, typed: string): boolean {
  let from = 0;
  const lower = text.toLowerCase();
  for (const letter of typed.toLowerCase().replace(/\s/g, '')) {
    const found = lower.indexOf(letter, from);
    if (found < 0) return false;
    from = found + 1;
  }
  return true;
}
