/** The first page: what is wrong, then who the cluster is, and what it holds. */
import { AlthingError, type WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { collectionScope, namesOf } from '../state/names.js';
import { linkTo } from '../state/route.js';
import { ask } from '../state/session.js';
import { durationText } from '../state/texts.js';
import { at, itemsOf, listAt, numberAt, textAt } from '../state/values.js';
import { Failure, Head, Mark, Part, Scroll, useAnswer, useEvery } from '../ui/parts.js';
import { Ring, type Seat } from './ring.js';
import { troublesOf } from './troubles.js';

/** How often the page asks, in milliseconds. */
const REFRESH_MS = 3000;

/** What the asked node knows; null for what the user may not know. */
export interface ClusterState {
  readonly nodes: readonly WireValue[] | null;
  readonly groups: readonly WireValue[] | null;
  readonly node: WireValue;
  readonly level: WireValue;
  readonly counters: WireValue;
  readonly collections: readonly WireValue[] | null;
}

async function clusterState(): Promise<ClusterState> {
  const asked = async (scope: string, code: string): Promise<WireValue> => {
    try {
      return await ask(scope, code, {}, { timeoutMs: 5000 });
    } catch (error) {
      if (error instanceof AlthingError && error.name === 'forbidden_err') return null;
      throw error;
    }
  };
  const [nodes, groups, node, level, counters, collections] = await Promise.all([
    asked('@node', 'nodes_info();'),
    asked('@node', 'groups_info();'),
    asked('@node', 'node_info();'),
    asked('@node', 'level_info();'),
    asked('@node', 'counters();'),
    asked('@thingsdb', 'collections_info();'),
  ]);
  const list = (value: WireValue): readonly WireValue[] | null => (value === null ? null : itemsOf(value));
  return { nodes: list(nodes), groups: list(groups), node, level, counters, collections: list(collections) };
}

export function Overview(): JSX.Element {
  const { value: state, error, again } = useAnswer('overview', clusterState);
  useEvery(REFRESH_MS, again);
  namesOf('@node');
  return (
    <div class="page">
      <Head title="Overview">{state === null ? null : <Health state={state} />}</Head>
      <Failure error={error} />
      {state === null ? null : (
        <>
          <Troubles state={state} />
          {state.nodes === null ? (
            <NotForYou what="the nodes" privilege="QUERY on @node" />
          ) : (
            <Nodes state={state} />
          )}
          {state.groups === null ? null : <Groups groups={state.groups} />}
          {state.collections === null ? null : (
            <Collections collections={state.collections} groups={state.groups} />
          )}
        </>
      )}
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

export function NotForYou({
  what,
  privilege,
}: {
  readonly what: string;
  readonly privilege: string;
}): JSX.Element {
  return (
    <p class="empty">
      To see {what} takes {privilege}.
    </p>
  );
}

function Nodes({ state }: { readonly state: ClusterState }): JSX.Element {
  const { nodes, groups, node, counters } = state;
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
  const uptime = numberAt(node, 'uptime');
  return (
    <Part title="Nodes">
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
                  <th class="end">committed</th>
                  <th class="end">zone</th>
                </tr>
              </thead>
              <tbody>
                {(nodes ?? []).map((each, i) => (
                  <tr key={textAt(each, 'node_id')}>
                    <td class="end">{textAt(each, 'node_id')}</td>
                    <td>{textAt(each, 'node_name')}</td>
                    <td>
                      <StatusMark status={textAt(each, 'status')} />
                    </td>
                    <td class="end">{seats[i]?.groups ?? 0}</td>
                    <td class="end">{textAt(each, 'committed_change_id')}</td>
                    <td class="end">{textAt(each, 'zone')}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          <dl class="facts">
            <Fact name="asked node" value={textAt(node, 'node_name')} />
            <Fact name="version" value={textAt(node, 'version')} />
            <Fact name="up for" value={uptime === null ? '' : durationText(uptime)} />
            <Fact name="connections" value={textAt(node, 'connected_clients')} />
            <Fact name="queries" value={textAt(counters, 'queries_success')} />
            <Fact name="failed" value={textAt(counters, 'queries_with_error')} />
            <Fact name="changes" value={textAt(counters, 'changes_committed')} />
          </dl>
        </div>
      </div>
    </Part>
  );
}

export function Fact({ name, value }: { readonly name: string; readonly value: string }): JSX.Element | null {
  if (value === '') return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

export function StatusMark({ status }: { readonly status: string }): JSX.Element {
  const kind = status === 'READY' ? 'good' : status === 'OFFLINE' ? 'bad' : 'warn';
  return <Mark kind={kind}>{status.toLowerCase().replaceAll('_', ' ')}</Mark>;
}

function Groups({ groups }: { readonly groups: readonly WireValue[] }): JSX.Element {
  return (
    <Part title="Groups, as the asked node knows them">
      <Scroll label="Groups">
        <table>
          <thead>
            <tr>
              <th>scope</th>
              <th>leader</th>
              <th>this node</th>
              <th class="end">applied</th>
              <th>voters</th>
              <th>learners</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <tr key={textAt(group, 'scope')}>
                <td>{textAt(group, 'scope')}</td>
                <td>
                  {at(group, 'leader') === null ? (
                    <Mark kind="bad">none</Mark>
                  ) : (
                    `node ${textAt(group, 'leader')}`
                  )}
                </td>
                <td>{textAt(group, 'role')}</td>
                <td class="end">{textAt(group, 'applied')}</td>
                <td>{listAt(group, 'voters').map(String).join(', ')}</td>
                <td>{listAt(group, 'learners').map(String).join(', ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Part>
  );
}

function Collections({
  collections,
  groups,
}: {
  readonly collections: readonly WireValue[];
  readonly groups: readonly WireValue[] | null;
}): JSX.Element {
  const leaderOf = (name: string): string => {
    const group = (groups ?? []).find((each) => textAt(each, 'scope') === collectionScope(name));
    return textAt(group, 'leader');
  };
  return (
    <Part title="Collections">
      {collections.length === 0 ? <p class="empty">There are none that you may see.</p> : null}
      <Scroll label="Collections">
        <table>
          <thead>
            <tr>
              <th>name</th>
              <th class="end">things</th>
              <th class="end">leader</th>
              <th>time zone</th>
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
                  <td class="end">{leaderOf(name)}</td>
                  <td>{textAt(each, 'time_zone')}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
    </Part>
  );
}
