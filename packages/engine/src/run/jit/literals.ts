/** Things and instances that are written out, in the second tier. */
import type { Entry, Instance, Node } from '@althing/language';
import { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import { instanceSteps, makeInstance, wholeInstance } from '../instance.js';
import { literalShape, ownValue } from '../literal.js';
import { namedBy } from '../named.js';
import type { Translator } from './index.js';
import { isQuiet, quickTest } from './instance.js';
import type { Expression } from './source.js';

/** Properties of a thing that is written out at most. */
const ENTRIES_MAX = 16;

export function thingLiteral(translator: Translator, node: Node, entries: readonly Entry[]): Expression {
  const { source, rt, rtName } = translator;
  if (entries.length > ENTRIES_MAX) return translator.firstTier(node);
  const shape = literalShape(
    rt,
    entries.map(({ key }) => key),
  );
  if (shape === null || shape.owned) return translator.firstTier(node);
  const { mark } = source;
  const slots = source.temp();
  const thing = source.temp();
  const made = `${slots} = new Array(${entries.length}), ${thing} = new ${source.constant(Thing)}(0, ${source.constant(shape)}, ${slots})`;
  const set = entries.map(({ key, value }, i) => {
    const { code, kind } = value === null ? translator.variable(key) : translator.expression(value);
    if (kind !== 'any') return `${slots}[${i}] = ${code}`;
    const own = source.constant(ownValue);
    return `${slots}[${i}] = ${own}(${rtName}, ${thing}, ${source.constant(key)}, ${code})`;
  });
  source.release(mark);
  return { code: `(${[made, ...set, thing].join(', ')})`, kind: 'any' };
}

/**
 * An instance whose entries give each field one value, which is checked here if that can be told quickly. The first tier
 * takes over where the name means another type by then, or the type has changed.
 */
export function instanceLiteral(translator: Translator, node: Instance): Expression {
  const { source, rt, rtName } = translator;
  const { entries } = node.thing;
  const whole = wholeInstance(
    rt,
    node.name,
    entries.map(({ key }) => key),
  );
  const isQuick =
    entries.length <= ENTRIES_MAX && entries.every(({ value }) => value === null || isQuiet(value));
  if (whole === null || !isQuick) return translator.firstTier(node);
  const otherwise = translator.firstTier(node).code;
  const { type, shape } = whole;
  const { mark } = source;
  const given = source.temp();
  const [typeConstant, shapeName] = [source.constant(type), source.constant(shape)];
  const isSame = `${source.constant(namedBy(rt, node.name))}() === ${typeConstant} && ${typeConstant}.shape === ${shapeName} && !${typeConstant}.isWrapOnly`;
  const set = entries.map(({ key, value }, i) => {
    const { code } = value === null ? translator.variable(key) : translator.expression(value);
    return `${given}[${whole.slots[i]}] = ${code}`;
  });
  const value = source.temp();
  const tests = shape.fields.map(
    (field) => `(${value} = ${given}[${field.slot}], ${quickTest(field, value, source)})`,
  );
  const steps = instanceSteps(shape.fields.length);
  const hasSteps = `${rtName}.steps >= ${steps}`;
  const quick = `(${rtName}.steps -= ${steps}, new ${source.constant(Thing)}(0, ${shapeName}, ${given}))`;
  const slow = `${source.constant((values: Value[]) => makeInstance(rt, type, values))}(${given})`;
  source.release(mark);
  const evaluated = [`${given} = new Array(${entries.length})`, ...set].join(', ');
  const made = `(${evaluated}, ${[...tests, hasSteps].join(' && ')} ? ${quick} : ${slow})`;
  return { code: `(${isSame} ? ${made} : ${otherwise})`, kind: 'any' };
}
