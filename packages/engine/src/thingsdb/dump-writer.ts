/** Writes a collection as a dump of ThingsDB; `dump.ts` and `records.ts` have the form. */
import { parseClosure } from '@althing/language';
import { definitionText } from '../schema/definition.js';
import type { EnumDef } from '../schema/enum.js';
import type { FieldDef, TypeDef } from '../schema/type.js';
import type { CollectionGroup } from '../state/collection-group.js';
import type { Charge } from '../state/transaction.js';
import type { Closure } from '../value/closure.js';
import type { TaskState } from '../value/task.js';
import { DUMP_SCHEMA } from './dump.js';
import { DataOutput } from './output.js';
import { TYPE_FLAGS } from './schema.js';
import { compareBytes, structureBytes, ValueWriter } from './value-writer.js';

/** A dump of ThingsDB, and what could not be written into it. */
export interface ThingsdbDump {
  readonly bytes: Uint8Array;
  /** A line each. */
  readonly problems: readonly string[];
}

/**
 * Writes a collection, all of which comes into memory.
 *
 * @param version of ThingsDB that the dump says it is of: an older one refuses it
 */
export function writeThingsdbDump(group: CollectionGroup, version: string, charge: Charge): ThingsdbDump {
  return new DumpWriter(group, charge).write(version);
}

class DumpWriter {
  private readonly out = new DataOutput();
  private readonly values: ValueWriter;

  constructor(
    private readonly group: CollectionGroup,
    charge: Charge,
  ) {
    this.values = new ValueWriter(this.out, group.store, charge);
  }

  write(version: string): ThingsdbDump {
    const { group, out } = this;
    const { schema, root, rooms } = group.store;
    const enums = [...schema.allEnums()].flatMap(({ def }) => (def === null ? [] : [def])).sort(byName);
    const types = [...schema.allTypes()].flatMap(({ def }) => (def === null ? [] : [def])).sort(byName);
    const tasks = [...group.tasks.list()].sort((a, b) => a.startAt - b.startAt || a.id - b.id);
    const relations = types.flatMap((def) => this.relationsOf(def));
    const procedures = [...group.procedures.byName.values()].sort(byName);
    const named = [...rooms.byName].sort(([a], [b]) => compareBytes(a, b));
    const rows = [
      ...enums.map((def) => () => this.newEnum(def)),
      ...types.map((def) => () => this.newType(def)),
      ...types.map((def) => () => this.setType(def)),
      ...tasks.map((task) => () => this.task(task)),
      () => this.record(77, () => this.values.write(root)),
      ...enums.map((def) => () => this.setEnum(def)),
      ...tasks.filter(takesArguments).map((task) => () => this.arguments(task)),
      ...relations,
      ...procedures.map(({ name, createdAt, closure }) => () => {
        this.map(32, [() => out.str(name), () => out.int(createdAt), () => this.values.write(closure)]);
      }),
      ...named.map(([name, { id }]) => () => {
        this.record(79, () => {
          out.beginArray(2);
          out.int(id);
          out.str(name);
        });
      }),
    ];
    out.beginArray(2 + rows.length);
    out.int(DUMP_SCHEMA);
    out.str(version);
    for (const row of rows) row();
    return { bytes: out.take(), problems: this.values.problems };
  }

  private record(number: number, payload: () => void): void {
    this.out.beginArray(2);
    this.out.int(number);
    payload();
  }

  /** A record whose payload is a map with empty keys. */
  private map(number: number, values: readonly (() => void)[]): void {
    this.record(number, () => {
      this.out.beginMap(values.length);
      for (const value of values) {
        this.out.str('');
        value();
      }
    });
  }

  private newEnum({ id, createdAt, name, members }: EnumDef): void {
    const { out, values } = this;
    this.map(75, [
      () => out.int(values.numbers.enum(id)),
      () => out.int(createdAt),
      () => out.str(name),
      () => out.int(members.length),
      () => {
        out.beginArray(members.length);
        for (const member of members) out.str(member.name);
      },
    ]);
  }

  private newType({ id, createdAt, name, flags }: TypeDef): void {
    const { out, values } = this;
    this.map(35, [
      () => out.int(values.numbers.type(id)),
      () => out.int(createdAt),
      () => out.str(name),
      ...this.flags(flags),
    ]);
  }

  private setType({ id, modifiedAt, flags, fields, idName, methods }: TypeDef): void {
    const { out, values } = this;
    this.map(51, [
      () => out.int(values.numbers.type(id)),
      () => out.int(modifiedAt ?? 0),
      ...this.flags(flags),
      () => {
        out.beginArray(fields.length + (idName === null ? 0 : 1));
        if (idName !== null) this.pair(idName, () => out.str('#'));
        for (const field of fields) this.pair(field.name, () => this.definition(field));
      },
      () => {
        out.beginMap(methods.size);
        for (const [name, closure] of methods) {
          out.str(name);
          this.values.write(closure);
        }
      },
    ]);
  }

  private flags(flags: number): (() => void)[] {
    return TYPE_FLAGS.map((flag) => () => this.out.bool((flags & flag) !== 0));
  }

  private definition({ definition }: FieldDef): void {
    const { schema } = this.group.store;
    const { base } = definition;
    if (base.kind === 'nested') this.out.bin(structureBytes(base.structure, schema, base.isList));
    else this.out.str(definitionText(definition, schema));
  }

  private task({ id, startAt, closure }: TaskState): void {
    const { out } = this;
    // The owner is whoever imports it.
    const owner = 0;
    this.map(59, [
      () => out.int(id),
      () => out.int(startAt),
      () => out.int(owner),
      () => this.values.write(closure),
      () => out.beginArray(0),
    ]);
  }

  /** The first argument is the task itself, which is not written. */
  private arguments({ id, args }: TaskState): void {
    const { out, values } = this;
    this.map(63, [
      () => out.int(id),
      () => {
        out.beginArray(1 + args.length);
        out.nil();
        for (const value of args.items) values.write(value);
      },
    ]);
  }

  private setEnum({ id, members, methods }: EnumDef): void {
    const { out, values } = this;
    this.map(76, [
      () => out.int(values.numbers.enum(id)),
      () => {
        out.beginArray(members.length);
        for (const { name, value } of members) this.pair(name, () => values.write(value));
      },
      () => {
        out.beginArray(methods.size);
        for (const [name, closure] of methods) this.pair(name, () => values.write(closure));
      },
    ]);
  }

  /** The relations that a type begins: those to a type with a higher id, and to a later field of its own. */
  private relationsOf(def: TypeDef): (() => void)[] {
    const { out, group, values: writer } = this;
    return def.fields.flatMap((field, place) => {
      const { relation } = field;
      const other = relation === null ? null : group.store.schema.type(relation.type).def;
      if (relation === null || other === null) return [];
      const end = other.fields.findIndex(({ id }) => id === relation.field);
      const begins = other.id === def.id ? end >= place : other.id > def.id;
      if (!begins) return [];
      const values = [
        () => out.int(def.modifiedAt ?? 0),
        () => out.int(writer.numbers.type(def.id)),
        () => out.str(field.name),
        () => out.int(writer.numbers.type(other.id)),
        () => out.str(other.fields[end]?.name ?? ''),
      ];
      return [() => this.map(25, values)];
    });
  }

  private pair(name: string, value: () => void): void {
    this.out.beginArray(2);
    this.out.str(name);
    value();
  }
}

function takesArguments({ closure }: { readonly closure: Closure }): boolean {
  return parseClosure(closure.source).params.length > 0;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareBytes(a.name, b.name);
}
