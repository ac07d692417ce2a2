import { argumentsError, lookupError, operationError, typeError } from '../error.js';
import { type Entry, method, type Receiver, variadic } from '../run/builtin.js';
import { assertLoose } from '../run/later.js';
import { futureOfRequest } from '../run/module-call.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { Closure } from '../value/closure.js';
import { List } from '../value/containers.js';
import { Future } from '../value/future.js';
import { Tag } from '../value/tag.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';

const FUTURE: Receiver<Future> = { tags: [Tag.FUTURE] };

/** Futures: what runs after the query, before its answer is sent. */
export const FUTURES: readonly Entry[] = [
  variadic('future', {
    doc: 'Runs a closure after the query, before its answer is sent; or asks the module that a thing names; or has nil and the arguments as its result, for `then`.',
    params: [p.any('what')],
    rest: p.any('argument'),
    role: 'later',
    readsState: true,
    run: (rt, what, args) => {
      rt.assertFutures();
      const future = futureOf(rt, what, args);
      if (future.onResult !== null) assertLoose(rt, future.onResult, future.args);
      return rt.addFuture(future);
    },
  }),
  method(FUTURE, 'then', {
    doc: 'Sets what runs when the future has its result, with the result and its arguments; gives the future.',
    params: [p.closure('closure')],
    role: 'later',
    run: (rt, future, closure) => {
      if (future.onResult !== null) throw operationError('the future has a closure for its result already');
      assertLoose(rt, closure, future.args);
      future.onResult = closure;
      return future;
    },
  }),
  method(FUTURE, 'else', {
    doc: 'Sets what runs when the module of the future fails, with the error and its arguments; gives the future.',
    params: [p.closure('closure')],
    role: 'later',
    run: (_rt, future, closure) => {
      if (future.onFailure !== null) throw operationError('the future has a closure for errors already');
      future.onFailure = closure;
      return future;
    },
  }),
];

function futureOf(rt: Runtime, what: Value, args: readonly Value[]): Future {
  if (what === null) return new Future(null, args);
  if (what instanceof Closure) return new Future(what, argumentsOf(rt, what, args));
  if (what instanceof Thing) return futureOfRequest(rt, what, args);
  throw typeError(`future() takes nil, a closure or a thing that names a module, not ${typeName(what)}`);
}

/** Arguments of a closure: those given as a list, or the present values of the variables that its parameters are called like. */
function argumentsOf(rt: Runtime, closure: Closure, [given, ...surplus]: readonly Value[]): readonly Value[] {
  const { params } = rt.unitOf(closure);
  if (given === undefined) {
    return params.map(({ name, value }) => {
      if (value === undefined)
        throw lookupError(`there is no variable '${name}' for the closure of the future`);
      return value;
    });
  }
  if (surplus.length > 0) {
    throw argumentsError('future() takes a closure and one list with all of its arguments');
  }
  if (!(given instanceof List)) {
    throw typeError(`the arguments of a future's closure come as a list, not as ${typeName(given)}`);
  }
  if (given.length !== params.length) {
    throw argumentsError(`the closure of the future takes ${params.length} arguments, not ${given.length}`);
  }
  return given.items.slice();
}
