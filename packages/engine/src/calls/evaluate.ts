/** What the body of a call is: code, a procedure with its arguments, or a request about rooms. */
import { emitRequest, findRooms } from '../functions/room-requests.js';
import { readArguments, readVariables } from '../pack/wire-values.js';
import { invoke, runQuery } from '../run/invoke.js';
import { share } from '../run/runtime.js';
import type { Value } from '../value/value.js';
import type { Call, ProcedureBody } from './call.js';
import type { Executor } from './executor.js';

/** Runs what a call asks for, and gives its value. */
export function evaluate(executor: Executor, { body }: Pick<Call, 'body'>): Value {
  const { runtime: rt, wire } = executor;
  if (body.kind === 'run') {
    const { closure } = body.procedure;
    return invoke(rt, closure, argumentsOf(executor, body));
  }
  if (body.kind === 'emit') return emitRequest(rt, body, wire);
  if (body.kind === 'find_rooms') return findRooms(rt, body);
  const unit = body.prepared.unitFor(rt);
  if (body.vars === null) return runQuery(rt, unit);
  const vars = 'format' in body.vars ? readVariables(body.vars, wire) : body.vars;
  const cells = [...vars].map(([name, value]) => {
    const cell = rt.symbols.passingCell(name);
    share(value);
    cell.value = value;
    return cell;
  });
  try {
    return runQuery(rt, unit);
  } finally {
    for (const cell of cells) cell.value = undefined;
  }
}

function argumentsOf({ runtime: rt, wire }: Executor, { procedure, args }: ProcedureBody): readonly Value[] {
  if (args === null) return [];
  const values = 'format' in args ? readArguments(args, wire) : args;
  if ('length' in values) return values;
  return rt.unitOf(procedure.closure).params.map(({ name }) => values.get(name) ?? null);
}
