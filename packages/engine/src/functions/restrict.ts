import { valueError } from '../error.js';
import type { List, ThingSet } from '../value/containers.js';
import { isRestriction, meetsRestriction } from '../value/restriction.js';
import { Tag } from '../value/tag.js';
import { typeName, type Value } from '../value/value.js';
import { type Entry, MODIFIES, method, type Receiver } from './define.js';
import * as p from './params.js';
import { THING } from './thing.js';

const LIST_OR_SET: Receiver<List | ThingSet> = { tags: [Tag.LIST, Tag.SET] };

/** Restrictions of the values that a container accepts. */
export const RESTRICTING: readonly Entry[] = [
  method(THING, 'restrict', {
    doc: "Restricts the values of a thing to a type: 'str', 'int?', '[]' and the like; nil or 'any' lifts it. Returns the thing.",
    params: [p.strOrNil('restriction')],
    lock: 'write',
    changes: MODIFIES,
    run: (rt, thing, spec) => {
      const restriction = spec === 'any' ? null : spec;
      if (restriction !== null) {
        if (!isRestriction(restriction))
          throw valueError(`there is no type '${restriction}' to restrict a thing to`);
        rt.charge(thing.shape.size);
        thing.forEach((key, value) => {
          if (!meetsRestriction(restriction, value)) {
            throw valueError(`the property '${key}' is ${typeName(value)} and does not fit '${restriction}'`);
          }
        });
      }
      rt.transaction.restrict(thing, restriction);
      return thing;
    },
  }),
  method(THING, 'restriction', {
    doc: 'What the values of the thing are restricted to, or nil.',
    params: [],
    run: (_rt, thing) => thing.shape.restriction,
  }),
  method(LIST_OR_SET, 'restriction', {
    doc: 'What the items are restricted to, or nil.',
    params: [],
    run: (): Value => null,
  }),
];
