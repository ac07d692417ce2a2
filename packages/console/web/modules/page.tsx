/** Modules: programs that queries call, and how each is on every node. */
import { stringifyJson, type WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { askNodes, type NodeAnswer } from '../state/other-nodes.js';
import { ask, may, mayChange } from '../state/session.js';
import { at, itemsOf, textAt } from '../state/values.js';
import { type Form, useForm } from '../ui/form.js';
import { Failure, Head, Mark, RowButton, Scroll, useAnswer } from '../ui/parts.js';
import {
  configure,
  deploy,
  limitScope,
  newModule,
  ROOT,
  refresh,
  removeModule,
  renameModule,
} from './forms.js';

interface Loaded {
  readonly modules: readonly WireValue[];
  /** The same, as each node knows them; none for a user who may not ask nodes. */
  readonly nodes: readonly NodeAnswer<readonly WireValue[]>[];
}

async function loadModules(): Promise<Loaded> {
  const [modules, nodes] = await Promise.all([
    ask(ROOT, 'modules_info();').then(itemsOf),
    may('QUERY', '@node') ? askNodes('modules_info();', itemsOf) : [],
  ]);
  return { modules, nodes };
}

export function Modules(): JSX.Element {
  const { value, error, again } = useAnswer('modules', loadModules);
  const [open, dialog] = useForm(again);
  const isEditable = mayChange(ROOT);
  return (
    <div class="page">
      <Head title="Modules">
        {isEditable ? (
          <button type="button" class="main" onClick={() => open(newModule())}>
            New module
          </button>
        ) : null}
        <button type="button" onClick={again}>
          Refresh
        </button>
      </Head>
      <Failure error={error} />
      {value === null ? null : value.modules.length === 0 ? (
        <p class="empty">
          A module is a program of your own that queries call: to send mail, to ask another database. It runs
          on nodes whose setting <code>enable_modules</code> allows it. There are none.
        </p>
      ) : (
        <Table loaded={value} open={isEditable ? open : null} />
      )}
      {dialog}
    </div>
  );
}

interface TableProps {
  readonly loaded: Loaded;
  readonly open: ((form: Form) => void) | null;
}

function Table({ loaded: { modules, nodes }, open }: TableProps): JSX.Element {
  return (
    <Scroll label="Modules">
      <table>
        <thead>
          <tr>
            <th>module</th>
            <th>scope</th>
            <th>status</th>
            <th>configuration</th>
            {open === null ? null : <th class="end">change</th>}
          </tr>
        </thead>
        <tbody>
          {modules.map((module) => {
            const name = textAt(module, 'name');
            return (
              <tr key={name}>
                <td class="mono">{name}</td>
                <td>{textAt(module, 'scope') || 'every one'}</td>
                <td class="wide">
                  {nodes.length === 0 ? <Status text={textAt(module, 'status')} /> : null}
                  {nodes.map(({ node, answer }) => (
                    <div key={node}>
                      {nodes.length === 1 ? '' : `node ${node}: `}
                      <Status
                        text={
                          answer === null
                            ? 'did not answer'
                            : textAt(
                                answer.find((each) => textAt(each, 'name') === name),
                                'status',
                              )
                        }
                      />
                    </div>
                  ))}
                </td>
                <td class="wide mono">{confOf(module).slice(0, 200)}</td>
                {open === null ? null : (
                  <td class="end">
                    <span class="actions">
                      {actionsOn(name, module).map(([text, form]) => (
                        <RowButton key={text} text={text} about={name} act={() => open(form)} />
                      ))}
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

function actionsOn(name: string, module: WireValue): readonly (readonly [text: string, form: Form])[] {
  return [
    ['configure', configure(name, confOf(module))],
    ['scope', limitScope(name, textAt(module, 'scope'))],
    ['deploy', deploy(name)],
    ['start anew', refresh(name)],
    ['rename', renameModule(name)],
    ['delete', removeModule(name)],
  ];
}

function Status({ text }: { readonly text: string }): JSX.Element {
  return <Mark kind={text === 'running' ? 'good' : 'warn'}>{text}</Mark>;
}

/** Empty for none, and for a user who may not see it. */
function confOf(module: WireValue): string {
  const conf = at(module, 'conf') ?? null;
  return conf === null ? '' : stringifyJson(conf);
}
