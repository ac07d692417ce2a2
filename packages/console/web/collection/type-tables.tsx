/** Tables of what types, enums and indexes have, with a button for each change. */
import type { JSX } from 'preact';
import { scalarText } from '../results/show.js';
import type { EnumInfo, IndexInfo, TypeInfo } from '../state/names.js';
import { linkTo } from '../state/route.js';
import type { Form } from '../ui/form.js';
import { Mark, RowButton, Scroll } from '../ui/parts.js';
import type { DefinitionForms } from './definition-forms.js';

/** How changes begin; null where there are none. */
export interface Editing {
  readonly forms: DefinitionForms;
  readonly open: (form: Form) => void;
}

interface TypeProps {
  readonly type: TypeInfo;
  readonly scope: string;
  readonly editing: Editing | null;
}

export function TypeTable({ type, scope, editing }: TypeProps): JSX.Element {
  const { name, flags, fields, methods, relations } = type;
  const relation = new Map(relations.map((each) => [each.field, `${each.type}.${each.inverse}`]));
  return (
    <div>
      <div class="row far">
        <h3 class="mono">{name}</h3>
        <span class="row">
          <a href={linkTo(['q'], { scope, code: `type_count('${name}');` })}>
            count<span class="hidden-text"> {name}</span>
          </a>
          <Actions
            editing={editing}
            about={name}
            of={(forms) => [
              ['add property', forms.addProperty(type)],
              ['add method', forms.method(type, null)],
              ['new index', forms.newIndex(type)],
              ['rename', forms.rename('type', name)],
              ['delete', forms.remove('type', name)],
            ]}
          />
        </span>
      </div>
      {flags.length === 0 ? null : <p class="quiet">{flags.join(', ')}</p>}
      <Scroll label={`Fields of ${name}`}>
        <table class="mono">
          <tbody>
            {fields.map(([field, definition]) => (
              <tr key={field}>
                <td>{field}</td>
                <td class="wide">{definition}</td>
                <td class="quiet">{relation.get(field) === undefined ? '' : `⇄ ${relation.get(field)}`}</td>
                <td class="end">
                  <Actions
                    editing={editing}
                    about={`${name}.${field}`}
                    of={(forms) => [
                      ['change', forms.changeProperty(type, field, definition)],
                      ['rename', forms.renameProperty(type, field)],
                      ...(/[A-Z]/.test(definition) ? [['relate', forms.relate(type, field)] as const] : []),
                      ['delete', forms.removeProperty(type, field)],
                    ]}
                  />
                </td>
              </tr>
            ))}
            {methods.map(([method, source]) => (
              <tr key={method}>
                <td>{method}()</td>
                <td class="wide" colSpan={2}>
                  {source === '' ? 'method' : source.replaceAll('\t', '  ')}
                </td>
                <td class="end">
                  <Actions
                    editing={source === '' ? null : editing}
                    about={`${name}.${method}()`}
                    of={(forms) => [
                      ['change', forms.method(type, [method, source])],
                      ['rename', forms.renameProperty(type, method)],
                      ['delete', forms.removeProperty(type, method)],
                    ]}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </div>
  );
}

export function EnumTable({
  info,
  editing,
}: {
  readonly info: EnumInfo;
  readonly editing: Editing | null;
}): JSX.Element {
  const { name, members, byDefault } = info;
  return (
    <div>
      <div class="row far">
        <h3 class="mono">{name}</h3>
        <span class="row">
          <Actions
            editing={editing}
            about={name}
            of={(forms) => [
              ['add member', forms.addMember(info)],
              ['rename', forms.rename('enum', name)],
              ['delete', forms.remove('enum', name)],
            ]}
          />
        </span>
      </div>
      <Scroll label={`Members of ${name}`}>
        <table class="mono">
          <tbody>
            {members.map(([member, value]) => (
              <tr key={member}>
                <td>{member}</td>
                <td class="wide">{scalarText(value)}</td>
                <td class="quiet">{member === byDefault ? 'default' : ''}</td>
                <td class="end">
                  <Actions
                    editing={editing}
                    about={`${name}.${member}`}
                    of={(forms) => [
                      ['change', forms.changeMember(info, member, value)],
                      ['rename', forms.renameMember(info, member)],
                      ...(member === byDefault
                        ? []
                        : [['make default', forms.makeDefault(info, member)] as const]),
                      ['delete', forms.removeMember(info, member)],
                    ]}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </div>
  );
}

export function IndexTable({
  indexes,
  editing,
}: {
  readonly indexes: readonly IndexInfo[];
  readonly editing: Editing | null;
}): JSX.Element {
  return (
    <Scroll label="Indexes">
      <table class="mono">
        <thead>
          <tr>
            <th>type</th>
            <th>index</th>
            <th>properties</th>
            <th class="end">entries</th>
            <th>state</th>
            <th class="end">change</th>
          </tr>
        </thead>
        <tbody>
          {indexes.map((index) => (
            <tr key={`${index.type} ${index.name}`}>
              <td>{index.type}</td>
              <td>{index.name}</td>
              <td>
                {index.fields.join(', ')} {index.isUnique ? <Mark kind="quiet">unique</Mark> : null}
              </td>
              <td class="end">{index.entries}</td>
              <td class="wide">
                <Mark
                  kind={index.state === 'ready' ? 'good' : index.state.startsWith('failed') ? 'bad' : 'warn'}
                >
                  {index.state}
                </Mark>
              </td>
              <td class="end">
                <Actions
                  editing={editing}
                  about={`${index.type} ${index.name}`}
                  of={(forms) => [
                    ['rename', forms.renameIndex(index)],
                    ['delete', forms.removeIndex(index)],
                  ]}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

interface ActionsProps {
  readonly editing: Editing | null;
  /** The subject of the buttons, for users who don't see the row. */
  readonly about: string;
  readonly of: (forms: DefinitionForms) => readonly (readonly [text: string, form: Form])[];
}

function Actions({ editing, about, of }: ActionsProps): JSX.Element | null {
  if (editing === null) return null;
  return (
    <span class="actions">
      {of(editing.forms).map(([text, form]) => (
        <RowButton key={text} text={text} about={about} act={() => editing.open(form)} />
      ))}
    </span>
  );
}
