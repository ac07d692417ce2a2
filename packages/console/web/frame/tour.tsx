/** A short tour: what there is, in the order in which a newcomer needs it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { collections } from '../state/names.js';
import { goTo } from '../state/route.js';
import { Dialog } from '../ui/parts.js';
import { COLLECTION_PLACE } from './places.js';

interface Stop {
  readonly path: readonly string[];
  readonly title: string;
  readonly text: string;
}

export function Tour({ close }: { readonly close: () => void }): JSX.Element {
  const [at, go] = useState(0);
  const stops = stopsOf(collections.value?.[0]);
  const stop = stops[at];
  const visit = (next: number): void => {
    const { path } = stops[next] ?? {};
    if (path !== undefined) goTo(path);
    go(next);
  };
  return (
    <Dialog title="Tour" close={close}>
      <div class="stack" aria-live="polite">
        <h3>
          {stop?.title} <span class="quiet num">{`${at + 1} of ${stops.length}`}</span>
        </h3>
        <p>{stop?.text}</p>
        <div class="row">
          <button type="button" disabled={at === 0} onClick={() => visit(at - 1)}>
            Before
          </button>
          {at < stops.length - 1 ? (
            <button type="button" class="main" onClick={() => visit(at + 1)}>
              Next
            </button>
          ) : (
            <button type="button" class="main" onClick={close}>
              Done
            </button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

/** @param collection one to be shown around in; undefined when there is none */
function stopsOf(collection: string | undefined): readonly Stop[] {
  const within = (part: string): readonly string[] =>
    collection === undefined ? [] : [COLLECTION_PLACE, collection, part];
  return [
    {
      path: [],
      title: 'Overview',
      text: 'What is wrong with the cluster, first; its nodes, who leads what, and its collections.',
    },
    {
      path: within('data'),
      title: 'Data',
      text: 'Things and what they hold, from the root of a collection on. An edit never overwrites what somebody else changed.',
    },
    {
      path: within('types'),
      title: 'Types',
      text: 'A type says which properties its things have. Make one here, and see how types hang together.',
    },
    {
      path: within('procedures'),
      title: 'Procedures',
      text: 'Code that the database keeps under a name. Its form runs it, and shows how programs call it.',
    },
    {
      path: ['q'],
      title: 'Query',
      text: 'Any code. It says what it would do before it runs; a dry run counts what it would change, and takes it back.',
    },
    {
      path: ['activity'],
      title: 'Activity',
      text: 'The last hour of all nodes, and which queries take the time. Ctrl K finds everything else.',
    },
  ];
}
