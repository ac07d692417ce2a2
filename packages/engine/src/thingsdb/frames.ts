/** Values of ThingsDB that are not complete yet: they wait for those inside them. */
import type { Type } from '../schema/type.js';
import { type List, MEMBERS_MAX, ThingSet, toItem } from '../value/containers.js';
import { isReservedKey, Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { type Anonymous, Wrap } from '../value/wrap.js';
import type { CollectionBuilder } from './builder.js';
import type { DataInput } from './input.js';
import { messageOf } from './texts.js';

/** A container that waits for the values inside it. */
export interface Frame {
  /** Values that are still to come. */
  left: number;
  /** Reads what stands in front of the next value. */
  before(): void;
  /** Takes the next value, which stands at a place. */
  take(value: Value, offset: number): void;
  /** The value itself, when all have come. */
  end(): Value;
  /** Where it begins. */
  readonly offset: number;
}

export class ListFrame implements Frame {
  constructor(
    private readonly input: DataInput,
    readonly offset: number,
    public left: number,
    private readonly list: List,
    readonly depth: number,
  ) {}

  before(): void {}

  take(value: Value): void {
    const { list, input, offset } = this;
    try {
      list.items.push(toItem(value, list));
    } catch (error) {
      input.fail(messageOf(error), offset);
    }
  }

  end(): List {
    return this.list;
  }
}

export class SetFrame implements Frame {
  private readonly set = new ThingSet();

  constructor(
    private readonly input: DataInput,
    readonly offset: number,
    public left: number,
  ) {}

  before(): void {}

  take(value: Value, offset: number): void {
    if (!(value instanceof Thing)) this.input.fail('a set holds things', offset);
    this.set.members.add(value);
  }

  end(): ThingSet {
    return this.set;
  }
}

export class ThingFrame implements Frame {
  private key = '';

  constructor(
    private readonly input: DataInput,
    readonly offset: number,
    public left: number,
    private readonly thing: Thing,
    private readonly builder: CollectionBuilder,
  ) {
    if (left > MEMBERS_MAX) input.fail(`a thing of ${left} properties is too large`, offset);
  }

  before(): void {
    const { offset } = this.input;
    const key = this.input.text('the key of a property');
    if (isReservedKey(key) || this.thing.get(key) !== undefined)
      this.input.fail(`a second property ${JSON.stringify(key)}, or a key that none can have`, offset);
    this.key = key;
  }

  take(value: Value): void {
    this.thing.put(this.key, value);
  }

  end(): Thing {
    this.builder.complete(this.thing);
    return this.thing;
  }
}

export class InstanceFrame implements Frame {
  private readonly values: Value[] = [];

  constructor(
    private readonly input: DataInput,
    readonly offset: number,
    public left: number,
    private readonly thing: Thing,
    private readonly builder: CollectionBuilder,
  ) {}

  before(): void {}

  take(value: Value, offset: number): void {
    const { thing, values, input, builder } = this;
    const field = thing.shape.fields[values.length];
    if (field === undefined) throw new Error('an instance has no more values than fields');
    if (!builder.isReplaying && !field.rule.fits(value))
      input.fail(
        `the property ${field.name} of an instance of ${field.type.name} does not fit its type`,
        offset,
      );
    values.push(value);
  }

  end(): Thing {
    this.thing.slots = this.values;
    this.builder.complete(this.thing);
    return this.thing;
  }
}

export class WrapFrame implements Frame {
  left = 1;
  private thing: Thing | null = null;

  constructor(
    private readonly input: DataInput,
    readonly offset: number,
    private readonly by: Type | Anonymous,
  ) {}

  before(): void {}

  take(value: Value, offset: number): void {
    this.thing = value instanceof Thing ? value : this.input.fail('a wrap is of a thing', offset);
  }

  end(): Wrap {
    if (this.thing === null) throw new Error('a wrap that is complete has a thing');
    return new Wrap(this.thing, this.by);
  }
}
