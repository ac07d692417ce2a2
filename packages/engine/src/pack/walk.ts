/**
 * What a client gets for each value: the part of packing that is the same in every format.
 *
 *   - a result is cut at the depth of the query: a thing below it shows its id alone, `{}` when it has none or ids are
 *     left out; lists and sets cost no depth
 *   - a thing that is being packed further up is cut in the same way
 *   - values that MessagePack and JSON lack appear as text
 */

import { toClientText } from '../datetime/index.js';
import { ErrorCode, operationError, QueryError } from '../error.js';
import type { Store } from '../state/store.js';
import { Closure } from '../value/closure.js';
import { List, ThingSet } from '../value/containers.js';
import { DateTimeValue } from '../value/datetime-value.js';
import { RegexValue } from '../value/regex-value.js';
import { Bytes, ErrorValue, Float, MpData } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';

/** Receives a value piece by piece. */
export interface Sink {
  nil(): void;
  bool(value: boolean): void;
  int(value: number | bigint): void;
  float(value: number): void;
  str(value: string): void;
  bin(value: Uint8Array): void;
  beginArray(count: number): void;
  endArray(): void;
  beginMap(count: number): void;
  key(key: string): void;
  endMap(): void;
  /** A value that is MessagePack already. */
  packed(data: Uint8Array): void;
  /** Bytes written so far, roughly. */
  readonly size: number;
}

export interface PackOptions {
  readonly deep: number;
  readonly ids: boolean;
  /** Loads things; null where there are none. */
  readonly store: Store | null;
  /** Bytes that a result may have. */
  readonly sizeMax: number;
  /** Levels of arrays and maps inside each other that a result may have. */
  readonly nestingMax: number;
  /** Called at each text, array and thing, so that the work can be charged for; what it throws ends the work. */
  readonly onValue?: () => void;
}

/** Levels that MessagePack results may have. */
export const MSGPACK_NESTING_MAX = 1000;

/**
 * Walks a value into a sink.
 *
 * @throws QueryError -6 past the size limit, operation_err past the nesting limit
 */
export function pack(value: Value, sink: Sink, options: PackOptions): void {
  const packer = new Packer(sink, options);
  packer.value(value, options.deep);
  packer.end();
}

/** Values that are small are only looked at together, so many at a time. */
const SMALL_PER_CHECK = 1024;

class Packer {
  private readonly sink: Sink;
  private readonly options: PackOptions;
  private readonly open = new Set<Thing>();
  private nesting = 0;
  private small = 0;

  constructor(sink: Sink, options: PackOptions) {
    this.sink = sink;
    this.options = options;
  }

  value(value: Value, deep: number): void {
    const { sink } = this;
    switch (typeof value) {
      case 'string':
        if (value.length > this.options.sizeMax) throw this.tooLarge();
        sink.str(value);
        this.checkSize();
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
    if (this.small % SMALL_PER_CHECK === 0) this.checkSize();
  }

  /** To be called behind the whole value. */
  end(): void {
    if (this.sink.size > this.options.sizeMax) throw this.tooLarge();
  }

  private object(value: Exclude<Value, null | string | number | bigint | boolean>, deep: number): void {
    const { sink } = this;
    if (value instanceof Thing) this.thing(value, deep);
    else if (value instanceof List) this.array(value.items, deep);
    else if (value instanceof Float) sink.float(value.value);
    else if (value instanceof ThingSet) this.array(value.members, deep, value.members.size);
    else if (value instanceof Bytes) this.large(() => sink.bin(value.data));
    else if (value instanceof DateTimeValue) this.datetime(value);
    else if (value instanceof RegexValue || value instanceof Closure) this.large(() => sink.str(value.text));
    else if (value instanceof ErrorValue) this.large(() => sink.str(value.message));
    else if (value instanceof MpData) this.large(() => sink.packed(value.data));
  }

  private array(
    items: Iterable<Value> & { readonly length?: number },
    deep: number,
    count = items.length ?? 0,
  ): void {
    this.enter();
    this.sink.beginArray(count);
    for (const item of items) this.value(item, deep);
    this.sink.endArray();
    this.leave();
  }

  private thing(thing: Thing, deep: number): void {
    const { sink, options } = this;
    const showsId = options.ids && thing.id !== 0;
    this.checkSize();
    if (deep === 0 || this.open.has(thing)) {
      sink.beginMap(showsId ? 1 : 0);
      if (showsId) this.id(thing);
      sink.endMap();
      return;
    }
    if (thing.id !== 0) options.store?.load(thing);
    this.enter();
    this.open.add(thing);
    const { shape, slots } = thing;
    sink.beginMap(shape.size + (showsId ? 1 : 0));
    if (showsId) this.id(thing);
    for (const [key, slot] of shape.index) {
      sink.key(key);
      this.value(slots[slot] as Value, deep - 1);
    }
    sink.endMap();
    this.open.delete(thing);
    this.leave();
  }

  private id(thing: Thing): void {
    this.sink.key('#');
    this.sink.int(thing.id);
  }

  private datetime({ time }: DateTimeValue): void {
    if (time.kind === 'datetime') this.sink.str(toClientText(time));
    else this.sink.int(time.moment);
  }

  private large(write: () => void): void {
    write();
    this.checkSize();
  }

  private checkSize(): void {
    this.options.onValue?.();
    if (this.sink.size > this.options.sizeMax) throw this.tooLarge();
  }

  private tooLarge(): QueryError {
    return new QueryError(
      ErrorCode.RESULT_TOO_LARGE,
      `the result is larger than result_size_limit (${this.options.sizeMax} bytes)`,
    );
  }

  private enter(): void {
    this.nesting += 1;
    if (this.nesting > this.options.nestingMax) {
      throw operationError(`the result is nested more than ${this.options.nestingMax} deep`);
    }
    this.checkSize();
  }

  private leave(): void {
    this.nesting -= 1;
  }
}
