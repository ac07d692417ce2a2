/** The last hour of each node, what takes its time, and what runs now. */
import type { WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { hasFunction, namesOf } from '../state/names.js';
import { ask, may, mayChange } from '../state/session.js';
import { bytesText, durationText } from '../state/texts.js';
import { at, entriesOf, itemsOf, listAt, numberAt, textAt } from '../state/values.js';
import { ActionDialog } from '../ui/action.js';
import { Failure, Head, Part, Scroll, useAnswer, useEvery } from '../ui/parts.js';
import { Chart, type ChartMark, type Series } from './chart.js';

const REFRESH_MS = 5000;

export function Activity(): JSX.Element {
  const names = namesOf('@node');
  const { value: nodes, error } = useAnswer('nodes', async () =>
    itemsOf(await ask('@node', 'nodes_info();')),
  );
  const [chosen, choose] = useState('');
  const node = chosen === '' ? textAt(nodes?.[0] ?? null, 'node_id') : chosen;
  const scope = `@node:${node}`;
  return (
    <div class="page">
      <Head title="Activity">
        {nodes !== null && nodes.length > 1 ? (
          <label class="row">
            <span class="quiet">Node</span>
            <select value={node} onChange={(event) => choose(event.currentTarget.value)}>
              {nodes.map((each) => (
                <option key={textAt(each, 'node_id')} value={textAt(each, 'node_id')}>
                  {textAt(each, 'node_id')} ({textAt(each, 'node_name')})
                </option>
              ))}
            </select>
          </label>
        ) : null}
      </Head>
      <Failure error={error} />
      {node === '' ? null : (
        <>
          {hasFunction(names, 'metrics_history') ? <LastHour key={scope} scope={scope} /> : null}
          {may('CHANGE', '@node') && hasFunction(names, 'requests_info') ? <Requests scope={scope} /> : null}
          {may('CHANGE', '@node') && hasFunction(names, 'queries_info') ? <Shapes scope={scope} /> : null}
        </>
      )}
    </div>
  );
}

const seconds = (value: number): string => durationText(value);
const count = (value: number): string => (value < 10 ? value.toFixed(1) : String(Math.round(value)));

function LastHour({ scope }: { readonly scope: string }): JSX.Element {
  const { value, error, again } = useAnswer(`history ${scope}`, () => ask(scope, 'metrics_history();'));
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

function Shapes({ scope }: { readonly scope: string }): JSX.Element {
  const { value, error, again } = useAnswer(`shapes ${scope}`, async () =>
    itemsOf(await ask(scope, 'queries_info();')),
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
            {(value ?? []).slice(0, 100).map((each) => (
              <tr key={`${textAt(each, 'scope')} ${textAt(each, 'query')}`}>
                <td class="end">{seconds(numberAt(each, 'run_total') ?? 0)}</td>
                <td class="end">{textAt(each, 'count')}</td>
                <td class="end">{seconds(numberAt(each, 'run_mean') ?? 0)}</td>
                <td class="end">{seconds(numberAt(each, 'run_p99') ?? 0)}</td>
                <td class="end">{textAt(each, 'failures')}</td>
                <td>{textAt(each, 'scope').replace('@collection:', '')}</td>
                <td class="mono wide">{textAt(each, 'query').slice(0, 300)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Part>
  );
}

function Requests({ scope }: { readonly scope: string }): JSX.Element {
  const { value, error, again } = useAnswer(`requests ${scope}`, async () =>
    itemsOf(await ask(scope, 'requests_info();')),
  );
  const [ends, end] = useState<string | null>(null);
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
              {value.map((each) => (
                <tr key={textAt(each, 'id')}>
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
                      <button type="button" class="link" onClick={() => end(textAt(each, 'id'))}>
                        cancel<span class="hidden-text"> {textAt(each, 'id')}</span>
                      </button>
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
          deed={{ scope, code: 'cancel_request(id);', vars: { id: BigInt(ends) } }}
          done={again}
          close={() => end(null)}
        />
      )}
    </Part>
  );
}
