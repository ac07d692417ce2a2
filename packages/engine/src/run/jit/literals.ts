/** Things and instances that are written out, in the second tier. */
import type { Entry, Instance, Node } from '@althing/language';
import { attach } from '../../state/attach.js';
import { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import { instanceSteps, makeInstance, wholeInstance } from '../instance.js';
import { literalShape, ownObject } from '../literal.js';
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
  const thing = source.temp();
  const values = entries.map(() => source.temp());
  const evaluated: string[] = [];
  const attached: string[] = [];
  for (const [i, { key, value }] of entries.entries()) {
    const { code, kind } = value === null ? translator.variable(key) : translator.expression(value);
    const held = values[i]!;
    evaluated.push(`${held} = ${code}`);
    if (kind !== 'any') continue;
    const isObject = `typeof ${held} === "object" && ${held} !== null`;
    evaluated.push(`${isObject} && (${held} = ${source.constant(ownObject)}(${rtName}, ${held}))`);
    attached.push(`${isObject} && ${source.constant(attach)}(${thing}, ${source.constant(key)}, ${held})`);
  }
  source.release(mark);
  // An array that is written out is made at once, and where most of them stay, at the place where it stays.
  const made = `${thing} = new ${source.constant(Thing)}(0, ${source.constant(shape)}, [${values.join(', ')}])`;
  return { code: `(${[...evaluated, made, ...attached, thing].join(', ')})`, kind: 'any' };
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
