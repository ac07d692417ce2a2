/** Saved queries that a collection holds for all who may query it, below its thing `.console`: asked for only when somebody wants them. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask } from '../state/session.js';
import { itemsOf, numberAt, textAt } from '../state/values.js';
import type { Deed } from '../ui/deed.js';
import { Failure, RowButton, useAnswer } from '../ui/parts.js';
import type { Past } from './tabs.js';

/** Queries that are listed. */
const SHARED_MAX = 200n;

const SHARED = `queries = root().has('console') ? .console.get('queries', {}) : {};
queries.keys()[:max].map(|name| {q = queries.get(name); {name:, code: q.code, at: q.at}});`;

const SHARE = `if (!root().has('console')) .console = {};
if (!.console.has('queries')) .console.queries = {};
.console.queries.set(name, {code:, at: int(now())}); nil;`;

/** Puts a saved query below `.console` of a collection; one of the same name is replaced. */
export function shareDeed(scope: string, { name, code }: Past): Deed {
  return { scope, code: SHARE, vars: { name: name ?? '', code } };
}

interface Props {
  readonly scope: string;
  readonly open: (past: Past) => void;
  /** Another number asks again. */
  readonly round: number;
}

export function Shared(props: Props): JSX.Element {
  const [isWanted, want] = useState(false);
  return isWanted || props.round > 0 ? (
    <List {...props} />
  ) : (
    <button type="button" class="plain" onClick={() => want(true)}>
      Show what is shared in this collection
    </button>
  );
}

function List({ scope, open, round }: Props): JSX.Element {
  const { value, error } = useAnswer(`shared ${scope} ${round}`, async () =>
    itemsOf(await ask(scope, SHARED, { max: SHARED_MAX })),
  );
  return (
    <>
      <Failure error={error} />
      {value?.length === 0 ? <p class="quiet">No query is shared in this collection.</p> : null}
      <ul class="plain-list" aria-label="Shared queries">
        {(value ?? []).map((each) => {
          const [name, code] = [textAt(each, 'name'), textAt(each, 'code')];
          return (
            <li key={name}>
              <RowButton
                text={name}
                about={code.slice(0, 120)}
                act={() => open({ name, code, scope, at: 1000 * (numberAt(each, 'at') ?? 0) })}
              />
            </li>
          );
        })}
      </ul>
    </>
  );
}
