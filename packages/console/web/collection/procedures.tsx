/** Procedures of a scope: a list, and one of them with its documentation, source, and a form to run it. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { CodeEditor } from '../query/editor.js';
import { rulesOf, verdictOn } from '../query/rules.js';
import { PAGE } from '../results/protocol.js';
import { type ProcedureInfo, pathOf, procedureInfo } from '../state/names.js';
import { goTo, linkTo } from '../state/route.js';
import { ask, may, mayChange } from '../state/session.js';
import { itemsOf } from '../state/values.js';
import { ActionDialog } from '../ui/action.js';
import { type Deed, definingDeed } from '../ui/deed.js';
import { Pager } from '../ui/pager.js';
import { Code, Failure, Field, Mark, Part, Scroll, useAnswer } from '../ui/parts.js';
import type { SectionProps } from './page.js';
import { proseOf } from './parameters.js';
import { RunProcedure } from './run-procedure.js';

export function Procedures({ scope, rest }: Pick<SectionProps, 'scope' | 'rest'>): JSX.Element {
  const [chosen] = rest;
  return chosen === undefined ? (
    <List scope={scope} missing={null} />
  ) : (
    <Chosen key={chosen} scope={scope} name={chosen} />
  );
}

function Chosen({ scope, name }: { readonly scope: string; readonly name: string }): JSX.Element {
  const { value, error, again } = useAnswer(`${scope} ${name}`, async () => {
    const found = await ask(scope, 'has_procedure(name) ? procedure_info(name) : nil;', { name });
    return { procedure: found === null ? null : procedureInfo(found) };
  });
  if (error !== null) return <Failure error={error} />;
  if (value === null) return <Part title="Procedures">{null}</Part>;
  const { procedure } = value;
  if (procedure === null) return <List scope={scope} missing={name} />;
  return <Procedure scope={scope} procedure={procedure} again={again} />;
}

/** A page of the procedures that a text is found in, and how many there are: of ten thousand, all would take too long. */
const LISTED = `all = procedures_info();
fitting = wanted == '' ? all : all.filter(|each| {
  each = each.load();
  (each.name + ' ' + each.doc).lower().contains(wanted);
});
[all.len(), fitting.len(), fitting[from:to]];`;

interface Listed {
  readonly total: number;
  readonly fitting: number;
  readonly procedures: readonly ProcedureInfo[];
}

async function listed(scope: string, wanted: string, from: number): Promise<Listed> {
  const vars = { wanted: wanted.toLowerCase(), from: BigInt(from), to: BigInt(from + PAGE) };
  const [total, fitting, found] = itemsOf(await ask(scope, LISTED, vars));
  return { total: Number(total), fitting: Number(fitting), procedures: itemsOf(found).map(procedureInfo) };
}

/** How long nobody types before the node is asked, in milliseconds. */
const FILTER_MS = 200;

interface ListProps {
  readonly scope: string;
  /** A name in the address that there is no procedure of. */
  readonly missing: string | null;
}

function List({ scope, missing }: ListProps): JSX.Element {
  const [typed, type] = useState('');
  const [{ wanted, from }, look] = useState({ wanted: '', from: 0 });
  const [isMaking, make] = useState(false);
  const { last, error } = useAnswer(`${scope} ${from} ${wanted}`, () => listed(scope, wanted, from));
  useEffect(() => {
    if (typed === wanted) return;
    const timer = setTimeout(() => look({ wanted: typed, from: 0 }), FILTER_MS);
    return () => clearTimeout(timer);
  }, [typed, wanted]);
  const { total, fitting, procedures } = last ?? { total: null, fitting: 0, procedures: [] };
  return (
    <Part
      title={total === null ? 'Procedures' : `Procedures (${total})`}
      actions={
        <>
          <input
            type="search"
            aria-label="Filter"
            placeholder="filter"
            value={typed}
            onInput={(event) => type(event.currentTarget.value)}
          />
          {mayChange(scope) ? (
            <button type="button" class="main" onClick={() => make(true)}>
              New procedure
            </button>
          ) : null}
        </>
      }
    >
      {missing === null ? null : <p class="quiet">There is no procedure {missing}.</p>}
      <Failure error={error} />
      {total === null ? null : total === 0 ? (
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
              {procedures.map((each) => (
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
      {total !== null && total > 0 && fitting === 0 ? <p class="empty">None of them is like that.</p> : null}
      <Pager from={from} total={fitting} go={(next) => look({ wanted, from: next })} />
      {isMaking ? (
        <SourceDialog
          scope={scope}
          title="New procedure"
          name=""
          source={NEW_SOURCE}
          deed={(made, source) =>
            definingDeed(scope, 'new_procedure(name, closure(source));', { name: made, source })
          }
          done={(made) => goTo([...pathOf(scope), 'procedures', made])}
          close={() => make(false)}
        />
      ) : null}
    </Part>
  );
}

/** Enough to find mistakes. */
const NO_RULES = rulesOf([]);

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
  readonly again: () => void;
}

function Procedure({ scope, procedure, again }: ProcedureProps): JSX.Element {
  const { name, doc, definition, changes } = procedure;
  const [over, open] = useState<'edit' | 'rename' | 'delete' | null>(null);
  const leave = (to: readonly string[]): void => goTo([...pathOf(scope), 'procedures', ...to]);
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
    !['mistake', 'empty'].includes(verdictOn(text, scope, NO_RULES).kind) &&
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
