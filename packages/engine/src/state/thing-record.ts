/**
 * The record of a thing.
 *
 *   thing       := refs:varint restriction:text count:varint property*
 *   property    := key:text value
 *
 * `value` is described in `value-codec.ts`.
 */
import { ByteReader, type ByteWriter } from '../bytes.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Store } from './store.js';
import { readValue, writeValue } from './value-codec.js';

export function writeThing(out: ByteWriter, thing: Thing): void {
  out.varint(thing.refs);
  writeProperties(out, thing);
}

/** Fills a stub. */
export function readThing(record: Uint8Array, thing: Thing, store: Store): void {
  const input = new ByteReader(record);
  thing.refs = input.varint();
  readProperties(input, thing, store);
}

/** The restriction and the properties, as in the record and in the effect that stores a new thing. */
export function writeProperties(out: ByteWriter, thing: Thing): void {
  out.text(thing.shape.restriction ?? '');
  out.varint(thing.shape.size);
  for (const [key, slot] of thing.shape.index) {
    out.text(key);
    writeValue(out, thing.slots[slot] as Value);
  }
}

export function readProperties(input: ByteReader, thing: Thing, store: Store): void {
  const restriction = input.text();
  const count = input.varint();
  let shape = store.shapes.empty(restriction === '' ? null : restriction);
  const slots = new Array<Value>(count);
  const thingOfId = (id: number): Thing => store.thingOfId(id);
  for (let i = 0; i < count; i++) {
    shape = shape.with(input.text(), i);
    slots[i] = readValue(input, thingOfId);
  }
  thing.shape = shape;
  thing.slots = slots;
}
