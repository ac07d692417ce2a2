/** Forms that make and change types, enums and indexes. */
import type { WireValue } from '@althing/client';
import { textOfValue, valueOfText } from '../query/variables.js';
import type { EnumInfo, IndexInfo, TypeInfo } from '../state/names.js';
import { type Deed, definingDeed } from '../ui/deed.js';
import type { Form, FormField } from '../ui/form.js';

const NAME: FormField = { key: 'name', label: 'Name' };
const DEFINITIONS =
  'Definitions: str, str<1:40>, int, uint, float, bool, datetime, email, [str], another type, {Type} for a set; ? behind one accepts nil.';

/** All forms for definitions of one scope. */
export class DefinitionForms {
  constructor(private readonly scope: string) {}

  newType(): Form {
    return {
      title: 'New type',
      what: DEFINITIONS,
      fields: [NAME, lines('Properties, a line each: name: definition', 'name: str\nage: uint')],
      deed: (given) => this.ofPairs('set_type(name, parts);', given.text('name'), given.text('parts')),
    };
  }

  newEnum(): Form {
    return {
      title: 'New enum',
      fields: [NAME, lines('Members, a line each: NAME: text', 'LOW: low\nHIGH: high')],
      deed: (given) => this.ofPairs('set_enum(name, parts);', given.text('name'), given.text('parts')),
    };
  }

  rename(kind: 'type' | 'enum', name: string): Form {
    return {
      title: `Rename the ${kind}`,
      fields: [{ ...NAME, start: name }],
      deed: (given) => this.of(`rename_${kind}(name, to);`, { name, to: given.text('name') }),
    };
  }

  remove(kind: 'type' | 'enum', name: string): Form {
    return {
      title: `Delete the ${kind}`,
      what: kind === 'type' ? 'Its instances become plain things.' : 'No member of it may be in use.',
      typed: name,
      deed: () => this.of(`del_${kind}(name);`, { name }),
    };
  }

  addProperty({ name: type }: TypeInfo): Form {
    return {
      title: 'Add a property',
      what: DEFINITIONS,
      fields: [
        NAME,
        { key: 'definition', label: 'Definition' },
        {
          key: 'first',
          label: 'Value of instances that there are, as JSON; empty: the default',
          isOptional: true,
        },
      ],
      deed: (given) => {
        const vars = { type, name: given.text('name'), definition: given.text('definition') };
        if (given.text('first') === '') return this.of("mod_type(type, 'add', name, definition);", vars);
        const first = jsonOrNothing(given.text('first'));
        if (first === undefined) return null;
        return this.of("mod_type(type, 'add', name, definition, first);", { ...vars, first });
      },
    };
  }

  changeProperty({ name: type }: TypeInfo, field: string, definition: string): Form {
    return {
      title: 'Change the property',
      fields: [
        { key: 'definition', label: 'Definition', start: definition },
        {
          key: 'convert',
          kind: 'code',
          label: `Where values may not fit: a closure that converts them, such as |t| str(t.${field})`,
          isOptional: true,
        },
      ],
      deed: (given) => {
        const vars = { type, field, definition: given.text('definition') };
        const convert = given.text('convert');
        return convert.trim() === ''
          ? this.of("mod_type(type, 'mod', field, definition);", vars)
          : this.of("mod_type(type, 'mod', field, definition, closure(convert));", { ...vars, convert });
      },
    };
  }

  renameProperty({ name: type }: TypeInfo, field: string): Form {
    return {
      title: 'Rename the property',
      fields: [{ ...NAME, start: field }],
      deed: (given) => this.of("mod_type(type, 'ren', field, to);", { type, field, to: given.text('name') }),
    };
  }

  removeProperty({ name: type }: TypeInfo, field: string): Form {
    return {
      title: `Delete ${field}`,
      what: `All instances of ${type} lose it, with what it holds.`,
      typed: field,
      deed: () => this.of("mod_type(type, 'del', field);", { type, field }),
    };
  }

  relate({ name: type, relations }: TypeInfo, field: string): Form {
    const before = relations.find((each) => each.field === field)?.inverse ?? '';
    return {
      title: 'Relate the property',
      what: 'Two properties that are kept in step: what one refers to refers back by the other.',
      fields: [
        {
          key: 'to',
          label: 'Property of the other type; empty: no relation',
          start: before,
          isOptional: true,
        },
      ],
      deed: (given) =>
        given.text('to') === ''
          ? this.of("mod_type(type, 'rel', field, nil);", { type, field })
          : this.of("mod_type(type, 'rel', field, to);", { type, field, to: given.text('to') }),
    };
  }

  /** @param method null for a new one */
  method({ name: type }: TypeInfo, method: readonly [name: string, source: string] | null): Form {
    const start = method?.[1].replaceAll('\t', '  ') ?? '|this| this.id()';
    return {
      title: method === null ? 'Add a method' : 'Change the method',
      fields: [
        ...(method === null ? [NAME] : []),
        { key: 'source', kind: 'code', label: 'A closure; its first argument is the instance', start },
      ],
      deed: (given) =>
        this.of(`mod_type(type, '${method === null ? 'add' : 'mod'}', name, closure(source));`, {
          type,
          name: method?.[0] ?? given.text('name'),
          source: given.text('source'),
        }),
    };
  }

  addMember({ name }: EnumInfo): Form {
    return {
      title: 'Add a member',
      fields: [{ key: 'member', label: 'Name' }, VALUE],
      deed: (given) => {
        const value = given.value('value');
        if (value === undefined) return null;
        return this.of("mod_enum(name, 'add', member, value);", {
          name,
          member: given.text('member'),
          value,
        });
      },
    };
  }

  changeMember({ name }: EnumInfo, member: string, value: WireValue): Form {
    return {
      title: 'Change the member',
      fields: [{ ...VALUE, start: textOfValue(value) }],
      deed: (given) => {
        const next = given.value('value');
        return next === undefined
          ? null
          : this.of("mod_enum(name, 'mod', member, value);", { name, member, value: next });
      },
    };
  }

  renameMember({ name }: EnumInfo, member: string): Form {
    return {
      title: 'Rename the member',
      fields: [{ key: 'to', label: 'Name', start: member }],
      deed: (given) => this.of("mod_enum(name, 'ren', member, to);", { name, member, to: given.text('to') }),
    };
  }

  removeMember({ name }: EnumInfo, member: string): Form {
    return {
      title: 'Delete the member',
      what: 'It may not be in use.',
      deed: () => this.of("mod_enum(name, 'del', member);", { name, member }),
    };
  }

  makeDefault({ name }: EnumInfo, member: string): Form {
    return {
      title: 'Make it the default',
      deed: () => this.of("mod_enum(name, 'def', member);", { name, member }),
    };
  }

  newIndex({ name: type, fields }: TypeInfo): Form {
    return {
      title: 'New index',
      what: 'An index finds the instances of a type by values of one property, or of up to four, and keeps their order.',
      fields: [
        NAME,
        {
          key: 'properties',
          label: `Properties, with commas between them; empty: the one of that name. ${fields.map(([each]) => each).join(', ')}`,
          isOptional: true,
        },
        {
          key: 'flags',
          kind: 'choice',
          label: 'Equal values',
          options: [
            ['0', 'allowed'],
            ['UNIQUE', 'refused (unique)'],
          ],
        },
      ],
      deed: (given) => {
        const listed = given
          .text('properties')
          .split(',')
          .flatMap((each) => each.trim() || []);
        const name = given.text('name');
        const properties = listed.length === 0 ? [name] : listed;
        const flags = given.text('flags') === 'UNIQUE' ? 'UNIQUE' : '0';
        return this.of(`new_index(type, name, properties, ${flags});`, { type, name, properties });
      },
    };
  }

  renameIndex({ type, name }: IndexInfo): Form {
    return {
      title: 'Rename the index',
      fields: [{ ...NAME, start: name }],
      deed: (given) => this.of('rename_index(type, name, to);', { type, name, to: given.text('name') }),
    };
  }

  removeIndex({ type, name }: IndexInfo): Form {
    return {
      title: 'Delete the index',
      what: 'Queries that name it fail from then on.',
      deed: () => this.of('del_index(type, name);', { type, name }),
    };
  }

  private of(code: string, vars: Readonly<Record<string, WireValue>>): Deed {
    return definingDeed(this.scope, code, vars);
  }

  private ofPairs(code: string, name: string, text: string): Deed | null {
    const parts = pairsOf(text);
    return parts === null || parts.size === 0 ? null : this.of(code, { name, parts });
  }
}

const VALUE: FormField = { key: 'value', label: 'Value', kind: 'value' };

function lines(label: string, start: string): FormField {
  return { key: 'parts', kind: 'lines', label, start };
}

function jsonOrNothing(text: string): WireValue | undefined {
  try {
    return valueOfText('json', text);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Pairs from lines such as `name: str`. Null for a line that is no pair. */
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
