/** Methods that types, enums and wraps define, and what is said where there is none. */
import { lookupError, typeError, valueError } from '../error.js';
import { isSchemaName } from '../schema/definition.js';
import type { Closure } from '../value/closure.js';
import { Member } from '../value/member.js';
import { Module } from '../value/module.js';
import type { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { Anonymous, Wrap } from '../value/wrap.js';
import { whileInUse } from './instance.js';
import { callClosure } from './invoke.js';
import { callExposed } from './module-call.js';
import type { Runtime } from './runtime.js';
import type { Code } from './unit.js';

/** The closure of a method, which can be read like a property. */
export function methodOf(thing: Thing, name: string): Closure {
  const { type } = thing.shape;
  const method = type?.def?.methods.get(name);
  if (method !== undefined) return method;
  if (type === null) throw unknownProperty(name);
  if (!isSchemaName(name)) throw valueError(`'${name}' is no name of a property`);
  throw lookupError(`type \`${type.name}\` has no property or method \`${name}\``);
}

/** Calls a method of a type or enum; its first argument is what it is called on. */
export function callOwn(
  rt: Runtime,
  of: { uses: number },
  method: Closure,
  self: Value,
  args: readonly Code[],
): Value {
  return whileInUse(of, () => callClosure(rt, method, [() => self, ...args]));
}

/** Calls a method of a value that is no thing: of a member of an enum, a wrap, or an anonymous type. */
export function callOwnMethod(rt: Runtime, self: Value, name: string, args: readonly Code[]): Value {
  if (self instanceof Member) {
    const method = self.enum.def?.methods.get(name);
    if (method !== undefined) return callOwn(rt, self.enum, method, self, args);
  } else if (self instanceof Wrap) {
    const { by } = self;
    const method = by instanceof Anonymous ? by.structure.methods.get(name) : by.def?.methods.get(name);
    if (method !== undefined)
      return callOwn(rt, by instanceof Anonymous ? { uses: 0 } : by, method, self.thing, args);
  } else if (self instanceof Anonymous) {
    const method = self.structure.methods.get(name);
    if (method !== undefined) return callClosure(rt, method, args);
  }
  if (self instanceof Module) return callExposed(rt, self, name, args);
  throw lookupError(`${typeName(self)} has no method '${name}'`);
}

export function unknownProperty(key: string): ReturnType<typeof lookupError> {
  return lookupError(`there is no property '${key}'`);
}

export function noProperty(value: Value, name: string): ReturnType<typeof typeError> {
  return typeError(`${typeName(value)} has no properties: '${name}' can't be used on it`);
}
