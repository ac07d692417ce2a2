/** The first page: what is wrong, then who the cluster is, and what it holds. */
import type { WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { PAGE } from '../results/protocol.js';
import { collectionScope, loadCollections, namesOf } from '../state/names.js';
import { linkTo } from '../state/route.js';
import { isPasswordDefault, mayChange, userName } from '../state/session.js';
import { durationText } from '../state/texts.js';
import { at, listAt, numberAt, textAt } from '../state/values.js';
import { type Form, useForm } from '../ui/form.js';
import { Pager } from '../ui/pager.js';
import { Failure, Head, Mark, Part, RowButton, Scroll, useAnswer, useEvery } from '../ui/parts.js';
import {
  addNode,
  newCollection,
  removeCollection,
  removeNode,
  renameCollection,
  setTimeZone,
  shutDown,
  transferLeadership,
} from './forms.js';
import { Ring, type Seat } from './ring.js';
import { type ClusterState, type CollectionsPage, clusterState, collectionsPage } from './state.js';
import { lagText, summed } from './sums.js';
import { troublesOf } from './troubles.js';

/** How often the page asks, in milliseconds. */
const REFRESH_MS = 8000;

type Open = (form: Form) => void;

export function Overview(): JSX.Element {
  const [from, go] = useState(0);
  // They come first: what this node knows of itself and of all groups takes longer, and other nodes may be slow.
  const listed = useAnswer(`collections ${from}`, () => collectionsPage(from));
  const [state, know] = useState<ClusterState | null>(null);
  const cluster = useAnswer('cluster', () =>
    clusterState((part) => know((before) => (before?.isWhole === true ? before : part))),
  );
  useEffect(() => {
    if (cluster.value !== null) know(cluster.value);
  }, [cluster.value]);
  const again = (): void => {
    listed.again();
    cluster.again();
  };
  useEvery(REFRESH_MS, again);
  const [open, dialog] = useForm(() => {
    again();
    void loadCollections();
  });
  namesOf('@node');
  return (
    <div class="page">
      <Head title="Overview">
        {state === null || !state.isWhole ? <span class="quiet">asking …</span> : <Health state={state} />}
      </Head>
      <Failure error={cluster.error ?? listed.error} />
      {state === null ? null : (
        <>
          {state.isWhole ? <Troubles state={state} /> : null}
          {state.nodes === null ? (
            <NotForYou what="the nodes" privilege="QUERY on @node" />
          ) : (
            <Nodes state={state} open={open} />
          )}
          {state.groups === null ? null : <Groups groups={state.groups} />}
        </>
      )}
      {listed.last === null ? null : (
        <Collections
          page={listed.last}
          from={from}
          go={go}
          groups={state?.groups ?? null}
          open={mayChange('@thingsdb') ? open : null}
        />
      )}
      {dialog}
    </div>
  );
}

function Health({ state }: { readonly state: ClusterState }): JSX.Element {
  const troubles = troublesOf(state);
  if (troubles.length === 0) return <Mark kind="good">all is well</Mark>;
  return (
    <Mark kind="bad">
      {troubles.length === 1 ? '1 thing is wrong' : `${troubles.length} things are wrong`}
    </Mark>
  );
}

function Troubles({ state }: { readonly state: ClusterState }): JSX.Element | null {
  const troubles = troublesOf(state);
  const warnings = listAt(state.level, 'warnings').map(String);
  if (isPasswordDefault.value)
    warnings.unshift(
      `User ${userName.value} has the password that every new cluster begins with. Set another one, on the page Users.`,
    );
  if (troubles.length === 0 && warnings.length === 0) return null;
  return (
    <ul class="stack">
      {troubles.map((text) => (
        <li key={text} class="notice bad">
          {text}
        </li>
      ))}
      {warnings.map((text) => (
        <li key={text} class="notice warn">
          {text}
        </li>
      ))}
    </ul>
  );
}

function NotForYou({ what, privilege }: { readonly what: string; readonly privilege: string }): JSX.Element {
  return (
    <p class="empty">
      To see {what} takes {privilege}.
    </p>
  );
}

function Nodes({ state, open }: { readonly state: ClusterState; readonly open: Open }): JSX.Element {
  const { nodes, groups, own } = state;
  const leads = (id: bigint | null): number =>
    (groups ?? []).filter((group) => at(group, 'leader') === id).length;
  const root = (groups ?? []).find((group) => textAt(group, 'scope') === '@thingsdb');
  const seats = (nodes ?? []).map((each): Seat => {
    const id = at(each, 'node_id');
    return {
      id: textAt(each, 'node_id'),
      name: textAt(each, 'node_name'),
      status: textAt(each, 'status'),
      leads: root !== undefined && at(root, 'leader') === id,
      groups: leads(typeof id === 'bigint' ? id : null),
    };
  });
  const answers = new Map(own.map(({ node, answer }) => [node, answer]));
  const silent = own.filter(({ answer }) => answer === null).length;
  return (
    <Part
      title="Nodes"
      actions={
        mayChange('@thingsdb') ? (
          <button type="button" onClick={() => open(addNode())}>
            Add a node
          </button>
        ) : undefined
      }
    >
      <div class="ring">
        <Ring seats={seats} />
        <div class="stack">
          <Scroll label="Nodes">
            <table>
              <thead>
                <tr>
                  <th class="end">node</th>
                  <th>name</th>
                  <th>status</th>
                  <th class="end">leads</th>
                  <th>version</th>
                  <th class="end">up for</th>
                  <th class="end">connections</th>
                  <th class="end">queries</th>
                  <th class="end">failed</th>
                  <th class="end">changes</th>
                  <th class="end">zone</th>
                  <th class="end">change</th>
                </tr>
              </thead>
              <tbody>
                {(nodes ?? []).map((each, i) => {
                  const id = textAt(each, 'node_id');
                  const { info = null, counters = null } = answers.get(id) ?? {};
                  const uptime = numberAt(info, 'uptime');
                  return (
                    <tr key={id}>
                      <td class="end">{id}</td>
                      <td>{textAt(each, 'node_name')}</td>
                      <td>
                        <StatusMark status={textAt(each, 'status')} />
                      </td>
                      <td class="end">{seats[i]?.groups ?? 0}</td>
                      <td>{textAt(info, 'version')}</td>
                      <td class="end">{uptime === null ? '' : durationText(uptime)}</td>
                      <td class="end">{textAt(info, 'connected_clients')}</td>
                      <td class="end">{textAt(counters, 'queries_success')}</td>
                      <td class="end">{textAt(counters, 'queries_with_error')}</td>
                      <td class="end">{textAt(counters, 'changes_committed')}</td>
                      <td class="end">{textAt(each, 'zone')}</td>
                      <td class="end">
                        <NodeActions node={each} isAlone={nodes?.length === 1} open={open} />
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </Scroll>
          <dl class="facts" aria-label="All nodes together">
            <Fact name="connections" value={String(connectionsOf(own))} />
            <Fact name="queries" value={String(summed(own, 'queries_success'))} />
            <Fact name="failed" value={String(summed(own, 'queries_with_error'))} />
            <Fact name="changes" value={String(summed(own, 'changes_committed'))} />
            <Fact name="did not answer" value={silent === 0 ? '' : String(silent)} />
          </dl>
        </div>
      </div>
    </Part>
  );
}

function connectionsOf(own: ClusterState['own']): number {
  return own.reduce((sum, { answer }) => sum + (numberAt(answer?.info, 'connected_clients') ?? 0), 0);
}

function NodeActions({
  node,
  isAlone,
  open,
}: {
  readonly node: WireValue;
  readonly isAlone: boolean;
  readonly open: Open;
}): JSX.Element {
  const [id, name] = [textAt(node, 'node_id'), textAt(node, 'node_name')];
  const actions: readonly (readonly [text: string, form: Form])[] = [
    ...(mayChange('@node')
      ? ([
          ['give away', transferLeadership(id)],
          ['stop', shutDown(id, name)],
        ] as const)
      : []),
    ...(mayChange('@thingsdb') ? ([['remove', removeNode(id, name)]] as const) : []),
  ];
  return (
    <span class="actions">
      {actions
        .filter(([text]) => !isAlone || text === 'stop')
        .map(([text, form]) => (
          <RowButton key={text} text={text} about={`node ${id}`} act={() => open(form)} />
        ))}
    </span>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }): JSX.Element | null {
  if (value === '') return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function StatusMark({ status }: { readonly status: string }): JSX.Element {
  const kind = status === 'READY' ? 'good' : status === 'OFFLINE' ? 'bad' : 'warn';
  return <Mark kind={kind}>{status.toLowerCase().replaceAll('_', ' ')}</Mark>;
}

function Groups({ groups }: { readonly groups: readonly WireValue[] }): JSX.Element {
  const [from, go] = useState(0);
  return (
    <Part title="Groups, as their leaders know them">
      <Scroll label="Groups">
        <table>
          <thead>
            <tr>
              <th>scope</th>
              <th>leader</th>
              <th class="end">term</th>
              <th class="end">committed</th>
              <th class="end">applied</th>
              <th>behind</th>
              <th>voters</th>
              <th>learners</th>
            </tr>
          </thead>
          <tbody>
            {groups.slice(from, from + PAGE).map((group) => (
              <tr key={textAt(group, 'scope')}>
                <td>{textAt(group, 'scope')}</td>
                <td>
                  {at(group, 'leader') === null ? (
                    <Mark kind="bad">none</Mark>
                  ) : (
                    `node ${textAt(group, 'leader')}`
                  )}
                </td>
                <td class="end">{textAt(group, 'term')}</td>
                <td class="end">{textAt(group, 'commit')}</td>
                <td class="end">{textAt(group, 'applied')}</td>
                <td>{lagText(group)}</td>
                <td>{listAt(group, 'voters').map(String).join(', ')}</td>
                <td>{listAt(group, 'learners').map(String).join(', ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <Pager from={from} total={groups.length} go={go} />
    </Part>
  );
}

function Collections({
  page: { total, collections },
  from,
  go,
  groups,
  open,
}: {
  readonly page: CollectionsPage;
  readonly from: number;
  readonly go: (from: number) => void;
  readonly groups: readonly WireValue[] | null;
  readonly open: Open | null;
}): JSX.Element {
  const leaders = new Map((groups ?? []).map((each) => [textAt(each, 'scope'), textAt(each, 'leader')]));
  return (
    <Part
      title="Collections"
      actions={
        open === null ? undefined : (
          <button type="button" onClick={() => open(newCollection())}>
            New collection
          </button>
        )
      }
    >
      {total === 0 ? <p class="empty">There are none that you may see.</p> : null}
      <Scroll label="Collections">
        <table>
          <thead>
            <tr>
              <th>name</th>
              <th class="end">things</th>
              <th class="end">leader</th>
              <th>time zone</th>
              {open === null ? null : <th class="end">change</th>}
            </tr>
          </thead>
          <tbody>
            {collections.map((each) => {
              const name = textAt(each, 'name');
              return (
                <tr key={name}>
                  <td>
                    <a href={linkTo(['c', name])}>{name}</a>
                  </td>
                  <td class="end">{textAt(each, 'things')}</td>
                  <td class="end">{leaders.get(collectionScope(name)) ?? ''}</td>
                  <td>{textAt(each, 'time_zone')}</td>
                  {open === null ? null : (
                    <td class="end">
                      <span class="actions">
                        <RowButton text="rename" about={name} act={() => open(renameCollection(name))} />
                        <RowButton
                          text="time zone"
                          about={`of ${name}`}
                          act={() => open(setTimeZone(name, textAt(each, 'time_zone')))}
                        />
                        <RowButton
                          text="delete"
                          about={name}
                          act={() => open(removeCollection(name, textAt(each, 'things')))}
                        />
                      </span>
                    </td>
                  )}
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
      <Pager from={from} total={total} go={go} />
    </Part>
  );
}
