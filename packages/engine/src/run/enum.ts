/** Members of enums in code: `E{M}`, `E{|| name}`, `E()`, `E(value)`. */
import { argumentsError, lookupError, typeError } from '../error.js';
import type { EnumType } from '../schema/enum.js';
import { assertName } from '../schema/name.js';
import { inWords } from '../schema/rule.js';
import { Closure } from '../value/closure.js';
import { equals } from '../value/kinds.js';
import { Member } from '../value/member.js';
import { isNumeric } from '../value/scalar-compare.js';
import { Bytes, Float } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { whileInUse } from './instance.js';
import { invoke } from './invoke.js';
import type { Runtime } from './runtime.js';
import type { Code } from './unit.js';

/** Code of `E{MEMBER}` or `E{closure}`. */
export function enumLiteral(rt: Runtime, name: string, member: string | null, closure: Code | null): Code {
  return () => {
    const of = enumNamed(rt, name);
    if (closure === null) return memberNamed(of, member ?? '');
    return whileInUse(of, () => {
      const code = closure();
      if (!(code instanceof Closure)) throw typeError(`${name}{...} takes a closure, not ${inWords(code)}`);
      const chosen = invoke(rt, code, []);
      if (typeof chosen !== 'string')
        throw typeError(`the closure of ${name}{...} gives a name, not ${inWords(chosen)}`);
      return memberNamed(of, chosen);
    });
  };
}

/** `E()` and `E(value)`. */
export function callEnum(rt: Runtime, of: EnumType, args: readonly Code[]): Value {
  return whileInUse(of, () => {
    const [code, ...others] = args;
    if (others.length > 0) throw argumentsError(`${of.name}() takes at most 1 argument, not ${args.length}`);
    return code === undefined ? of.default : memberWithValue(rt, of, code());
  });
}

/** The enum of a name. Throws lookup_err when there is none, value_err when there can be none. */
export function enumNamed(rt: Runtime, name: string): EnumType {
  const of = rt.schema.enumNamed(name);
  if (of !== undefined) return of;
  assertName(name);
  throw lookupError(`there is no enum '${name}'`);
}

function memberNamed(of: EnumType, name: string): Member {
  const member = of.named(name);
  if (member === undefined) throw lookupError(`the enum \`${of.name}\` has no member \`${name}\``);
  return member;
}

/** The member with an equal value. */
export function memberWithValue(rt: Runtime, of: EnumType, value: Value): Member {
  if (value instanceof Member) throw typeError(`\`${of.name}\` takes a value, not ${inWords(value)}`);
  rt.charge(of.members.length);
  for (const member of of.members) if (equals(member.value, value)) return member;
  const kind = of.default.value;
  // A missing value of a float or bytes enum counts as one of the wrong type: programs rely on it.
  const isOfKind =
    typeof kind === 'string'
      ? typeof value === 'string'
      : kind instanceof Thing
        ? value instanceof Thing
        : !(kind instanceof Float) &&
          !(kind instanceof Bytes) &&
          isNumeric(value) &&
          typeof value !== 'boolean';
  const message = `the enum \`${of.name}\` has no member with the value ${inWords(value)}`;
  throw isOfKind ? lookupError(message) : typeError(message);
}
