/** The last hour of each node, what takes its time, and what runs now. */
import type { WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { hasFunction, namesOf } from '../state/names.js';
import { ask, may, mayChange } from '../state/session.js';
import { bytesText, durationText } from '../state/texts.js';
import { at, entriesOf, itemsOf, listAt, numberAt, textAt } from '../state/values.js';
import { ActionDialog } from '../ui/action.js';
import { Failure, Head, Part, RowButton, Scroll, useAnswer, useEvery } from '../ui/parts.js';
import { historyOfAll, shapesOfAll } from './all-nodes.js';
import { Chart, type ChartMark, type Series } from './chart.js';

const REFRESH_MS = 5000;
/** How long a node is waited for. */
const WAIT_MS = 5000;

/** In the place of a node: all of them together. */
const ALL = '';

export function Activity(): JSX.Element {
  const names = namesOf('@node');
  const { value: nodes, error } = useAnswer('nodes', async () =>
    itemsOf(await ask('@node', 'nodes_info();')),
  );
  const [chosen, choose] = useState(ALL);
  const ids = (nodes ?? []).map((each) => textAt(each, 'node_id'));
  const shown = ids.filter((id) => chosen === ALL || id === chosen);
  return (
    <div class="page">
      <Head title="Activity">
        {ids.length > 1 ? (
          <label class="row">
            <span class="quiet">Node</span>
            <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
              <option value={ALL}>all together</option>
              {(nodes ?? []).map((each) => (
                <option key={textAt(each, 'node_id')} value={textAt(each, 'node_id')}>
                  {textAt(each, 'node_id')} ({textAt(each, 'node_name')})
                </option>
              ))}
            </select>
          </label>
        ) : null}
      </Head>
      <Failure error={error} />
      {shown.length === 0 ? null : (
        <>
          {hasFunction(names, 'metrics_history') ? <LastHour nodes={shown} /> : null}
          {may('CHANGE', '@node') && hasFunction(names, 'requests_info') ? <Requests nodes={shown} /> : null}
          {may('CHANGE', '@node') && hasFunction(names, 'queries_info') ? <Shapes nodes={shown} /> : null}
        </>
      )}
    </div>
  );
}

interface NodesProps {
  /** Their ids. */
  readonly nodes: readonly string[];
}

interface Told {
  readonly node: string;
  readonly answer: WireValue;
}

/** What nodes say. Of several, those that do not answer are left out. */
async function askAll(nodes: readonly string[], code: string): Promise<Told[]> {
  const askOne = async (node: string): Promise<Told> => ({
    node,
    answer: await ask(`@node:${node}`, code, {}, { timeoutMs: WAIT_MS }),
  });
  const [only] = nodes;
  if (only !== undefined && nodes.length === 1) return [await askOne(only)];
  const told = await Promise.allSettled(nodes.map(askOne));
  return told.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}

const seconds = (value: number): string => durationText(value);
const count = (value: number): string => (value < 10 ? value.toFixed(1) : String(Math.round(value)));

function LastHour({ nodes }: NodesProps): JSX.Element {
  const { value, error, again } = useAnswer(`history ${nodes}`, async () =>
    historyOfAll((await askAll(nodes, 'metrics_history();')).map(({ answer }) => answer)),
  );
  useEvery(REFRESH_MS, again);
  if (value === null) return <Failure error={error} />;
  const times = numbers(at(value, 'times')).map((time) => time ?? 0);
  const step = numberAt(value, 'step') ?? 5;
  const perSecond = (key: string): Series[] =>
    entriesOf(at(value, key))
      .map(([name, values]) => ({
        name,
        values: numbers(values).map((each) => (each === null ? null : each / step)),
      }))
      .filter(({ name, values }) => name === 'ok' || values.some((each) => each !== null && each > 0));
  const parts = (key: string): Series[] =>
    entriesOf(at(value, key)).map(([name, values]) => ({ name, values: numbers(values) }));
  const single = (key: string, name: string): Series => ({ name, values: numbers(at(value, key)) });
  const marks = listAt(value, 'marks').map(
    (mark): ChartMark => ({
      at: numberAt(mark, 'at') ?? 0,
      kind: textAt(mark, 'kind'),
      text: textAt(mark, 'text'),
    }),
  );
  const common = { times, marks };
  return (
    <Part title="The last hour">
      {nodes.length > 1 ? (
        <p class="quiet">Requests, memory, disk and connections are sums; of delays the worst node counts.</p>
      ) : null}
      {times.length === 0 ? <p class="empty">The first figures come within five seconds.</p> : null}
      <div class="charts">
        <Chart {...common} title="Requests a second" series={perSecond('requests')} text={count} />
        <Chart {...common} title="Request latency" series={parts('request_latency')} text={seconds} />
        <Chart {...common} title="Commit latency" series={parts('commit_latency')} text={seconds} />
        <Chart {...common} title="Log sync" series={parts('sync_latency')} text={seconds} />
        <Chart {...common} title="Event loop delay" series={parts('event_loop_delay')} text={seconds} />
        <Chart
          {...common}
          title="Memory"
          series={[single('resident_bytes', 'resident'), single('cache_bytes', 'cache')]}
          text={bytesText}
        />
        <Chart {...common} title="Free disk" series={[single('disk_free_bytes', 'free')]} text={bytesText} />
        <Chart
          {...common}
          title="Connections"
          series={[single('connections', 'open'), single('in_flight', 'requests')]}
          text={count}
        />
      </div>
      {marks.length === 0 ? null : (
        <details>
          <summary>Marks: starts, elections, backups</summary>
          <ul>
            {marks.map(({ at: time, text }) => (
              <li key={`${time} ${text}`} class="num">
                <span class="quiet">{new Date(time * 1000).toISOString().slice(11, 19)}</span> {text}
              </li>
            ))}
          </ul>
        </details>
      )}
    </Part>
  );
}

function numbers(value: WireValue | undefined): (number | null)[] {
  return itemsOf(value).map((each) =>
    typeof each === 'number' || typeof each === 'bigint' ? Number(each) : null,
  );
}

function Shapes({ nodes }: NodesProps): JSX.Element {
  const { value, error, again } = useAnswer(`shapes ${nodes}`, async () =>
    shapesOfAll((await askAll(nodes, 'queries_info();')).map(({ answer }) => itemsOf(answer))),
  );
  return (
    <Part
      title="What takes the time"
      actions={
        <button type="button" class="plain" onClick={again}>
          Refresh
        </button>
      }
    >
      <Failure error={error} />
      <Scroll label="Query shapes">
        <table>
          <thead>
            <tr>
              <th class="end">total</th>
              <th class="end">count</th>
              <th class="end">mean</th>
              <th class="end">p99</th>
              <th class="end">failed</th>
              <th>scope</th>
              <th>query</th>
            </tr>
          </thead>
          <tbody>
            {(value ?? []).slice(0, 100).map(({ scope, query, count: times, failures, total, p99 }) => (
              <tr key={`${scope} ${query}`}>
                <td class="end">{seconds(total)}</td>
                <td class="end">{times}</td>
                <td class="end">{seconds(times === 0 ? 0 : total / times)}</td>
                <td class="end">{seconds(p99)}</td>
                <td class="end">{failures}</td>
                <td>{scope.replace('@collection:', '')}</td>
                <td class="mono wide">{query.slice(0, 300)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Part>
  );
}

function Requests({ nodes }: NodesProps): JSX.Element {
  const { value, error, again } = useAnswer(`requests ${nodes}`, async () =>
    (await askAll(nodes, 'requests_info();')).flatMap(({ node, answer }) =>
      itemsOf(answer).map((request) => ({ node, request })),
    ),
  );
  const [ends, end] = useState<{ readonly node: string; readonly id: string } | null>(null);
  useEvery(REFRESH_MS, again);
  return (
    <Part title="What runs now">
      <Failure error={error} />
      {value === null || value.length === 0 ? (
        <p class="quiet">Nothing, but for this question.</p>
      ) : (
        <Scroll label="Requests">
          <table>
            <thead>
              <tr>
                <th class="end">node</th>
                <th class="end">id</th>
                <th>state</th>
                <th class="end">run</th>
                <th>user</th>
                <th>scope</th>
                <th>text</th>
                <th class="end">change</th>
              </tr>
            </thead>
            <tbody>
              {value.map(({ node, request: each }) => (
                <tr key={`${node} ${textAt(each, 'id')}`}>
                  <td class="end">{node}</td>
                  <td class="end">{textAt(each, 'id')}</td>
                  <td>
                    {textAt(each, 'state')} {textAt(each, 'waits_for').replaceAll('_', ' ')}
                  </td>
                  <td class="end">{seconds(numberAt(each, 'run') ?? 0)}</td>
                  <td>{textAt(each, 'user')}</td>
                  <td>{textAt(each, 'scope').replace('@collection:', '')}</td>
                  <td class="mono wide">{textAt(each, 'text')}</td>
                  <td class="end">
                    {mayChange('@node') ? (
                      <RowButton
                        text="cancel"
                        about={textAt(each, 'id')}
                        act={() => end({ node, id: textAt(each, 'id') })}
                      />
                    ) : null}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {ends === null ? null : (
        <ActionDialog
          title="Cancel the request"
          what="One that has changed nothing ends with an error."
          deed={{ scope: `@node:${ends.node}`, code: 'cancel_request(id);', vars: { id: BigInt(ends.id) } }}
          done={again}
          close={() => end(null)}
        />
      )}
    </Part>
  );
}
