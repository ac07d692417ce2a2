/**
 * Values of ThingsDB, as they stand in its dumps, stores and changes:
 *
 *   value := nil | bool | int | float | str | bin
 *          | array of values                              list; inside a list a tuple
 *          | {"$": [thing*]}                              set
 *          | {",": [restriction, id, {key: value*}]}      thing; in old data {"#": id, key: value*}
 *          | {".": [type, id, [value*]]}                  instance; in old data {".": type, "#": id, "": [value*]}
 *          | ext 5 id                                     thing that came before; in old data {"#": id}
 *          | {"&": [type, thing]}                         wrap by a type
 *          | {" ": [definition, thing]}                   wrap by an anonymous type, as the MessagePack of its definition
 *          | {"%": [enum, index]}                         member of an enum
 *          | {"'": [seconds, offset, zone]}               datetime, and timeval with a double quote as the key
 *          | {"!": [message, code]}                       error; in old data {"!": type, "error_msg": message, "error_code": code}
 *          | ext 0 mpdata | ext 1 regex | ext 2 closure | ext 3 room | ext 4 task | ext 6 name | ext 7 anonymous type
 *
 * Closures and regular expressions are {"/": text} and {"*": text} in old data. Things nest in each other to any depth, so what is not
 * complete yet waits on a stack that is no part of the program's.
 */
import { Buffer } from 'node:buffer';
import { fromStored, ZONE_NAMES } from '@althing/datetime';
import { Restriction } from '../schema/restriction.js';
import { anonymousOf } from '../schema/structure.js';
import type { Type } from '../schema/type.js';
import { Closure } from '../value/closure.js';
import { LIST_ITEMS_MAX, List, MEMBERS_MAX, TUPLE_NESTING_MAX } from '../value/containers.js';
import { DateTimeValue } from '../value/datetime-value.js';
import type { Member } from '../value/member.js';
import { Bytes, ErrorValue, Float, MpData } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Anonymous } from '../value/wrap.js';
import type { CollectionBuilder } from './builder.js';
import { readStructure } from './definitions.js';
import { type Frame, InstanceFrame, ListFrame, SetFrame, ThingFrame, WrapFrame } from './frames.js';
import { DataInput, textOf } from './input.js';
import { restrictionOf } from './restrictions.js';
import { closureOf, messageOf, regexOf } from './texts.js';

export class ValueReader {
  private readonly stack: Frame[] = [];
  /** The anonymous type that was read last, with its bytes: mostly the next one is the same. */
  private lastAnonymous: { readonly data: Uint8Array; readonly type: Anonymous } | null = null;

  constructor(
    private readonly input: DataInput,
    private readonly builder: CollectionBuilder,
  ) {}

  /** Reads a value, with all that nests in it. */
  read(): Value {
    const { stack, input } = this;
    const base = stack.length;
    for (;;) {
      let { offset } = input;
      let value = this.begin(offset);
      for (;;) {
        const top = stack.at(-1);
        if (top === undefined || stack.length === base) {
          if (value === undefined) throw new Error('a value that begins is complete, or waits for others');
          return value;
        }
        if (value !== undefined) top.take(value, offset);
        if (top.left > 0) {
          top.left -= 1;
          top.before();
          break;
        }
        value = top.end();
        offset = top.offset;
        stack.pop();
      }
    }
  }

  thing(what: string): Thing {
    const { offset } = this.input;
    const value = this.read();
    return value instanceof Thing ? value : this.input.fail(`${what} is no thing`, offset);
  }

  closure(): Closure {
    const { offset } = this.input;
    const value = this.read();
    return value instanceof Closure ? value : this.input.fail('expected a closure', offset);
  }

  /** Begins a value: undefined when others have to come first. */
  private begin(offset: number): Value | undefined {
    const { input } = this;
    switch (input.token()) {
      case 'nil':
        return input.nil();
      case 'bool':
        return input.bool();
      case 'int':
        return input.int();
      case 'float':
        return new Float(input.float());
      case 'str':
        return strOf(input.strBytes());
      case 'bin':
        return new Bytes(input.bin());
      case 'array':
        return this.beginList(offset);
      case 'map':
        return this.beginMap(offset);
      case 'ext':
        return this.extension(offset);
      case 'unknown':
        return input.fail('a byte that begins no value');
    }
  }

  private beginList(offset: number): undefined {
    const { input, stack } = this;
    const left = input.array('a list');
    if (left > LIST_ITEMS_MAX) input.fail(`a list of ${left} items is too long`, offset);
    const outer = stack.at(-1);
    const isInner = outer instanceof ListFrame;
    const depth = isInner ? outer.depth + 1 : 0;
    if (depth > TUPLE_NESTING_MAX) input.fail(`lists are nested more than ${TUPLE_NESTING_MAX} deep`, offset);
    stack.push(new ListFrame(input, offset, left, new List([], isInner), depth));
  }

  private beginMap(offset: number): Value | undefined {
    const { input } = this;
    const pairs = input.map('a value');
    if (pairs === 0) input.fail('an empty map is no value', offset);
    const key = input.text('the key of a value');
    if (key === '#') return this.oldThing(offset, pairs);
    if (key === '.' && pairs === 3) return this.oldInstance(offset);
    if (key === '!' && pairs === 3) return this.oldError();
    if (pairs !== 1) input.fail(`a map with ${pairs} keys is no value`, offset);
    switch (key) {
      case ',':
        return this.beginThing(offset);
      case '.':
        input.parts(3, 'an instance');
        return this.beginInstance(offset, this.typeId(), this.id('the id of an instance'));
      case '$':
        return this.beginSet(offset);
      case '&':
        input.parts(2, 'a wrap');
        return this.beginWrap(offset, this.builder.type(this.typeId()));
      case ' ':
        input.parts(2, 'a wrap');
        return this.beginWrap(offset, this.anonymous(input.bin(), offset));
      case '%':
        return this.member(offset);
      case "'":
        return this.date('datetime', offset);
      case '"':
        return this.date('timeval', offset);
      case '!':
        input.parts(2, 'an error');
        return this.error(input.text('the message of an error'));
      case '/':
        return closureOf(input.text('a closure'), input, offset);
      case '*':
        return regexOf(input.text('a regular expression'), input, offset);
      default:
        return input.fail(`a map with the key ${JSON.stringify(key)} is no value`, offset);
    }
  }

  private beginThing(offset: number): undefined {
    const { input, builder } = this;
    input.parts(3, 'a thing');
    const code = input.uint('a restriction', 0xffff);
    const thing = builder.make(this.id('the id of a thing'), offset);
    const item =
      restrictionOf(code, builder.store.schema) ?? input.fail(`there is no restriction ${code}`, offset);
    if (item !== 'any') thing.shape = builder.store.shapes.empty(new Restriction(item, builder.store.schema));
    const left = input.map('the properties of a thing');
    this.stack.push(new ThingFrame(input, offset, left, thing, builder));
  }

  private oldThing(offset: number, pairs: number): Value | undefined {
    const { builder, stack, input } = this;
    const id = this.id('the id of a thing');
    const known = pairs === 1 ? builder.find(id) : undefined;
    if (known !== undefined) return known;
    stack.push(new ThingFrame(input, offset, pairs - 1, builder.make(id, offset), builder));
    return undefined;
  }

  private beginInstance(offset: number, typeId: number, id: number): undefined {
    const { input, builder, stack } = this;
    const type = builder.store.schema.type(typeId);
    const shape = type.shape ?? input.fail(`there is no type ${typeId}`, offset);
    if (type.isWrapOnly) input.fail(`the type ${type.name} only wraps`, offset);
    const left = input.array('the values of an instance');
    if (left !== shape.fields.length)
      input.fail(`an instance of ${type.name} has ${shape.fields.length} values, not ${left}`, offset);
    const thing = builder.make(id, offset);
    thing.shape = shape;
    thing.slots = new Array<Value>(left).fill(null);
    stack.push(new InstanceFrame(input, offset, left, thing, builder));
  }

  private oldInstance(offset: number): undefined {
    const { input } = this;
    const type = this.typeId();
    if (input.text('a key') !== '#') input.fail('an instance without an id', offset);
    const id = this.id('the id of an instance');
    if (input.text('a key') !== '') input.fail('an instance without values', offset);
    return this.beginInstance(offset, type, id);
  }

  private beginSet(offset: number): undefined {
    const { input, stack } = this;
    if (stack.at(-1) instanceof ListFrame) input.fail('a set inside a list', offset);
    const left = input.array('a set');
    if (left > MEMBERS_MAX) input.fail(`a set of ${left} things is too large`, offset);
    stack.push(new SetFrame(input, offset, left));
  }

  private beginWrap(offset: number, by: Type | Anonymous): undefined {
    this.stack.push(new WrapFrame(this.input, offset, by));
  }

  private member(offset: number): Member {
    const { input, builder } = this;
    input.parts(2, 'a member');
    const { schema } = builder.store;
    const id = input.uint('the id of an enum', 0xffff);
    const index = input.uint('the index of a member', 0xffff);
    const { members } = schema.enum(id);
    return members[index] ?? input.fail(`there is no member ${index} of an enum ${id}`, offset);
  }

  private date(kind: 'datetime' | 'timeval', offset: number): DateTimeValue {
    const { input } = this;
    input.parts(3, 'a date');
    const moment = input.int();
    const minutes = Number(input.int());
    const index = input.token() === 'nil' ? input.nil() : input.uint('a time zone', 0xffff);
    // Places beyond twelve hours in the east are in summer up to here.
    if (minutes < -720 || minutes > 840) input.fail(`an offset of ${minutes} minutes`, offset);
    const zone = index === null ? '' : (ZONE_NAMES[index] ?? 'UTC');
    try {
      return new DateTimeValue(fromStored(kind, moment, zone, index === null ? minutes : 0));
    } catch (error) {
      return input.fail(messageOf(error), offset);
    }
  }

  private error(message: string): ErrorValue {
    const { input } = this;
    const { offset } = input;
    const lead = input.peek();
    const code = Number(input.int());
    // An unsigned one is never written.
    if ((lead !== 0xd0 && lead < 0xe0) || code > 0 || code < -127)
      input.fail(`an error can not have the code ${code}`, offset);
    return new ErrorValue(code, message);
  }

  private oldError(): ErrorValue {
    const { input } = this;
    input.skip();
    input.text('a key');
    const message = input.text('the message of an error');
    input.text('a key');
    return this.error(message);
  }

  private extension(offset: number): Value {
    const { input, builder } = this;
    const { type, data } = input.ext();
    switch (type) {
      case 0:
        return this.mpdata(data, offset);
      case 1:
        return regexOf(
          textOf(data) ?? input.fail('a regular expression that is no UTF-8', offset),
          input,
          offset,
        );
      case 2:
        return closureOf(textOf(data) ?? input.fail('a closure that is no UTF-8', offset), input, offset);
      case 3:
        return builder.room(idOf(data, input, offset), offset);
      case 4:
        return builder.task(idOf(data, input, offset));
      case 5: {
        const id = idOf(data, input, offset);
        return builder.find(id) ?? input.fail(`there is no thing ${id} before it`, offset);
      }
      case 6:
        return strOf(data);
      case 7:
        return this.anonymous(data, offset);
      default:
        return input.fail(`there is no extension ${type}`, offset);
    }
  }

  private mpdata(data: Uint8Array, offset: number): MpData {
    const inner = new DataInput(data, this.builder.charge, offset);
    inner.skip();
    inner.end('one value');
    return new MpData(data);
  }

  private anonymous(data: Uint8Array, offset: number): Anonymous {
    const last = this.lastAnonymous;
    if (last !== null && Buffer.compare(last.data, data) === 0) return last.type;
    const inner = new DataInput(data, this.builder.charge, offset);
    const type = anonymousOf(readStructure(inner, null));
    inner.end('a definition');
    this.lastAnonymous = { data, type };
    return type;
  }

  private typeId(): number {
    return this.input.uint('the id of a type', 0x3fff);
  }

  private id(what: string): number {
    return this.input.uint(what);
  }
}

/** A str of ThingsDB need not be UTF-8; one that is not stays as it is, as bytes. */
function strOf(data: Uint8Array): Value {
  return textOf(data) ?? new Bytes(data);
}

function idOf(data: Uint8Array, input: DataInput, offset: number): number {
  if (data.length !== 8) input.fail(`an id of ${data.length} bytes`, offset);
  const id = Number(Buffer.from(data).readBigUInt64BE());
  return Number.isSafeInteger(id) ? id : input.fail('the id is too large', offset);
}
