/** Types and enums of a collection: their fields, and how they hang together. */
import type { WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { scalarText } from '../results/show.js';
import { type EnumInfo, loadNames, namesOf, type TypeInfo } from '../state/names.js';
import { linkTo } from '../state/route.js';
import { mayChange } from '../state/session.js';
import { ActionDialog } from '../ui/action.js';
import { Field, Part, Scroll } from '../ui/parts.js';
import type { SectionProps } from './page.js';
import { TypesDiagram } from './types-diagram.js';

export function Types({ scope }: SectionProps): JSX.Element {
  const { types, enums } = namesOf(scope);
  const [over, open] = useState<
    'type' | 'enum' | { readonly kind: 'type' | 'enum'; readonly name: string } | null
  >(null);
  const again = (): void => void loadNames(scope);
  const isEditable = mayChange(scope);
  return (
    <>
      {types.length > 0 ? <TypesDiagram types={types} enums={enums.map(({ name }) => name)} /> : null}
      <Part
        title={`Types (${types.length})`}
        actions={
          isEditable ? (
            <button type="button" class="main" onClick={() => open('type')}>
              New type
            </button>
          ) : undefined
        }
      >
        {types.length === 0 ? (
          <p class="empty">
            A type says which properties its things have, and what they accept. There are none: any thing may
            hold anything.
          </p>
        ) : (
          <div class="columns">
            {types.map((type) => (
              <TypeTable
                key={type.name}
                type={type}
                scope={scope}
                remove={isEditable ? () => open({ kind: 'type', name: type.name }) : null}
              />
            ))}
          </div>
        )}
      </Part>
      <Part
        title={`Enums (${enums.length})`}
        actions={
          isEditable ? (
            <button type="button" onClick={() => open('enum')}>
              New enum
            </button>
          ) : undefined
        }
      >
        <div class="columns">
          {enums.map((each) => (
            <EnumTable
              key={each.name}
              of={each}
              remove={isEditable ? () => open({ kind: 'enum', name: each.name }) : null}
            />
          ))}
        </div>
      </Part>
      {over === 'type' ? (
        <NewDefinition kind={TYPE} scope={scope} done={again} close={() => open(null)} />
      ) : null}
      {over === 'enum' ? (
        <NewDefinition kind={ENUM} scope={scope} done={again} close={() => open(null)} />
      ) : null}
      {over !== null && typeof over === 'object' ? (
        <ActionDialog
          title={`Delete the ${over.kind}`}
          what={
            over.kind === 'type' ? 'Its instances become plain things.' : 'No member of it may be in use.'
          }
          deed={{ scope, code: `del_${over.kind}(name);`, vars: { name: over.name } }}
          typed={over.name}
          done={again}
          close={() => open(null)}
        />
      ) : null}
    </>
  );
}

function TypeTable({
  type: { name, fields, methods, relations },
  scope,
  remove,
}: {
  readonly type: TypeInfo;
  readonly scope: string;
  readonly remove: (() => void) | null;
}): JSX.Element {
  const relation = new Map(relations.map((each) => [each.field, `${each.type}.${each.inverse}`]));
  return (
    <div>
      <div class="row far">
        <h3 class="mono">{name}</h3>
        <span class="row">
          <a href={linkTo(['q'], { scope, code: `type_count('${name}');` })}>
            count<span class="hidden-text"> {name}</span>
          </a>
          {remove === null ? null : (
            <button type="button" class="link" onClick={remove}>
              delete<span class="hidden-text"> {name}</span>
            </button>
          )}
        </span>
      </div>
      <Scroll label={`Fields of ${name}`}>
        <table class="mono">
          <tbody>
            {fields.map(([field, definition]) => (
              <tr key={field}>
                <td>{field}</td>
                <td class="wide">{definition}</td>
                <td class="quiet">{relation.get(field) === undefined ? '' : `⇄ ${relation.get(field)}`}</td>
              </tr>
            ))}
            {methods.map((method) => (
              <tr key={method}>
                <td>{method}()</td>
                <td class="quiet">method</td>
                <td />
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </div>
  );
}

function EnumTable({
  of: { name, members, byDefault },
  remove,
}: {
  readonly of: EnumInfo;
  readonly remove: (() => void) | null;
}): JSX.Element {
  return (
    <div>
      <div class="row far">
        <h3 class="mono">{name}</h3>
        {remove === null ? null : (
          <button type="button" class="link" onClick={remove}>
            delete<span class="hidden-text"> {name}</span>
          </button>
        )}
      </div>
      <table class="mono">
        <tbody>
          {members.map(([member, value]) => (
            <tr key={member}>
              <td>{member}</td>
              <td class="wide">{scalarText(value)}</td>
              <td class="quiet">{member === byDefault ? 'default' : ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A kind of definition that a dialog makes, from lines of names with texts. */
interface Kind {
  readonly title: string;
  readonly label: string;
  readonly example: string;
  /** Makes it of the variables `name` and `parts`. */
  readonly code: string;
  readonly hint: JSX.Element | null;
}

const TYPE: Kind = {
  title: 'New type',
  label: 'Properties, a line each: name: definition',
  example: 'name: str\nage: uint',
  code: 'set_type(name, parts);',
  hint: (
    <p class="quiet">
      Definitions: <code>str</code> <code>str&lt;1:40&gt;</code> <code>int</code> <code>uint</code>{' '}
      <code>float</code> <code>bool</code> <code>datetime</code> <code>email</code> <code>[str]</code>,
      another type, <code>{'{Type}'}</code> for a set; <code>?</code> behind one accepts nil.
    </p>
  ),
};

const ENUM: Kind = {
  title: 'New enum',
  label: 'Members, a line each: NAME: text',
  example: 'LOW: low\nHIGH: high',
  code: 'set_enum(name, parts);',
  hint: null,
};

interface NewProps {
  readonly kind: Kind;
  readonly scope: string;
  readonly done: () => void;
  readonly close: () => void;
}

function NewDefinition({ kind, scope, done, close }: NewProps): JSX.Element {
  const [name, setName] = useState('');
  const [text, setText] = useState(kind.example);
  const parts = pairsOf(text);
  const isGood = name !== '' && parts !== null && parts.size > 0;
  const deed = isGood ? { scope, code: kind.code, vars: { name, parts } } : null;
  return (
    <ActionDialog title={kind.title} deed={deed} done={done} close={close}>
      <Field label="Name">
        <input
          value={name}
          autoComplete="off"
          spellcheck={false}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </Field>
      <Field label={kind.label}>
        <textarea rows={7} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </Field>
      {kind.hint}
    </ActionDialog>
  );
}

/** Null for a line that is no pair. */
function pairsOf(text: string): ReadonlyMap<string, WireValue> | null {
  const pairs = new Map<string, WireValue>();
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const [, name, value] = /^\s*(\w+)\s*:\s*(.+?)\s*,?\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return null;
    pairs.set(name, value);
  }
  return pairs;
}
