import { ErrorCode, operationError, QueryError, valueError } from '../error.js';
import { type Entry, MODIFIES, method, type Receiver } from '../run/builtin.js';
import { surelyGoneThings } from '../run/gone.js';
import { eachInstance } from '../run/instances.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { type Item, itemText } from '../schema/definition.js';
import { parseRestriction } from '../schema/parse-definition.js';
import { Restriction } from '../schema/restriction.js';
import type { List, ThingSet } from '../value/containers.js';
import { Tag } from '../value/tag.js';
import type { Thing } from '../value/thing.js';
import { typeName } from '../value/value.js';
import { THING } from './thing.js';

const LIST_OR_SET: Receiver<List | ThingSet> = { tags: [Tag.LIST, Tag.SET] };

/** Restrictions of the values that a container accepts. */
export const RESTRICTING: readonly Entry[] = [
  method(THING, 'restrict', {
    doc: "Restricts the values of a thing to a type: 'str', 'int?', '[]' and the like; nil or 'any' lifts it. Returns the thing.",
    instances: 'never',
    params: [p.strOrNil('restriction')],
    changes: MODIFIES,
    run: (rt, thing, spec) => {
      const restriction = spec === null ? null : restrictionOf(rt, spec);
      if (restriction !== null) {
        rt.charge(UNITS_PER_FITTED * thing.shape.size);
        thing.forEach((key, value) => {
          rt.chargeFill(value);
          if (!restriction.fits(value)) {
            throw valueError(`the property '${key}' is ${typeName(value)} and does not fit '${spec}'`);
          }
        });
      }
      assertNotDemanded(rt, thing, restriction);
      rt.transaction.restrict(thing, restriction);
      return thing;
    },
  }),
  method(THING, 'restriction', {
    doc: 'What the values of the thing are restricted to, or nil.',
    instances: 'never',
    run: (rt, thing) => itemText(thing.restriction?.item ?? null, rt.schema),
  }),
  method(LIST_OR_SET, 'restriction', {
    doc: 'What the items are restricted to, or nil.',
    light: true,
    run: (rt, { rule }) => itemText(rule?.item ?? null, rt.schema),
  }),
];

/** Units charged for a value that is held against a restriction, and for a type whose properties may demand one. */
const UNITS_PER_FITTED = 8;
const UNITS_PER_TYPE = 64;

/** The restriction of a text; null for what anything fits. */
function restrictionOf(rt: Runtime, spec: string): Restriction | null {
  if (spec === 'any') return null;
  try {
    const item = parseRestriction(spec, rt.schema);
    if (item === null) throw valueError(`there is no restriction '${spec}'`);
    assertFree(rt, item);
    return new Restriction(item, rt.schema);
  } catch (error) {
    if (error instanceof QueryError && error.code === ErrorCode.TYPE) throw valueError(error.message);
    throw error;
  }
}

/** Throws operation_err while the type or enum is in use. */
function assertFree(rt: Runtime, { base }: Item): void {
  const schema = rt.store?.schema;
  const of =
    base.kind === 'type' ? schema?.type(base.id) : base.kind === 'enum' ? schema?.enum(base.id) : undefined;
  if (of !== undefined && of.uses > 0) throw operationError(`\`${of.name}\` is in use`);
}

/** Throws operation_err when a property of an instance demands another restriction than the new one. */
function assertNotDemanded(rt: Runtime, thing: Thing, restriction: Restriction | null): void {
  const present = thing.restriction;
  if (present === null || present.stored === restriction?.stored) return;
  const gone = surelyGoneThings(rt);
  for (const type of rt.schema.allTypes()) {
    rt.charge(UNITS_PER_TYPE);
    const fields = type.shape?.fields.filter(({ rule }) => rule.restriction !== null) ?? [];
    if (fields.length === 0) continue;
    for (const instance of eachInstance(rt, type, gone)) {
      rt.load(instance);
      const field = fields.find(({ slot }) => instance.slots[slot] === thing);
      if (field === undefined) continue;
      throw operationError(
        `type \`${type.name}\`, property \`${field.name}\`: it demands the restriction of the thing`,
      );
    }
  }
}
