/** A result as a tree, a table, or raw text; the worker has it, and gives what is shown. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { bytesText, durationText, errorText } from '../state/texts.js';
import { Pager } from '../ui/pager.js';
import { Choice, Failure, Scroll, useAnswer } from '../ui/parts.js';
import {
  type Failed,
  type FileFormat,
  type Items,
  PAGE,
  type Ran,
  type RawPage,
  type Shown,
  type TablePage,
  type Way,
} from './protocol.js';
import { askWorker, waitingRuns } from './remote.js';

type View = 'tree' | 'table' | 'raw';

/** Counts runs, so that what is shown of an earlier one is asked for again. */
export interface ResultProps {
  readonly result: string;
  readonly run: number;
  readonly ran: Ran;
  /** Where a thing is shown; null where there are no pages for it. */
  readonly linkToThing: ((id: bigint) => string) | null;
}

export function ResultView({ result, run, ran, linkToThing }: ResultProps): JSX.Element {
  const [view, choose] = useState<View>('tree');
  const { root, way } = ran;
  return (
    <div class="result">
      <div class="row far">
        <WayText way={way} />
        <div class="row">
          <Choice
            label="Show the result as"
            value={view}
            options={[
              ['tree', 'Tree'],
              ['table', 'Table'],
              ['raw', 'Raw'],
            ]}
            choose={choose}
          />
          <Download result={result} />
        </div>
      </div>
      {view === 'tree' ? <Tree key={run} result={result} root={root} linkToThing={linkToThing} /> : null}
      {view === 'table' ? <TableView key={run} result={result} linkToThing={linkToThing} /> : null}
      {view === 'raw' ? <RawView key={run} result={result} /> : null}
    </div>
  );
}

/** The time of a run, and where it went; one that takes its time is worth knowing why. */
function WayText({ way: { ms, bytes, node, attempts, index, parts } }: { readonly way: Way }): JSX.Element {
  const own = parts.map(([name, each]) => `${name} ${durationText(each / 1000)}`).join(', ');
  return (
    <p class="quiet num" role="status">
      {durationText(ms / 1000)}
      {own === '' ? '' : ` (${own})`}, {bytesText(bytes)}
      {node === '' ? '' : `, from ${new URL(node).host}`}
      {index === 0 ? '' : `, index ${index}`}
      {attempts > 1 ? `, ${attempts} attempts` : ''}
    </p>
  );
}

/** A run that is not answered yet, and why it takes more than one attempt. */
export function RunningView({ result }: { readonly result: string }): JSX.Element {
  const waiting = waitingRuns.value.get(result);
  return (
    <>
      <p class="quiet busy">Running …</p>
      {waiting === undefined ? null : (
        <p class="notice warn" role="status">
          It waits: {waiting.why} ({waiting.attempts === 1 ? '1 attempt' : `${waiting.attempts} attempts`}).
          It goes on by itself as soon as it can, and is carried out at most once.
        </p>
      )}
    </>
  );
}

export function FailedView({ failed }: { readonly failed: Failed }): JSX.Element {
  const { name, message, outcome, at, procedure, way } = failed;
  const place =
    at === null
      ? ''
      : `Line ${at.line}, column ${at.column}${procedure === null ? '' : ` of the procedure ${procedure}`}. `;
  const became = {
    none: 'Nothing was changed.',
    made: 'The change was made; only its answer is lost.',
    unknown: 'It is not known whether the change was made: look before you run it again.',
    not_sent: 'It was not sent.',
  }[outcome];
  return (
    <div class="notice bad" role="alert">
      <strong>{name}</strong> {message}
      <p>
        {place}
        {became}
      </p>
      <WayText way={way} />
    </div>
  );
}

const FORMATS: readonly FileFormat[] = ['json', 'csv', 'msgpack'];

function Download({ result }: { readonly result: string }): JSX.Element {
  const [failure, setFailure] = useState<string | null>(null);
  const save = async (format: FileFormat): Promise<void> => {
    setFailure(null);
    const blob = await askWorker({ kind: 'file', result, format });
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = `result.${format}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };
  return (
    <>
      <select
        aria-label="Save the result as a file"
        value=""
        onChange={(event) => {
          const format = FORMATS.find((each) => each === event.currentTarget.value);
          event.currentTarget.value = '';
          if (format !== undefined) save(format).catch((error: unknown) => setFailure(errorText(error)));
        }}
      >
        <option value="">Save as …</option>
        <option value="json">JSON</option>
        <option value="csv">CSV</option>
        <option value="msgpack">MessagePack</option>
      </select>
      {failure === null ? null : (
        <p class="notice bad" role="alert">
          Nothing was saved: {failure}. MessagePack holds every value.
        </p>
      )}
    </>
  );
}

interface TreeProps {
  readonly result: string;
  readonly linkToThing: ((id: bigint) => string) | null;
}

function Tree({ result, root, linkToThing }: TreeProps & { readonly root: Shown }): JSX.Element {
  return (
    <Scroll label="Result as a tree">
      <div class="tree mono">
        {root.size > 0 ? (
          <>
            <ValueCell value={root} linkToThing={linkToThing} result={result} path={[]} />
            <Branch result={result} path={[]} linkToThing={linkToThing} />
          </>
        ) : (
          <ValueCell value={root} linkToThing={linkToThing} result={result} path={[]} />
        )}
      </div>
    </Scroll>
  );
}

function Branch({
  result,
  path,
  linkToThing,
}: TreeProps & { readonly path: readonly number[] }): JSX.Element {
  const [items, set] = useState<Items | null>(null);
  const [error, fail] = useState<unknown>(null);
  const more = async (from: number): Promise<void> => {
    try {
      const next = await askWorker({ kind: 'items', result, path, from });
      set((before) =>
        from === 0 || before === null ? next : { ...next, items: [...before.items, ...next.items] },
      );
    } catch (caught) {
      fail(caught);
    }
  };
  useEffect(() => void more(0), []);
  if (error !== null) return <Failure error={error} />;
  if (items === null) return <ul />;
  const left = items.total - items.items.length;
  return (
    <ul>
      {items.items.map(({ key, value }, i) => (
        <Leaf
          key={key}
          name={key}
          value={value}
          result={result}
          path={[...path, i]}
          linkToThing={linkToThing}
        />
      ))}
      {left > 0 ? (
        <li>
          <button type="button" class="link" onClick={() => void more(items.items.length)}>
            {Math.min(PAGE, left)} more of {left}
          </button>
        </li>
      ) : null}
    </ul>
  );
}

interface LeafProps extends TreeProps {
  readonly name: string;
  readonly value: Shown;
  readonly path: readonly number[];
}

function Leaf({ name, value, result, path, linkToThing }: LeafProps): JSX.Element {
  const [isOpen, open] = useState(false);
  const label = (
    <>
      <span class="key">{name}</span>{' '}
      <ValueCell value={value} linkToThing={linkToThing} result={result} path={path} />
    </>
  );
  if (value.size === 0) return <li>{label}</li>;
  return (
    <li>
      <button
        type="button"
        class="twist"
        aria-expanded={isOpen}
        aria-label={`${isOpen ? 'Close' : 'Open'} ${name}`}
        onClick={() => open(!isOpen)}
      >
        {isOpen ? '▾' : '▸'}
      </button>
      {label}
      {isOpen ? <Branch result={result} path={path} linkToThing={linkToThing} /> : null}
    </li>
  );
}

interface ValueProps {
  readonly value: Shown;
  readonly linkToThing: ((id: bigint) => string) | null;
  /** Where the whole of a cut text is. */
  readonly result?: string;
  readonly path?: readonly number[];
}

export function ValueCell({ value, linkToThing, result, path }: ValueProps): JSX.Element {
  const [whole, set] = useState<string | null>(null);
  const { type, text, isCut, id } = value;
  const content =
    type === 'str'
      ? JSON.stringify(whole ?? text)
          .slice(1, -1)
          .replaceAll('\\"', '"')
      : (whole ?? text);
  const shown = (
    <span class={`value ${type}`}>
      {type === 'str' ? <span class="quote">"</span> : null}
      {type === 'list' || type === 'set' ? <span class="kind">{type} </span> : null}
      {type === 'thing' && id === null ? <span class="kind">thing </span> : null}
      {content}
      {type === 'str' && (!isCut || whole !== null) ? <span class="quote">"</span> : null}
      {type === 'bytes' ? <span class="kind"> bytes</span> : null}
    </span>
  );
  const load = async (): Promise<void> => {
    if (result !== undefined && path !== undefined) set(await askWorker({ kind: 'text', result, path }));
  };
  return (
    <>
      {id !== null && linkToThing !== null ? <a href={linkToThing(id)}>{shown}</a> : shown}
      {isCut && whole === null && result !== undefined ? (
        <button type="button" class="link" onClick={() => void load()}>
          … all
        </button>
      ) : isCut && whole === null ? (
        '…'
      ) : null}
    </>
  );
}

/** Rows that a new table begins with; the others follow at once: to make and lay out a hundred takes too long in one task. */
const FIRST_ROWS = 40;

function TableView({ result, linkToThing }: TreeProps): JSX.Element {
  const [from, go] = useState(0);
  const { last: page, error } = useAnswer<TablePage>(`${result} ${from}`, () =>
    askWorker({ kind: 'table', result, from }),
  );
  const [shownRows, show] = useState(FIRST_ROWS);
  useEffect(() => {
    if (page === null) return;
    const timer = setTimeout(() => show(PAGE));
    return () => clearTimeout(timer);
  }, [page]);
  if (error !== null) return <Failure error={error} />;
  if (page === null) return <p class="quiet">Reading …</p>;
  return (
    <>
      <Scroll label="Result as a table">
        <table class="mono">
          <thead>
            <tr>
              <th class="end">row</th>
              {page.columns.map((column) => (
                <th key={column}>{column}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {page.rows.slice(0, shownRows).map((row, i) => (
              <tr key={from + i}>
                <td class="end quiet">{from + i}</td>
                {row.map((cell, column) => (
                  <td key={page.columns[column]} class="value">
                    {cell === null ? null : <ValueCell value={cell} linkToThing={linkToThing} />}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <Pager from={from} total={page.total} go={go} />
    </>
  );
}

function RawView({ result }: { readonly result: string }): JSX.Element {
  const [from, go] = useState(0);
  const { last: page, error } = useAnswer<RawPage>(`${result} ${from}`, () =>
    askWorker({ kind: 'raw', result, from }),
  );
  if (error !== null) return <Failure error={error} />;
  if (page === null) return <p class="quiet">Reading …</p>;
  const { text, total } = page;
  return (
    <>
      <Scroll label="Result as text">
        <pre>{text}</pre>
      </Scroll>
      {total > text.length ? (
        <div class="row num">
          <button type="button" disabled={from === 0} onClick={() => go(Math.max(0, from - text.length))}>
            Before
          </button>
          <span>
            characters {from} to {from + text.length} of {total}
          </span>
          <button type="button" disabled={from + text.length >= total} onClick={() => go(from + text.length)}>
            Next
          </button>
        </div>
      ) : null}
    </>
  );
}
