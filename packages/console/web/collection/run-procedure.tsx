/** A form for the arguments of a procedure, what it gave, and how programs call it. */

import type { WireValue } from '@althing/client';
import { stringifyJson } from '@althing/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Failed, Ran } from '../results/protocol.js';
import { askWorker } from '../results/remote.js';
import { FailedView, ResultView, RunningView } from '../results/view.js';
import { type ProcedureInfo, pathOf } from '../state/names.js';
import { linkTo } from '../state/route.js';
import { may } from '../state/session.js';
import { readOnly } from '../state/settings.js';
import { Copied } from '../ui/parts.js';
import { ValueFields, type ValueText, valueOrNothing } from '../ui/value-fields.js';
import { parametersOf, returnsOf } from './parameters.js';

interface Props {
  readonly scope: string;
  readonly procedure: ProcedureInfo;
}

export function RunProcedure({ scope, procedure }: Props): JSX.Element {
  const { name, doc, changes } = procedure;
  const parameters = parametersOf(procedure);
  const [texts, setTexts] = useState<readonly ValueText[]>(() =>
    parameters.map(({ type }) => ({ type, text: '' })),
  );
  const [isRunning, setRunning] = useState(false);
  const [ended, end] = useState<{ readonly run: number; readonly ended: Ran | Failed } | null>(null);
  const result = `procedure ${scope} ${name}`;
  const [, collection] = pathOf(scope);
  const linkToThing = collection === undefined ? null : (id: bigint) => linkTo(['c', collection, 'data', id]);
  const values = parameters.map((parameter, i): WireValue | undefined => {
    const text = texts[i] ?? { type: parameter.type, text: '' };
    return parameter.isOptional && text.text === '' ? null : valueOrNothing(text);
  });
  const args = new Map(parameters.map(({ name: key }, i): [string, WireValue] => [key, values[i] ?? null]));
  const isRefused = changes && (readOnly.value || !may('CHANGE', scope));
  const run = async (event: Event): Promise<void> => {
    event.preventDefault();
    setRunning(true);
    try {
      const next = await askWorker({
        kind: 'run',
        result,
        scope,
        code: '',
        vars: args,
        procedure: name,
        dry: null,
      });
      end((before) => ({ run: (before?.run ?? 0) + 1, ended: next }));
    } finally {
      setRunning(false);
    }
  };
  return (
    <form class="stack" onSubmit={(event) => void run(event)}>
      {parameters.map((parameter, i) => (
        <fieldset key={parameter.name} class="argument">
          <legend>
            <span class="mono">{parameter.name}</span> <span class="quiet mono">{parameter.definition}</span>
          </legend>
          <ValueFields
            value={texts[i] ?? { type: parameter.type, text: '' }}
            change={(text) =>
              setTexts(
                parameters.map((each, at) =>
                  at === i ? text : (texts[at] ?? { type: each.type, text: '' }),
                ),
              )
            }
          />
        </fieldset>
      ))}
      <div class="row">
        <button type="submit" class="main" disabled={isRunning || isRefused || values.includes(undefined)}>
          Run
        </button>
        {isRefused ? <span class="quiet">It may change something, and that is not allowed here.</span> : null}
        {returnsOf(doc) === '' ? null : (
          <span class="quiet">
            gives <code>{returnsOf(doc)}</code>
          </span>
        )}
      </div>
      <div aria-live="polite">
        {isRunning ? (
          <RunningView result={result} />
        ) : ended === null ? null : ended.ended.ok ? (
          <ResultView result={result} run={ended.run} ran={ended.ended} linkToThing={linkToThing} />
        ) : (
          <FailedView failed={ended.ended} />
        )}
      </div>
      <details>
        <summary>Call it from a program</summary>
        <div class="stack">
          <Copied label="curl" text={curlOf(scope, name, args)} />
          <Copied label="TypeScript" text={typeScriptOf(scope, name, args)} />
        </div>
      </details>
    </form>
  );
}

/** A line for a shell; the token is that of a variable. */
function curlOf(scope: string, name: string, args: ReadonlyMap<string, WireValue>): string {
  const body = `{"type":"run","name":${JSON.stringify(name)},"args":${stringifyJson(new Map(args))}}`;
  const [, collection] = pathOf(scope);
  const path = collection === undefined ? 'thingsdb' : `/${encodeURIComponent(collection)}`;
  const address = new URL('../', location.href).href + path;
  return [
    'curl -H "Authorization: Bearer $ALTHING_TOKEN" -H "Content-Type: application/json"',
    `  -d '${body.replaceAll("'", "'\\''")}' \\`,
    `  '${address}'`,
  ]
    .join(' \\\n')
    .replace(' \\ \\\n', ' \\\n');
}

function typeScriptOf(scope: string, name: string, args: ReadonlyMap<string, WireValue>): string {
  const url = new URL('../', location.href).href;
  const list = [...args.values()].map(literalOf).join(', ');
  const [, collection] = pathOf(scope);
  const access =
    collection === undefined
      ? 'db.$root'
      : /^[A-Za-z_]\w*$/.test(collection)
        ? `db.${collection}`
        : `db.$collection(${JSON.stringify(collection)})`;
  return [
    "import { connect } from '@althing/client';",
    '',
    `const db = connect(${JSON.stringify(url)}, { token: process.env.ALTHING_TOKEN });`,
    `const result = await ${access}.procs.${name}(${list});`,
  ].join('\n');
}

function literalOf(value: WireValue): string {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? String(value) : `${value}n`;
  return value instanceof Uint8Array ? `new Uint8Array([${value.join(', ')}])` : stringifyJson(value);
}
