/** Procedures of a scope: a list, and one of them with its documentation, source, and a form to run it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { CodeEditor } from '../query/editor.js';
import { verdictOn } from '../query/rules.js';
import { loadNames, namesOf, type ProcedureInfo, pathOf } from '../state/names.js';
import { goTo, linkTo } from '../state/route.js';
import { may, mayChange } from '../state/session.js';
import { ActionDialog } from '../ui/action.js';
import { type Deed, definingDeed } from '../ui/deed.js';
import { Code, Field, Mark, Part, Scroll } from '../ui/parts.js';
import type { SectionProps } from './page.js';
import { proseOf } from './parameters.js';
import { RunProcedure } from './run-procedure.js';

export function Procedures({ scope, rest }: Pick<SectionProps, 'scope' | 'rest'>): JSX.Element {
  const [chosen] = rest;
  const { procedures } = namesOf(scope);
  const found = procedures.find((each) => each.name === chosen);
  if (chosen !== undefined && found !== undefined)
    return <Procedure key={chosen} scope={scope} procedure={found} />;
  return <List scope={scope} procedures={procedures} missing={chosen} />;
}

/** Procedures that are listed at once; the filter finds the others. */
const LISTED_MAX = 200;

interface ListProps {
  readonly scope: string;
  readonly procedures: readonly ProcedureInfo[];
  /** A name in the address that there is no procedure of. */
  readonly missing: string | undefined;
}

function List({ scope, procedures, missing }: ListProps): JSX.Element {
  const [wanted, want] = useState('');
  const [isMaking, make] = useState(false);
  const fitting = procedures.filter((each) =>
    `${each.name} ${each.doc}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  return (
    <Part
      title={`Procedures (${procedures.length})`}
      actions={
        <>
          <input
            type="search"
            aria-label="Filter"
            placeholder="filter"
            value={wanted}
            onInput={(event) => want(event.currentTarget.value)}
          />
          {mayChange(scope) ? (
            <button type="button" class="main" onClick={() => make(true)}>
              New procedure
            </button>
          ) : null}
        </>
      }
    >
      {missing === undefined ? null : (
        <p class="quiet">There is no procedure {missing}, or it is not known yet.</p>
      )}
      {procedures.length === 0 ? (
        <p class="empty">
          A procedure is a closure that the database keeps under a name, and that programs call: there are
          none yet.
        </p>
      ) : (
        <Scroll label="Procedures">
          <table>
            <thead>
              <tr>
                <th>call</th>
                <th>what it does</th>
                <th>effect</th>
              </tr>
            </thead>
            <tbody>
              {fitting.slice(0, LISTED_MAX).map((each) => (
                <tr key={each.name}>
                  <td class="wide mono">
                    <a href={linkTo([...pathOf(scope), 'procedures', each.name])}>{each.name}</a>
                    <span class="quiet">({each.arguments.join(', ')})</span>
                  </td>
                  <td class="wide">{proseOf(each.doc).split('\n')[0]}</td>
                  <td>
                    <EffectMark changes={each.changes} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {fitting.length > LISTED_MAX ? (
        <p class="quiet">{fitting.length - LISTED_MAX} more: filter by a name.</p>
      ) : null}
      {isMaking ? (
        <SourceDialog
          scope={scope}
          title="New procedure"
          name=""
          source={NEW_SOURCE}
          deed={(made, source) =>
            definingDeed(scope, 'new_procedure(name, closure(source));', { name: made, source })
          }
          done={(made) => void loadNames(scope).then(() => goTo([...pathOf(scope), 'procedures', made]))}
          close={() => make(false)}
        />
      ) : null}
    </Part>
  );
}

const NEW_SOURCE = `|name| {
  "What it does.
   @param name str";
  name;
}`;

/** Nobody overwrites what somebody else changed meanwhile. */
const SET_SOURCE = `assert(procedure_info(name).load().definition == before, 'changed meanwhile: look again');
set_procedure(name, closure(source)); nil;`;

function EffectMark({ changes }: { readonly changes: boolean }): JSX.Element {
  return changes ? <Mark kind="warn">may change</Mark> : <Mark kind="good">reads only</Mark>;
}

interface ProcedureProps {
  readonly scope: string;
  readonly procedure: ProcedureInfo;
}

function Procedure({ scope, procedure }: ProcedureProps): JSX.Element {
  const { name, doc, definition, changes } = procedure;
  const [over, open] = useState<'edit' | 'rename' | 'delete' | null>(null);
  const again = (): void => void loadNames(scope);
  const leave = (to: readonly string[]): void =>
    void loadNames(scope).then(() => goTo([...pathOf(scope), 'procedures', ...to]));
  const before = definition;
  return (
    <>
      <Part
        title={
          <>
            <a href={linkTo([...pathOf(scope), 'procedures'])}>Procedures</a> ›{' '}
            <span class="mono">{name}</span>
          </>
        }
        actions={
          <>
            <EffectMark changes={changes} />
            {mayChange(scope) && definition !== '' ? (
              <>
                <button type="button" onClick={() => open('edit')}>
                  Edit
                </button>
                <button type="button" onClick={() => open('rename')}>
                  Rename
                </button>
                <button type="button" class="danger" onClick={() => open('delete')}>
                  Delete
                </button>
              </>
            ) : null}
          </>
        }
      >
        {proseOf(doc) === '' ? null : <p class="prose">{proseOf(doc)}</p>}
        {may('RUN', scope) ? <RunProcedure scope={scope} procedure={procedure} /> : null}
      </Part>
      {definition === '' ? null : (
        <Part title="Source">
          <Code>{definition.replaceAll('\t', '  ')}</Code>
        </Part>
      )}
      {over === 'edit' ? (
        <SourceDialog
          scope={scope}
          title="Edit the procedure"
          name={name}
          source={definition.replaceAll('\t', '  ')}
          deed={(_, source) => definingDeed(scope, SET_SOURCE, { name, source, before })}
          done={again}
          close={() => open(null)}
        />
      ) : null}
      {over === 'rename' ? (
        <RenameDialog scope={scope} name={name} done={(to) => leave([to])} close={() => open(null)} />
      ) : null}
      {over === 'delete' ? (
        <ActionDialog
          title="Delete the procedure"
          what="Programs that call it will get an error."
          deed={definingDeed(scope, 'del_procedure(name);', { name })}
          typed={name}
          done={() => leave([])}
          close={() => open(null)}
        />
      ) : null}
    </>
  );
}

function RenameDialog({
  scope,
  name,
  done,
  close,
}: {
  readonly scope: string;
  readonly name: string;
  readonly done: (to: string) => void;
  readonly close: () => void;
}): JSX.Element {
  const [to, setTo] = useState(name);
  const deed =
    to === '' || to === name ? null : definingDeed(scope, 'rename_procedure(name, to);', { name, to });
  return (
    <ActionDialog title="Rename the procedure" deed={deed} done={() => done(to)} close={close}>
      <Field label="Name">
        <input value={to} onInput={(event) => setTo(event.currentTarget.value)} />
      </Field>
    </ActionDialog>
  );
}

function SourceDialog({
  scope,
  title,
  name,
  source,
  deed,
  done,
  close,
}: {
  readonly scope: string;
  readonly title: string;
  /** Empty for a new one, which is to be named. */
  readonly name: string;
  readonly source: string;
  readonly deed: (name: string, source: string) => Deed;
  readonly done: (name: string) => void;
  readonly close: () => void;
}): JSX.Element {
  const [made, setMade] = useState(name);
  const [text, setText] = useState(source);
  const isGood =
    made !== '' &&
    !['mistake', 'empty'].includes(verdictOn(text, scope, []).kind) &&
    text.trimStart().startsWith('|');
  return (
    <ActionDialog title={title} deed={isGood ? deed(made, text) : null} done={() => done(made)} close={close}>
      {name === '' ? (
        <Field label="Name">
          <input
            value={made}
            autoComplete="off"
            spellcheck={false}
            onInput={(event) => setMade(event.currentTarget.value)}
          />
        </Field>
      ) : null}
      <CodeEditor id={title} text={source} scope={() => scope} changed={setText} run={() => {}} />
      <p class="quiet">
        A closure: <code>|parameters| {'{ … }'}</code>. A text that it begins with is its documentation; lines
        such as <code>@param name str</code> make its form.
      </p>
    </ActionDialog>
  );
}
