/** Values of enum members, and code, as the script of `export` writes them. */
import type { DateTime } from '@althing/datetime';
import { parseClosure, prettySource, quoteStr } from '@althing/language';
import { chargeParse } from '../run/charge.js';
import type { Runtime } from '../run/runtime.js';
import { type Definition, definitionText, isSchemaName } from '../schema/definition.js';
import type { Structure } from '../schema/structure.js';
import type { Type } from '../schema/type.js';
import { Closure } from '../value/closure.js';
import { List, ThingSet } from '../value/containers.js';
import { DateTimeValue } from '../value/datetime-value.js';
import { Member } from '../value/member.js';
import { isInt } from '../value/numbers.js';
import { RegexValue } from '../value/regex-value.js';
import { Room } from '../value/room.js';
import { Bytes, ErrorValue, Float } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { Anonymous, Wrap } from '../value/wrap.js';

/** Levels of values inside each other that are written: well below those that the language reads. */
const LEVELS_MAX = 100;

/** Writes values; one for each value of a member. */
export class LiteralWriter {
  /** The things that are being written: one inside itself is cut. */
  private readonly open = new Set<Thing>();

  constructor(private readonly rt: Runtime) {}

  /** A value as the language writes it. What can't be written becomes nil, with a comment that says why. */
  literal(value: Value, level: number): string {
    const text = this.written(value, level);
    return text instanceof LeftOut ? `nil ${text.comment}` : text;
  }

  private written(value: Value, level: number): string | LeftOut {
    const { rt } = this;
    rt.charge(1);
    if (level > LEVELS_MAX) return new LeftOut('a value that lies too deep');
    if (value === null) return 'nil';
    if (typeof value === 'string') return quoteStr(value);
    if (isInt(value) || typeof value === 'boolean') return `${value}`;
    if (value instanceof Float) return floatText(value.value);
    if (value instanceof Bytes) return `base64_decode('${Buffer.from(value.data).toString('base64')}')`;
    if (value instanceof Closure) return closureText(rt, value, level);
    if (value instanceof Thing) return this.thing(value, level);
    rt.chargeFill(value);
    if (value instanceof List)
      return `[${value.items.map((item) => this.literal(item, level + 1)).join(', ')}]`;
    if (value instanceof ThingSet) return this.set(value, level);
    if (value instanceof Room) return 'room() /* a new one: it is not the same room */';
    if (value instanceof Member) return `${value.enum.name}{${value.name}}`;
    if (value instanceof Wrap) return this.wrap(value, level);
    if (value instanceof Anonymous) return `&${structureText(rt, value.structure, level)}`;
    if (value instanceof RegexValue) return regexText(value);
    if (value instanceof DateTimeValue) return dateText(value.time);
    if (value instanceof ErrorValue) return `err(${value.code}, ${quoteStr(value.message)})`;
    return new LeftOut(typeName(value));
  }

  private set({ members }: ThingSet, level: number): string {
    const texts = Array.from(members, (member) => this.written(member, level + 1));
    const things = texts.filter((text) => typeof text === 'string').join(', ');
    return `set(${things})${texts.flatMap((text) => (text instanceof LeftOut ? ` ${text.comment}` : [])).join('')}`;
  }

  private wrap({ thing, by }: Wrap, level: number): string | LeftOut {
    const inner = this.written(thing, level);
    if (inner instanceof LeftOut) return inner;
    if (by instanceof Anonymous) return `${inner}.wrap(&${structureText(this.rt, by.structure, level)})`;
    return by.def === null
      ? `${inner} /* wrapped by a type that is gone */`
      : `${inner}.wrap('${by.def.name}')`;
  }

  private thing(thing: Thing, level: number): string | LeftOut {
    if (this.open.has(thing)) return new LeftOut('a thing inside itself');
    this.rt.load(thing);
    this.open.add(thing);
    const { type } = thing;
    const lines = [...thing.shape.index].map(([name, slot]) =>
      this.property(thing, type, name, thing.readAt(slot), level + 1),
    );
    this.open.delete(thing);
    return `${type === null ? '' : type.name}{\n${lines.join('')}${'\t'.repeat(level)}}`;
  }

  private property(thing: Thing, type: Type | null, name: string, value: Value, level: number): string {
    const indent = '\t'.repeat(level);
    if (!isSchemaName(name)) return `${indent}${new LeftOut('a key that is no name').comment}\n`;
    // A new instance has no partners; and it has a default where it gets nothing.
    const isRelated = type !== null && thing.field(name)?.relation !== null;
    const text = isRelated ? new LeftOut('a relation') : this.written(value, level);
    if (!(text instanceof LeftOut)) return entryText(name, text, level);
    return type === null
      ? entryText(name, `nil ${text.comment}`, level)
      : `${indent}/* ${name}: */ ${text.comment}\n`;
  }
}

/** A value that can't be written. */
class LeftOut {
  constructor(private readonly what: string) {}

  get comment(): string {
    return `/* left out: ${this.what} */`;
  }
}

/** With six decimals, unless that would be another value. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const text = value.toFixed(6);
  if (Number(text) === value && !text.includes('e')) return text;
  const short = String(value);
  return short.includes('.') ? short : short.replace('e', '.0e');
}

function regexText({ pattern, flags }: RegexValue): string {
  return flags === '' ? `regex(${quoteStr(pattern)})` : `regex(${quoteStr(pattern)}, ${quoteStr(flags)})`;
}

function dateText({ kind, moment, zone, offsetMinutes }: DateTime): string {
  const minutes = Math.abs(offsetMinutes);
  const two = (count: number): string => String(count).padStart(2, '0');
  const offset = `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`;
  return `${kind}(${moment}).to('${zone === null ? offset : zone.name}')`;
}

/** A line of a thing or structure. */
export function entryText(name: string, text: string, level: number): string {
  return `${'\t'.repeat(level)}${name}: ${text},\n`;
}

export function closureText(rt: Runtime, closure: Closure, level: number): string {
  chargeParse(rt, closure.source);
  return prettySource(parseClosure(closure.source), closure.source, level);
}

/** A definition as it stands in a script: text, or for a nested one a thing or a list with one. */
export function definitionLiteral(rt: Runtime, of: Definition, level: number): string {
  const { base } = of;
  if (base.kind !== 'nested') return quoteStr(definitionText(of, rt.schema));
  const inner = structureText(rt, base.structure, level);
  return base.isList ? `[${inner}]` : inner;
}

function structureText(rt: Runtime, { idName, fields, methods }: Structure, level: number): string {
  const lines = [
    ...(idName === null ? [] : [entryText(idName, "'#'", level + 1)]),
    ...fields.map(({ name, definition }) =>
      entryText(name, definitionLiteral(rt, definition, level + 1), level + 1),
    ),
    ...[...methods].map(([name, closure]) => entryText(name, closureText(rt, closure, level + 1), level + 1)),
  ];
  return `{\n${lines.join('')}${'\t'.repeat(level)}}`;
}
