import { argumentsError, operationError, typeError } from '../error.js';
import { JSON_NESTING_MAX } from '../pack/json-writer.js';
import { ValueSink } from '../pack/value-sink.js';
import { pack } from '../pack/walk.js';
import { type Entry, func, In, method, type Receiver } from '../run/builtin.js';
import { computeIn } from '../run/computed.js';
import { typeNamed } from '../run/instance.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { structureOf } from '../run/structure.js';
import { inWords } from '../schema/rule.js';
import { anonymousOf } from '../schema/structure.js';
import type { Type } from '../schema/type.js';
import { List, type ThingSet } from '../value/containers.js';
import { Tag } from '../value/tag.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Anonymous, Wrap } from '../value/wrap.js';
import { Copier } from './copy.js';
import { idOf, THING } from './thing.js';

const WRAP: Receiver<Wrap> = { tags: [Tag.WRAP] };
const LIST_OR_SET: Receiver<List | ThingSet> = { tags: [Tag.LIST, Tag.TUPLE, Tag.SET] };

/** Wraps: things with what decides how much of them a client gets; and anonymous types. */
export const WRAPS: readonly Entry[] = [
  method(THING, 'wrap', {
    doc: 'The thing wrapped by a type, by name, or by an anonymous type; an instance by its own type.',
    params: [p.optional(p.any('type'))],
    readsState: true,
    run: (rt, thing, by) => {
      if (by === undefined) {
        const { type } = thing;
        if (type === null) throw argumentsError('wrap() of a plain thing takes 1 argument');
        return new Wrap(thing, type);
      }
      return new Wrap(thing, wrapping(rt, by));
    },
  }),
  method(LIST_OR_SET, 'map_wrap', {
    doc: 'A list of the things in it, each wrapped by a type, or by its own.',
    params: [p.optional(p.any('type'))],
    readsState: true,
    run: (rt, container, by) => {
      const given = by === undefined ? null : wrapping(rt, by);
      const items = container instanceof List ? container.items : [...container.members];
      rt.charge(64 * items.length);
      return new List(items.map((item) => new Wrap(...wrapped(item, given))));
    },
  }),
  method(WRAP, 'unwrap', { doc: 'The thing that is wrapped.', run: (_rt, { thing }) => thing }),
  method(WRAP, 'id', {
    doc: 'The id of the wrapped thing; nil while it is not stored.',
    run: (_rt, { thing }) => idOf(thing),
  }),
  method(WRAP, 'copy', {
    doc: 'A plain thing with what a client would get, without ids, down to a depth (default 1).',
    params: [p.optional(p.depth('deep'))],
    readsState: true,
    run: (rt, wrap, deep = 1) => {
      const sink = new ValueSink(rt.shapes);
      pack(wrap, sink, {
        deep,
        ids: false,
        store: rt.store,
        sizeMax: Number.POSITIVE_INFINITY,
        nestingMax: JSON_NESTING_MAX,
        charge: (units) => rt.charge(units),
        compute: computeIn(rt),
      });
      return sink.take();
    },
  }),
  method(WRAP, 'dup', {
    doc: 'A wrap, by the same type, of a duplicate of the thing down to a depth (default 1).',
    params: [p.optional(p.depth('deep'))],
    run: (rt, { thing, by }, deep = 1) => new Wrap(new Copier(rt, true).thing(thing, deep), by),
  }),
  func('ano', {
    doc: 'An anonymous type from a thing with definitions and closures.',
    in: In.COLLECTION,
    readsState: false,
    params: [p.thing('definitions')],
    run: (rt, thing) => {
      rt.load(thing);
      return anonymousOf(structureOf(rt, new Map(thing.entries()), 'anonymous'));
    },
  }),
];

/** The type that an argument wraps with. */
function wrapping(rt: Runtime, by: Value): Type | Anonymous {
  if (by instanceof Anonymous) return by;
  if (typeof by === 'string') {
    const type = typeNamed(rt, by);
    if (type.isUnfinished)
      throw operationError(`the type \`${by}\` is being made: it does not wrap anything yet`);
    return type;
  }
  throw typeError(`a thing is wrapped by a type or an anonymous type, not by ${inWords(by)}`);
}

function wrapped(item: Value, by: Type | Anonymous | null): [Thing, Type | Anonymous] {
  if (!(item instanceof Thing)) throw typeError(`map_wrap() takes things, not ${inWords(item)}`);
  const own = by ?? item.type;
  if (own === null) throw typeError('map_wrap() of plain things takes a type');
  return [item, own];
}
