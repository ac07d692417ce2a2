/**
 * The packed form of each value: the part of packing that is the same in every format.
 *
 *   - a result is cut at the depth of the query: a thing below it shows its id alone, `{}` when it has none or ids are
 *     left out; lists and sets cost no depth
 *   - a thing that is being packed further up is cut in the same way
 *   - values that MessagePack and JSON lack appear as text
 */

import { toClientText } from '@althing/datetime';
import { ErrorCode, operationError, QueryError } from '../error.js';
import { NO_LABELS } from '../schema/definition.js';
import type { Store } from '../state/store.js';
import { type Charge, chargeFill, List, ThingSet } from '../value/containers.js';
import type { AnyKind, KindColumn, ObjectValue } from '../value/kinds.js';
import { Float } from '../value/scalars.js';
import { Tag } from '../value/tag.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Wrap } from '../value/wrap.js';
import { packStructure } from './structure.js';
import {
  type Compute,
  type IdNames,
  type Packing,
  packShown,
  shownBy,
  type Entry as WrapEntry,
} from './wrap.js';

/** Receives a value piece by piece. */
export interface Sink {
  nil(): void;
  bool(value: boolean): void;
  int(value: number | bigint): void;
  float(value: number): void;
  str(value: string): void;
  /** The same for a text longer than `PIECE`; `check` is called with the units of work between its pieces. */
  longStr(value: string, check: (units: number) => void): void;
  bin(value: Uint8Array): void;
  beginArray(count: number): void;
  endArray(): void;
  beginMap(count: number): void;
  key(key: string): void;
  /** The same for a key longer than `PIECE`; see `longStr`. */
  longKey(key: string, check: (units: number) => void): void;
  endMap(): void;
  /** A value that is MessagePack already. */
  packed(data: Uint8Array): void;
  /** Bytes written so far, roughly. */
  readonly size: number;
}

/** Length up to which a text is written at once. */
export const PIECE = 65_536;

export interface PackOptions {
  readonly deep: number;
  readonly ids: boolean;
  /** Loads things; null where there are none. */
  readonly store: Store | null;
  /** Bytes that a result may have. */
  readonly sizeMax: number;
  /** Levels of arrays and maps inside each other that a result may have. */
  readonly nestingMax: number;
  /** Computes what a wrap shows besides the properties of a thing. */
  readonly compute?: Compute;
  /** Called with the units of work that are about to be done (see `Runtime.charge`); what it throws ends the work. */
  readonly charge?: (units: number) => void;
}

/** Levels that MessagePack results may have. */
export const MSGPACK_NESTING_MAX = 1000;

/**
 * Walks a value into a sink.
 *
 * @throws QueryError -6 past the size limit, operation_err past the nesting limit
 */
export function pack(value: Value, sink: Sink, options: PackOptions): void {
  // Most results are one small value, and there is nothing to charge for that.
  if (typeof value === 'number' || typeof value === 'bigint') sink.int(value);
  else if (typeof value === 'boolean') sink.bool(value);
  else if (value === null) sink.nil();
  else if (typeof value === 'string' && value.length < SHORT_TEXT) sink.str(value);
  else new Packer(sink, options).value(value, options.deep);
  if (sink.size > options.sizeMax) throw tooLarge(options);
}

/** Characters up to which a text counts as small. */
const SHORT_TEXT = 64;

/** Values that are small are only looked at together, so many at a time. */
const SMALL_PER_CHECK = 1024;

/** Units that are charged: for so many small values, for a text besides its length, for an array, and for a thing. */
const SMALL_UNITS = SMALL_PER_CHECK * 16;
const TEXT_UNITS = 32;
const ARRAY_UNITS = 64;
const THING_UNITS = 64;

/** Times that a date or a regular expression takes longer to write than a text of its length. */
const FORMATTED = 16;

class Packer implements Packing {
  /** The things around the present value. They are few (levels of a result are limited), so looking through them is cheap. */
  private readonly open: Thing[] = [];
  private ids: boolean;
  /** True if members of enums are shown by their names. */
  private names = false;
  private nesting = 0;
  private small = 0;
  computedLevel = 0;

  constructor(
    private readonly sink: Sink,
    private readonly options: PackOptions,
  ) {
    this.ids = options.ids;
  }

  value(value: Value, deep: number): void {
    const { sink } = this;
    switch (typeof value) {
      case 'string':
        this.text(value);
        return;
      case 'number':
      case 'bigint':
        sink.int(value);
        break;
      case 'boolean':
        sink.bool(value);
        break;
      default:
        if (value === null) sink.nil();
        else this.object(value, deep);
    }
    this.small += 1;
    if (this.small % SMALL_PER_CHECK === 0) this.check(SMALL_UNITS);
  }

  computed(value: Value, deep: number): void {
    this.computedLevel += 1;
    this.value(value, deep);
    this.computedLevel -= 1;
  }

  private object(value: ObjectValue, deep: number): void {
    if (value instanceof Thing) this.thing(value, deep);
    else if (value instanceof List || value instanceof ThingSet) {
      if (this.options.charge !== undefined) chargeFill(value, this.options.charge);
      if (value instanceof List) this.list(value.items, deep);
      else this.list(value.members, deep, value.size);
    } else if (value instanceof Float) this.sink.float(value.value);
    else Packer.forms[value.tag](value, this, deep);
  }

  /** The packed form of each kind of object. */
  private static readonly forms: AnyKind<[packer: Packer, deep: number], void> = {
    [Tag.FLOAT]: ({ value }, { sink }) => sink.float(value),
    [Tag.BYTES]: ({ data }, packer) => packer.bytes(data),
    [Tag.REGEX]: ({ text }, packer) => packer.formatted(text),
    [Tag.DATETIME]: ({ time }, packer) => packer.formatted(toClientText(time)),
    [Tag.TIMEVAL]: ({ time }, { sink }) => sink.int(time.moment),
    [Tag.ERROR]: ({ message }, packer) => packer.text(message),
    [Tag.CLOSURE]: ({ text }, packer) => packer.formatted(text),
    [Tag.LIST]: ({ items }, packer, deep) => packer.list(items, deep),
    [Tag.TUPLE]: ({ items }, packer, deep) => packer.list(items, deep),
    [Tag.SET]: ({ members }, packer, deep) => packer.list(members, deep, members.size),
    [Tag.THING]: (thing, packer, deep) => packer.thing(thing, deep),
    [Tag.MPDATA]: ({ data }, packer) => packer.packed(data),
    [Tag.MEMBER]: ({ name, value }, packer, deep) => packer.value(packer.names ? name : value, deep),
    [Tag.WRAP]: (wrap, packer, deep) => packer.wrap(wrap, deep),
    [Tag.ANONYMOUS]: ({ structure }, { sink, options }) =>
      packStructure(sink, structure, options.store?.schema ?? NO_LABELS),
    [Tag.FUTURE]: (_future, { sink }) => sink.nil(),
    [Tag.TASK]: ({ clientText }, packer) => packer.formatted(clientText),
    [Tag.MODULE]: (_module, { sink }) => sink.nil(),
    [Tag.ROOM]: ({ text }, packer) => packer.text(text),
  } satisfies KindColumn<[packer: Packer, deep: number], void>;

  private text(text: string): void {
    const { length } = text;
    if (length > this.options.sizeMax) throw tooLarge(this.options);
    this.options.charge?.(TEXT_UNITS + length);
    if (length <= PIECE) this.sink.str(text);
    else this.sink.longStr(text, this.checking);
    this.checkSize();
  }

  private list(
    items: Iterable<Value> & { readonly length?: number },
    deep: number,
    count = items.length ?? 0,
  ): void {
    this.enter();
    this.check(ARRAY_UNITS);
    this.sink.beginArray(count);
    for (const item of items) this.value(item, deep);
    this.sink.endArray();
    this.leave();
  }

  array(items: Iterable<Value>, count: number, pack: (item: Value) => void): void {
    this.enter();
    this.check(ARRAY_UNITS);
    this.sink.beginArray(count);
    for (const item of items) pack(item);
    this.sink.endArray();
    this.leave();
  }

  private thing(thing: Thing, deep: number): void {
    const { sink, options } = this;
    const showsId = this.ids && thing.id !== 0;
    this.check(THING_UNITS);
    if (deep === 0 || this.open.includes(thing)) {
      sink.beginMap(showsId ? 1 : 0);
      if (showsId) this.id(thing);
      sink.endMap();
      return;
    }
    if (thing.id !== 0) options.store?.load(thing, this.checking);
    else if (thing.shape.stale !== null) thing.shape.stale.load(thing);
    this.enter();
    this.open.push(thing);
    const { shape } = thing;
    const slots = thing.readAll();
    // Where the id alone is shown, hiding it would leave nothing.
    const addsId = showsId && shape.type?.hidesId !== true;
    sink.beginMap(shape.size + (addsId ? 1 : 0));
    if (addsId) this.id(thing);
    const { keys } = shape;
    if (keys === null) {
      for (const [key, slot] of shape.index) this.entry(key, slots[slot] as Value, deep - 1);
    } else {
      for (let slot = 0; slot < keys.length; slot++) {
        this.entry(keys[slot]!, slots[slot] as Value, deep - 1);
      }
    }
    sink.endMap();
    this.open.pop();
    this.leave();
  }

  private entry(key: string, value: Value, deep: number): void {
    if (key.length <= PIECE) this.sink.key(key);
    else this.longKey(key);
    this.value(value, deep);
  }

  private longKey(key: string): void {
    if (key.length > this.options.sizeMax) throw tooLarge(this.options);
    this.sink.longKey(key, this.checking);
    this.checkSize();
  }

  private id(thing: Thing): void {
    this.sink.key(this.idName(thing));
    this.sink.int(thing.id);
  }

  private idName(thing: Thing): string {
    return this.options.store?.schema.idNameOf(thing) ?? '#';
  }

  private wrap({ thing, by }: Wrap, deep: number): void {
    const { store, compute } = this.options;
    const shown = shownBy(by);
    if (shown === null || store === null) {
      this.thing(thing, deep);
      return;
    }
    if (compute === undefined) throw new Error('what is packed here holds no wraps');
    packShown(this, thing, shown, deep, this.idName(thing), store.schema, compute);
  }

  withModes(modes: { readonly ids?: boolean; readonly names?: boolean }, work: () => void): void {
    const { ids, names } = this;
    this.ids = ids && modes.ids !== false;
    this.names = modes.names ?? false;
    work();
    this.ids = ids;
    this.names = names;
  }

  mapOf(thing: Thing, deep: number, idNames: IdNames, entriesOf: () => readonly WrapEntry[]): void {
    const { sink } = this;
    const hasId = this.ids && thing.id !== 0;
    this.check(THING_UNITS);
    const isCut = deep === 0 || this.open.includes(thing);
    const entries = isCut ? [] : entriesOf();
    const idName = isCut ? idNames.cut : idNames.whole;
    const addsId = hasId && idName !== null;
    this.enter();
    if (!isCut) this.open.push(thing);
    sink.beginMap(entries.length + (addsId ? 1 : 0));
    if (hasId && idName !== null) {
      sink.key(idName);
      sink.int(thing.id);
    }
    for (const { key, pack } of entries) {
      sink.key(key);
      pack();
    }
    sink.endMap();
    if (!isCut) this.open.pop();
    this.leave();
  }

  /** A text that had to be made first. */
  private formatted(text: string): void {
    this.options.charge?.(text.length * FORMATTED);
    this.text(text);
  }

  private bytes(data: Uint8Array): void {
    this.options.charge?.(data.length);
    this.sink.bin(data);
    this.checkSize();
  }

  private packed(data: Uint8Array): void {
    this.check(data.length * FORMATTED);
    this.sink.packed(data);
    this.checkSize();
  }

  private readonly checking: Charge = (units) => this.check(units);

  check(units: number): void {
    this.options.charge?.(units);
    this.checkSize();
  }

  private checkSize(): void {
    if (this.sink.size > this.options.sizeMax) throw tooLarge(this.options);
  }

  private enter(): void {
    this.nesting += 1;
    if (this.nesting > this.options.nestingMax) {
      throw operationError(`the result is nested more than ${this.options.nestingMax} deep`);
    }
  }

  private leave(): void {
    this.nesting -= 1;
  }
}

function tooLarge({ sizeMax }: PackOptions): QueryError {
  return new QueryError(
    ErrorCode.RESULT_TOO_LARGE,
    `the result is larger than result_size_limit (${sizeMax} bytes)`,
  );
}
