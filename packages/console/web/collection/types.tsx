/** Types, enums and indexes of a collection: what they are, how they hang together, and what can be done to them. */
import type { JSX } from 'preact';
import { loadNames, namesOf } from '../state/names.js';
import { mayChange } from '../state/session.js';
import { useForm } from '../ui/form.js';
import { Part } from '../ui/parts.js';
import { DefinitionForms } from './definition-forms.js';
import type { SectionProps } from './page.js';
import { type Editing, EnumTable, IndexTable, TypeTable } from './type-tables.js';
import { TypesDiagram } from './types-diagram.js';

export function Types({ scope }: SectionProps): JSX.Element {
  const { types, enums, indexes } = namesOf(scope);
  const [open, dialog] = useForm(() => void loadNames(scope));
  const forms = new DefinitionForms(scope);
  const editing: Editing | null = mayChange(scope) ? { forms, open } : null;
  return (
    <>
      {types.length > 0 ? <TypesDiagram types={types} enums={enums.map(({ name }) => name)} /> : null}
      <Part
        title={`Types (${types.length})`}
        actions={
          editing === null ? undefined : (
            <button type="button" class="main" onClick={() => open(forms.newType())}>
              New type
            </button>
          )
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
              <TypeTable key={type.name} type={type} scope={scope} editing={editing} />
            ))}
          </div>
        )}
      </Part>
      <Part
        title={`Enums (${enums.length})`}
        actions={
          editing === null ? undefined : (
            <button type="button" onClick={() => open(forms.newEnum())}>
              New enum
            </button>
          )
        }
      >
        <div class="columns">
          {enums.map((each) => (
            <EnumTable key={each.name} info={each} editing={editing} />
          ))}
        </div>
      </Part>
      {indexes.length === 0 ? null : (
        <Part title={`Indexes (${indexes.length})`}>
          <IndexTable indexes={indexes} editing={editing} />
        </Part>
      )}
      {dialog}
    </>
  );
}
