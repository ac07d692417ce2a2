/**
 * Calls of a name without a receiver. A built-in function wins; then comes a type or enum, then a procedure of the scope, then
 * a module, then a variable that holds a closure.
 */
import { lookupError, typeError } from '../error.js';
import { Type } from '../schema/type.js';
import { Closure } from '../value/closure.js';
import { typeName, type Value } from '../value/value.js';
import { compileFunctionCall } from './dispatch.js';
import { callEnum } from './enum.js';
import { callType } from './instance.js';
import { callClosure, callProcedure } from './invoke.js';
import { callModule } from './module-call.js';
import { namedBy } from './named.js';
import { type Place, placed } from './place.js';
import type { Runtime } from './runtime.js';
import type { Code } from './unit.js';

export function compileCall(rt: Runtime, name: string, args: readonly Code[], place: Place): Code {
  const entry = rt.functions.function(name);
  if (entry !== undefined) return compileFunctionCall(rt, entry, args, place);
  const cell = rt.symbols.cell(name);
  const named = namedBy(rt, name);
  const call = (): Value => {
    const of = rt.schema.count === 0 ? null : named();
    if (of !== null) return of instanceof Type ? callType(rt, of, args) : callEnum(rt, of, args);
    const procedure = rt.procedures.size === 0 ? undefined : rt.procedures.get(name);
    if (procedure !== undefined) return callProcedure(rt, procedure, args);
    const { modules } = rt.root;
    const module = modules.byName.size === 0 ? undefined : modules.byName.get(name);
    if (module !== undefined) return callModule(rt, module, args);
    const value = cell.value;
    if (value instanceof Closure) return callClosure(rt, value, args);
    if (value === undefined) {
      rt.freshenModules();
      throw lookupError(`there is no function, procedure, module or variable '${name}'`);
    }
    throw typeError(`'${name}' is a variable of type ${typeName(value)}: only closures can be called`);
  };
  return () => {
    try {
      return call();
    } catch (error) {
      throw placed(error, place, name);
    }
  };
}
