/** Shapes and slots of things, put back to where they were, and from one shape to another. */
import type { Type } from '../schema/type.js';
import { plainShape, type Shape, type ShapeTree } from '../value/shape.js';
import type { Thing } from '../value/thing.js';
import { attachAll } from './attach.js';

/** Where the values of a thing lay at some moment, for taking later changes back. */
export interface Places {
  readonly shape: Shape;
  /** Puts the thing back to these places; what changed in place since then is taken back apart. */
  restore(thing: Thing): void;
}

export function placesOf(thing: Thing): Places {
  const { shape, slots } = thing;
  const count = slots.length;
  return {
    shape,
    restore(target: Thing): void {
      slots.length = count;
      target.shape = shape;
      target.slots = slots;
    },
  };
}

/** Gives a thing the shape of plain things with these properties. */
export function makePlain(thing: Thing, shapes: ShapeTree): void {
  const plain = plainShape(shapes, thing.shape.fields);
  thing.slots.length = thing.shape.fields.length;
  thing.shape = plain.owned ? plain.own() : plain;
  attachAll(thing);
}

/** Gives a thing the shape of a type, of which it has all properties, or that of a plain thing. */
export function reshape(thing: Thing, type: Type | null, shapes: ShapeTree): void {
  if (type === null) {
    const before = thing.shape.type;
    if (before === null) return;
    const plain = plainShape(shapes, thing.shape.fields);
    thing.slots = thing.slots.slice(0, thing.shape.fields.length);
    thing.shape = plain.owned ? plain.own() : plain;
  } else {
    const { shape } = type;
    if (shape === null) throw new Error(`the type ${type.name} is gone`);
    thing.slots = shape.fields.map(({ name }) => {
      const value = thing.get(name);
      if (value === undefined) throw new Error(`an instance of ${type.name} needs a property ${name}`);
      return value;
    });
    thing.shape = shape;
  }
  attachAll(thing);
}
