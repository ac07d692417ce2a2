/** The data browser: a thing and what it holds, a hundred entries at a time. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ValueCell } from '../results/view.js';
import { linkTo, route } from '../state/route.js';
import { ask, mayChange } from '../state/session.js';
import { Pager } from '../ui/pager.js';
import { Failure, Mark, Part, Scroll, useAnswer } from '../ui/parts.js';
import { type Edit, EditDialog } from './edit.js';
import { Graph } from './graph.js';
import type { SectionProps } from './page.js';
import {
  type Entry,
  type EntryPage,
  itemsIn,
  propertiesOf,
  type Reference,
  referencesTo,
  shownEntry,
} from './thing-queries.js';

export function Data({ name, scope, rest }: SectionProps): JSX.Element {
  const [typed] = rest;
  const { value: id, error } = useAnswer(`${scope} ${typed}`, async () => {
    if (typed !== undefined && /^\d+$/.test(typed)) return BigInt(typed);
    const root = await ask(scope, 'root().id();');
    return typeof root === 'bigint' ? root : null;
  });
  if (id === null) return <Failure error={error} />;
  return <Thing key={String(id)} name={name} scope={scope} id={id} isRoot={typed === undefined} />;
}

interface ThingProps {
  readonly name: string;
  readonly scope: string;
  readonly id: bigint;
  readonly isRoot: boolean;
}

function Thing({ name, scope, id, isRoot }: ThingProps): JSX.Element {
  const { options } = route.value;
  const key = options.get('key');
  const via = options.get('via') ?? '';
  const [from, go] = useState(0);
  const [edit, setEdit] = useState<Edit | null>(null);
  const [view, choose] = useState<'table' | 'graph'>('table');
  const {
    value: page,
    error,
    again,
  } = useAnswer(`${scope} ${id} ${key} ${from}`, () =>
    key === null ? propertiesOf(scope, id, from) : itemsIn(scope, id, key, from),
  );
  const isEditable = mayChange(scope);
  // The type of an instance decides which properties it has.
  const isFree = key !== null || page?.type === 'thing';
  return (
    <>
      <Crumbs name={name} via={via} id={id} itemsKey={key} isRoot={isRoot} />
      <Failure error={error} />
      {page === null ? null : (
        <Part
          title={
            <>
              {page.type} <span class="quiet num">#{String(id)}</span>
              {key === null ? '' : ` ${key}`} <span class="quiet num">({page.total})</span>
            </>
          }
          actions={
            <>
              {isEditable && isFree ? (
                <button
                  type="button"
                  onClick={() =>
                    setEdit({ kind: key === null ? 'add' : 'append', id, key: key ?? '', type: page.type })
                  }
                >
                  {key === null ? 'Add a property' : 'Add an item'}
                </button>
              ) : null}
              <button type="button" onClick={() => choose(view === 'table' ? 'graph' : 'table')}>
                {view === 'table' ? 'As a graph' : 'As a table'}
              </button>
              <button type="button" class="plain" onClick={again}>
                Refresh
              </button>
            </>
          }
        >
          {view === 'graph' ? (
            <Graph name={name} scope={scope} id={id} />
          ) : (
            <Entries
              page={page}
              id={id}
              itemsKey={key}
              link={(entry) => linkOf(name, id, key, via, entry)}
              edit={isEditable ? setEdit : null}
              isFree={isFree}
            />
          )}
          <Pager from={from} total={page.total} go={go} />
        </Part>
      )}
      {key === null ? <BackReferences name={name} scope={scope} id={id} /> : null}
      {edit === null ? null : (
        <EditDialog scope={scope} edit={edit} done={again} close={() => setEdit(null)} />
      )}
    </>
  );
}

/** Where an entry leads; null for a value that is shown whole. The way stands in the address. */
function linkOf(name: string, id: bigint, key: string | null, via: string, entry: Entry): string | null {
  const { kind, value } = entry;
  const step = `${id}:${encodeURIComponent(key ?? entry.key)}`;
  if (kind === 'thing' && typeof value === 'bigint')
    return linkTo(['c', name, 'data', value], { via: via === '' ? step : `${via}/${step}` });
  const isPlace = (kind === 'list' || kind === 'set') && key === null;
  if (isPlace) return linkTo(['c', name, 'data', id], { key: entry.key, ...(via === '' ? {} : { via }) });
  return null;
}

function Crumbs({
  name,
  via,
  id,
  itemsKey,
  isRoot,
}: {
  readonly name: string;
  readonly via: string;
  readonly id: bigint;
  readonly itemsKey: string | null;
  readonly isRoot: boolean;
}): JSX.Element {
  const steps = via.split('/').filter((step) => step !== '');
  return (
    <nav aria-label="The way here">
      <ol class="crumbs">
        <li>
          <a href={linkTo(['c', name, 'data'])}>{name}</a>
        </li>
        {steps.map((step, i) => {
          const [from = '', key = ''] = step.split(':');
          const before = steps.slice(0, i).join('/');
          return (
            <li key={steps.slice(0, i + 1).join('/')}>
              <a href={linkTo(['c', name, 'data', from], before === '' ? {} : { via: before })}>
                {decodeURIComponent(key)}
              </a>
            </li>
          );
        })}
        {isRoot && itemsKey === null ? null : (
          <li>
            <a href={linkTo(['c', name, 'data', id], via === '' ? {} : { via })}>#{String(id)}</a>
          </li>
        )}
        {itemsKey === null ? null : <li>{itemsKey}</li>}
      </ol>
    </nav>
  );
}

function Entries({
  page,
  id,
  itemsKey,
  link,
  edit,
  isFree,
}: {
  readonly page: EntryPage;
  readonly id: bigint;
  readonly itemsKey: string | null;
  readonly link: (entry: Entry) => string | null;
  readonly edit: ((edit: Edit) => void) | null;
  /** Whether entries may be renamed and deleted. */
  readonly isFree: boolean;
}): JSX.Element {
  if (page.total === 0)
    return <p class="empty">{itemsKey === null ? 'It has no properties yet.' : 'Nothing is in it yet.'}</p>;
  const isSet = itemsKey !== null && page.type === 'set';
  return (
    <Scroll label="Entries">
      <table>
        <thead>
          <tr>
            <th class={itemsKey === null ? undefined : 'end'}>
              {itemsKey === null ? 'property' : isSet ? '' : 'index'}
            </th>
            <th>type</th>
            <th>value</th>
            {edit === null ? null : <th class="end">change</th>}
          </tr>
        </thead>
        <tbody>
          {page.entries.map((entry) => {
            const to = link(entry);
            const cell = <ValueCell value={shownEntry(entry)} linkToThing={null} />;
            const about = {
              id,
              key: itemsKey ?? entry.key,
              index: itemsKey === null ? null : Number(entry.key),
              entry,
              type: page.type,
            };
            return (
              <tr key={entry.key}>
                <td class={itemsKey === null ? 'wide mono' : 'end mono quiet'}>{isSet ? '' : entry.key}</td>
                <td class="quiet">{entry.type}</td>
                <td class="value mono">{to === null ? cell : <a href={to}>{cell}</a>}</td>
                {edit === null ? null : (
                  <td class="end">
                    <span class="actions">
                      {entry.kind === 'scalar' && !isSet ? (
                        <button type="button" class="link" onClick={() => edit({ kind: 'set', ...about })}>
                          edit<span class="hidden-text"> {entry.key}</span>
                        </button>
                      ) : null}
                      {itemsKey === null && isFree ? (
                        <button type="button" class="link" onClick={() => edit({ kind: 'rename', ...about })}>
                          rename<span class="hidden-text"> {entry.key}</span>
                        </button>
                      ) : null}
                      {isFree ? (
                        <button type="button" class="link" onClick={() => edit({ kind: 'delete', ...about })}>
                          delete<span class="hidden-text"> {entry.key}</span>
                        </button>
                      ) : null}
                    </span>
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

function BackReferences({
  name,
  scope,
  id,
}: {
  readonly name: string;
  readonly scope: string;
  readonly id: bigint;
}): JSX.Element {
  const [found, set] = useState<readonly Reference[] | null>(null);
  const [error, fail] = useState<unknown>(null);
  return (
    <Part
      title="Referred to by"
      actions={
        <button type="button" class="plain" onClick={() => void referencesTo(scope, id).then(set, fail)}>
          Search
        </button>
      }
    >
      <Failure error={error} />
      {found === null ? (
        <p class="quiet">A search goes through the collection, as far as it may within a query's limits.</p>
      ) : found.length === 0 ? (
        <p class="quiet">Nothing was found that refers to it.</p>
      ) : (
        <ul class="row">
          {found.map(({ parent, parentType, key }) => (
            <li key={`${parent} ${key}`}>
              <a href={linkTo(['c', name, 'data', parent])}>
                {parentType} #{String(parent)}
              </a>{' '}
              <Mark kind="quiet">{key}</Mark>
            </li>
          ))}
        </ul>
      )}
    </Part>
  );
}
