/**
 * The records of ThingsDB that change a thing. They are done as queries would do them, relations included; the order of properties
 * becomes what it is there, where the last property takes the place of one that goes.
 */
import { QueryError } from '../error.js';
import { Restriction } from '../schema/restriction.js';
import type { Transaction } from '../state/transaction.js';
import { List, ThingSet } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { CollectionBuilder } from './builder.js';
import type { DataInput } from './input.js';
import { restrictionOf } from './restrictions.js';
import { messageOf } from './texts.js';
import type { ValueReader } from './values.js';

export class ThingRecords {
  /** The reader of each kind of record, by its number: it changes the thing. */
  readonly rows: ReadonlyMap<number, (thing: Thing) => void> = new Map([
    [0, (thing) => this.eachPair((key) => this.set(thing, key))],
    [1, (thing) => this.remove(thing, this.key())],
    [2, (thing) => this.eachPair((key) => this.splice(this.list(thing, key)))],
    [3, (thing) => this.eachPair((key) => this.add(this.members(thing, key)))],
    [4, (thing) => this.eachPair((key) => this.takeOut(this.members(thing, key)))],
    [55, (thing) => this.eachPair((key) => this.removeItems(this.list(thing, key)))],
    [56, (thing) => this.clear(thing)],
    [57, (thing) => this.clearList(this.list(thing, this.key()))],
    [58, (thing) => this.clearSet(this.members(thing, this.key()))],
    [66, (thing) => this.restrict(thing)],
    [67, (thing) => this.removeAll(thing)],
    [72, (thing) => this.eachPair((key) => this.rename(thing, key))],
    [73, (thing) => this.eachPair((key) => this.fill(this.list(thing, key)))],
  ]);

  constructor(
    private readonly input: DataInput,
    private readonly values: ValueReader,
    private readonly builder: CollectionBuilder,
  ) {}

  /** Does a change; what no query could do is an error with its place. */
  private change(work: (transaction: Transaction) => void): void {
    const { offset } = this.input;
    try {
      this.builder.change(work);
    } catch (error) {
      if (!(error instanceof QueryError) || error.fatal) throw error;
      this.input.fail(messageOf(error), offset);
    }
  }

  private eachPair(work: (key: string) => void): void {
    for (let left = this.input.map('a record'); left > 0; left--) work(this.key());
  }

  private key(): string {
    return this.input.text('a key');
  }

  private set(thing: Thing, key: string): void {
    const value = this.values.read();
    const field = thing.field(key);
    // A definition changes before the values do, or behind them.
    const isEarly = this.builder.isReplaying && field?.rule.fits(value) === false;
    this.change((transaction) =>
      isEarly ? transaction.placeUnchecked(thing, key, value) : transaction.setProperty(thing, key, value),
    );
  }

  private remove(thing: Thing, key: string): void {
    const keys = thing.entries().map(([name]) => name);
    const at = keys.indexOf(key);
    if (at < 0 || thing.type !== null)
      this.input.fail(`thing ${thing.id} has no property '${key}' that can go`);
    this.change((transaction) => transaction.deleteProperty(thing, key));
    const last = keys.pop() ?? key;
    if (last !== key) this.order(thing, keys.with(at, last));
  }

  private removeAll(thing: Thing): void {
    for (let left = this.input.array('keys'); left > 0; left--) this.remove(thing, this.key());
  }

  private rename(thing: Thing, from: string): void {
    const to = this.key();
    const keys = thing.entries().map(([name]) => name);
    if (!keys.includes(from) || keys.includes(to) || thing.type !== null)
      this.input.fail(`thing ${thing.id}: '${from}' can not become '${to}'`);
    this.change((transaction) => transaction.renameProperty(thing, from, to));
    this.order(thing, keys.with(keys.indexOf(from), to));
  }

  private splice(list: List): void {
    const count = this.input.array('a splice');
    if (count < 2) this.input.fail('a splice begins with two numbers');
    const start = this.input.uint('an index', list.length);
    const removed = this.input.uint('a count', list.length - start);
    const values = this.read(count - 2);
    this.change((transaction) => transaction.spliceList(list, start, removed, values));
  }

  private removeItems(list: List): void {
    const count = this.input.array('indexes');
    const places = Array.from({ length: count }, () => this.input.uint('an index', list.length - 1));
    const rising = [...new Set(places)].sort((a, b) => a - b);
    if (rising.length !== places.length) this.input.fail('an index twice');
    this.change((transaction) => transaction.removeItems(list, rising));
  }

  private clearList(list: List): void {
    this.change((transaction) => transaction.spliceList(list, 0, list.length, []));
  }

  private fill(list: List): void {
    const value = this.values.read();
    this.change((transaction) => transaction.fillList(list, value));
  }

  private add(set: ThingSet): void {
    const things = this.things(this.read(this.input.array('things')));
    this.change((transaction) => transaction.addMembers(set, things));
  }

  private takeOut(set: ThingSet): void {
    const things: Thing[] = [];
    for (let left = this.input.array('ids'); left > 0; left--) {
      const { offset } = this.input;
      const id = this.input.uint('an id');
      things.push(this.builder.find(id) ?? this.input.fail(`there is no thing ${id}`, offset));
    }
    this.change((transaction) => transaction.removeMembers(set, things));
  }

  private clearSet(set: ThingSet): void {
    this.change((transaction) => transaction.removeMembers(set, [...set.members]));
  }

  private clear(thing: Thing): void {
    this.input.skip();
    if (thing.type !== null) this.input.fail(`thing ${thing.id} is an instance, and can not be cleared`);
    this.change((transaction) => transaction.clearThing(thing));
  }

  private restrict(thing: Thing): void {
    const { schema } = this.builder.store;
    const code = this.input.uint('a restriction', 0xffff);
    const item = restrictionOf(code, schema) ?? this.input.fail(`there is no restriction ${code}`);
    if (thing.type !== null) this.input.fail(`thing ${thing.id} is an instance, and can not be restricted`);
    const restriction = item === 'any' ? null : new Restriction(item, schema);
    this.change((transaction) => transaction.restrict(thing, restriction));
  }

  private read(count: number): Value[] {
    return Array.from({ length: count }, () => this.values.read());
  }

  private things(values: readonly Value[]): Thing[] {
    return values.map((value) => (value instanceof Thing ? value : this.input.fail('a set holds things')));
  }

  private list(thing: Thing, key: string): List {
    const value = thing.get(key);
    return value instanceof List ? value : this.input.fail(`'${key}' of thing ${thing.id} is no list`);
  }

  private members(thing: Thing, key: string): ThingSet {
    const value = thing.get(key);
    return value instanceof ThingSet ? value : this.input.fail(`'${key}' of thing ${thing.id} is no set`);
  }

  /** Gives a plain thing the order of its properties. */
  private order(thing: Thing, keys: readonly string[]): void {
    const { store, charge } = this.builder;
    charge(keys.length);
    const values = keys.map((key) => thing.get(key) ?? null);
    store.touchAll(thing);
    thing.shape = thing.shape.cleared();
    thing.slots = [];
    for (const [place, key] of keys.entries()) thing.put(key, values[place] ?? null);
  }
}
