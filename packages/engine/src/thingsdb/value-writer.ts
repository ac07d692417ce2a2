/** Writes values as ThingsDB has them in its dumps; `values.ts` has the forms. Things nest: what is not written whole yet waits on a stack. */
import { Buffer } from 'node:buffer';
import { offsetAt, ZONE_NAMES } from '@althing/datetime';
import { definitionText, type Labels, NO_LABELS } from '../schema/definition.js';
import { NAME } from '../schema/name.js';
import type { Structure } from '../schema/structure.js';
import type { Store } from '../state/store.js';
import type { Charge } from '../state/transaction.js';
import type { List } from '../value/containers.js';
import type { DateTimeValue } from '../value/datetime-value.js';
import type { AnyKind, KindColumn } from '../value/kinds.js';
import { Tag } from '../value/tag.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Anonymous } from '../value/wrap.js';
import { DataOutput } from './output.js';
import { restrictionCode } from './restrictions.js';
import { TypeNumbers } from './type-numbers.js';

/** The values that stand inside another one, of which the head was written; it writes what is in front of each. */
type Steps = Iterator<Value, void, undefined>;

export class ValueWriter {
  /** Values that ThingsDB can't hold, a line each: nil stands in their place, or a text that it will refuse. */
  readonly problems: string[] = [];
  readonly numbers: TypeNumbers;
  private readonly written = new Set<number>();
  /** The thing that is being written, for what is said of it. */
  private present = 'a value';

  constructor(
    readonly out: DataOutput,
    readonly store: Store,
    private readonly charge: Charge,
  ) {
    this.numbers = new TypeNumbers(store.schema);
  }

  /** Writes a value, with all things in it that were not written before. */
  write(value: Value): void {
    const open: Steps[] = [];
    for (let steps = this.begin(value); ; ) {
      if (steps !== null) open.push(steps);
      let next = open.at(-1)?.next();
      while (next?.done === true) {
        open.pop();
        next = open.at(-1)?.next();
      }
      if (next === undefined) return;
      steps = this.begin(next.value);
    }
  }

  /** Says what can't be written. */
  note(problem: string): void {
    this.problems.push(`${this.present}: ${problem}`);
  }

  private begin(value: Value): Steps | null {
    const { out } = this;
    this.charge(1);
    switch (typeof value) {
      case 'string':
        this.charge(value.length);
        out.str(value);
        return null;
      case 'number':
      case 'bigint':
        out.int(value);
        return null;
      case 'boolean':
        out.bool(value);
        return null;
      default:
        if (value === null) {
          out.nil();
          return null;
        }
        return WRITERS[value.tag](value, this);
    }
  }

  thing(thing: Thing): Steps | null {
    const { out, store, written } = this;
    if (written.has(thing.id)) {
      out.idExt(5, thing.id);
      return null;
    }
    written.add(thing.id);
    store.load(thing);
    this.present = `thing ${thing.id}`;
    const { type } = thing;
    out.beginMap(1);
    if (type !== null) {
      out.str('.');
      out.beginArray(3);
      out.int(this.numbers.type(type.id));
      out.int(thing.id);
      out.beginArray(thing.slots.length);
      this.noteLengths(thing);
      return thing.slots[Symbol.iterator]();
    }
    out.str(',');
    out.beginArray(3);
    out.int(this.restriction(thing));
    out.int(thing.id);
    const entries = thing.entries();
    // One that serves as a dictionary has no order there.
    if (entries.some(([key]) => !NAME.test(key))) entries.sort(([a], [b]) => compareBytes(a, b));
    out.beginMap(entries.length);
    return this.properties(entries);
  }

  *properties(entries: readonly (readonly [string, Value])[]): Generator<Value, void, undefined> {
    for (const [key, value] of entries) {
      this.out.str(key);
      yield value;
    }
  }

  list({ items }: List): Steps {
    this.out.beginArray(items.length);
    return items[Symbol.iterator]();
  }

  date({ time }: DateTimeValue, key: string): null {
    const { out } = this;
    const { moment, zone } = time;
    out.beginMap(1);
    out.str(key);
    out.beginArray(3);
    out.int(moment);
    out.int16(Math.trunc(offsetAt(time, moment) / SECONDS_PER_MINUTE));
    if (zone === null) out.nil();
    else out.int(Math.max(0, ZONE_NAMES.indexOf(zone.name)));
    return null;
  }

  /** Lengths of texts are counted in characters here, and in bytes there. */
  private noteLengths({ shape, slots }: Thing): void {
    for (const { name, slot, definition } of shape.fields) {
      const { base } = definition;
      const value = slots[slot];
      if (base.kind !== 'str' || typeof value !== 'string') continue;
      const bytes = Buffer.byteLength(value);
      if (bytes < base.min || bytes > base.max)
        this.note(`'${name}' has ${bytes} bytes, and ThingsDB takes it from ${base.min} to ${base.max} only`);
    }
  }

  private restriction(thing: Thing): number {
    const code = restrictionCode(thing.restriction?.item ?? null, this.numbers);
    if (code === null) this.note('it is restricted to what ThingsDB has no number for');
    return code ?? 0x4000;
  }
}

const SECONDS_PER_MINUTE = 60;

/** The writer of each kind of object. */
const WRITERS: AnyKind<[writer: ValueWriter], Steps | null> = {
  [Tag.FLOAT]: ({ value }, { out }) => done(out.float(value)),
  [Tag.BYTES]: ({ data }, { out }) => done(out.bin(data)),
  [Tag.REGEX]: ({ pattern, flags }, { out }) => done(out.ext(1, Buffer.from(`/${pattern}/${flags}`))),
  [Tag.DATETIME]: (value, writer) => writer.date(value, "'"),
  [Tag.TIMEVAL]: (value, writer) => writer.date(value, '"'),
  [Tag.ERROR]: ({ code, message }, writer) => {
    const { out } = writer;
    if (code > 0 || code < -127) {
      writer.note(`an error has the code ${code}`);
      return done(out.nil());
    }
    out.beginMap(1);
    out.str('!');
    out.beginArray(2);
    out.str(message);
    return done(out.int8(code));
  },
  [Tag.CLOSURE]: (closure, { out }) => done(out.ext(2, Buffer.from(closure.store()))),
  [Tag.LIST]: (list, writer) => writer.list(list),
  [Tag.TUPLE]: (list, writer) => writer.list(list),
  [Tag.SET]: ({ members }, { out }) => {
    out.beginMap(1);
    out.str('$');
    out.beginArray(members.size);
    return members[Symbol.iterator]();
  },
  [Tag.THING]: (thing, writer) => writer.thing(thing),
  [Tag.MPDATA]: ({ data }, { out }) => done(out.ext(0, data)),
  [Tag.MEMBER]: (member, writer) => {
    const { out } = writer;
    const index = member.enum.members.indexOf(member);
    if (index < 0) {
      writer.note('a member of an enum was deleted');
      return done(out.nil());
    }
    out.beginMap(1);
    out.str('%');
    out.beginArray(2);
    out.int(writer.numbers.enum(member.enum.id));
    return done(out.int(index));
  },
  [Tag.WRAP]: ({ thing, by }, { out, numbers }) => {
    out.beginMap(1);
    if (by instanceof Anonymous) {
      out.str(' ');
      out.beginArray(2);
      out.bin(structureBytes(by.structure, NO_LABELS));
    } else {
      out.str('&');
      out.beginArray(2);
      out.int(numbers.type(by.id));
    }
    return [thing][Symbol.iterator]();
  },
  [Tag.ANONYMOUS]: ({ structure }, { out }) => done(out.ext(7, structureBytes(structure, NO_LABELS))),
  [Tag.FUTURE]: (_future, { out }) => done(out.nil()),
  [Tag.TASK]: (task, { out }) => done(out.idExt(4, task.state === undefined ? 0 : task.id)),
  [Tag.MODULE]: (_module, { out }) => done(out.nil()),
  [Tag.ROOM]: ({ id }, { out }) => done(out.idExt(3, id)),
} satisfies KindColumn<[writer: ValueWriter], Steps | null>;

/** The steps that are left for a value that is written at once: none. */
function done(_written: unknown): null {
  return null;
}

/** The MessagePack of a nested definition, or of a list with it. */
export function structureBytes(structure: Structure, labels: Labels, isList = false): Uint8Array {
  const out = new DataOutput();
  if (isList) out.beginArray(1);
  writeStructure(out, structure, labels);
  return out.take();
}

function writeStructure(out: DataOutput, { idName, fields, methods }: Structure, labels: Labels): void {
  out.beginMap((idName === null ? 0 : 1) + fields.length + methods.size);
  if (idName !== null) {
    out.str(idName);
    out.str('#');
  }
  for (const { name, definition } of fields) {
    out.str(name);
    const { base } = definition;
    if (base.kind !== 'nested') {
      out.str(definitionText(definition, labels));
      continue;
    }
    if (base.isList) out.beginArray(1);
    writeStructure(out, base.structure, labels);
  }
  for (const [name, closure] of methods) {
    out.str(name);
    out.str(closure.text);
  }
}

/** The order of texts by their bytes, a text before its own extensions. */
export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
