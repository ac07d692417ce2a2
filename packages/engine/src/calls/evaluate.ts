/** The body of a call: code, a procedure with its arguments, or a request about rooms or sessions. */
import { CHARACTERS_PER_LOOK } from '@althing/language';
import { emitRequest, findRooms } from '../functions/room-requests.js';
import { sessionRequest } from '../functions/session-requests.js';
import { readArguments, readVariables } from '../pack/wire-values.js';
import { invoke, runQuery } from '../run/invoke.js';
import { assertArguments } from '../run/parameters.js';
import { placedIn } from '../run/place.js';
import { type Prepared, prepare } from '../run/program.js';
import type { Runtime } from '../run/runtime.js';
import type { Cell } from '../run/symbols.js';
import type { Unit } from '../run/unit.js';
import type { Procedure } from '../state/parts/procedures.js';
import { share } from '../value/containers.js';
import type { Value } from '../value/value.js';
import type { Asker, Call, ProcedureBody, QueryBody } from './call.js';
import type { Executor } from './executor.js';

/** Runs what a call asks for, and gives its value. */
export function evaluate(executor: Executor, { body }: Pick<Call, 'body'>): Value {
  const { runtime: rt, wire } = executor;
  if (body.kind === 'run') {
    const { closure } = body.procedure;
    try {
      return invoke(rt, closure, argumentsOf(executor, body));
    } catch (error) {
      throw placedIn(error, body.procedure.name);
    }
  }
  if (body.kind === 'emit') return emitRequest(rt, body, wire);
  if (body.kind === 'find_rooms') return findRooms(rt, body);
  if (body.kind === 'session') return sessionRequest(rt, body);
  const { prepared, vars } = body;
  const unit = prepared.unitFor(rt);
  return vars === null ? runQuery(rt, unit) : runWith(executor, prepared, unit, vars);
}

/** Runs a query with variables, whose cells are bound as long as it runs. */
function runWith(
  { runtime: rt, wire }: Executor,
  { variables }: Prepared,
  unit: Unit,
  vars: NonNullable<QueryBody['vars']>,
): Value {
  let others: Cell[] | null = null;
  try {
    const left = 'format' in vars ? readVariables(vars, wire, variables) : vars;
    for (let i = 0; i < variables.length; i++) {
      const value = variables[i]?.value;
      if (typeof value === 'object') share(value);
    }
    if (left.size > 0) {
      others = [];
      for (const [name, value] of left) {
        const cell = rt.symbols.passingCell(name);
        share(value);
        cell.value = value;
        others.push(cell);
      }
    }
    return runQuery(rt, unit);
  } finally {
    for (let i = 0; i < variables.length; i++) variables[i]!.value = undefined;
    if (others !== null) noteVariables(rt, variables, others);
  }
}

/** Unbinds variables, and remembers those of names that the query mentions: they are likely to come with it again. */
function noteVariables(rt: Runtime, variables: Cell[], cells: readonly Cell[]): void {
  for (const cell of cells) {
    cell.value = undefined;
    if (variables.length >= VARIABLES_KNOWN_MAX || variables.includes(cell)) continue;
    if (rt.symbols.isLasting(cell)) variables.push(cell);
  }
}

/** Variables that a query remembers at most. */
const VARIABLES_KNOWN_MAX = 16;

/**
 * The compiled form of a procedure that is about to run. It is made in the time that the run may take.
 *
 * @throws QueryError when that is not enough
 */
export function compiledFor(executor: Executor, { procedure }: ProcedureBody, asker: Asker | null): Unit {
  const { runtime: rt } = executor;
  const { closure } = procedure;
  if (closure.unit !== null) return rt.unitOf(closure);
  return within(executor, asker, procedure, () => rt.unitOf(closure));
}

/**
 * The checked form of a query text. A long one is parsed in the time that the query may take.
 *
 * @param asker whose query it is; null for the node's own
 * @throws QueryError as `prepare`, and when that is not enough
 */
export function preparedFor(executor: Executor, code: string, asker: Asker | null): Prepared {
  const { runtime: rt } = executor;
  if (code.length <= CHARACTERS_PER_LOOK) return prepare(rt, code);
  return within(executor, asker, null, () => prepare(rt, code));
}

/** Does what comes before a run in the time that the run may take. */
function within<T>(executor: Executor, asker: Asker | null, procedure: Procedure | null, work: () => T): T {
  const { runtime: rt, limits } = executor;
  rt.startClock(asker === null ? limits : executor.limitsOf(asker, procedure));
  try {
    return work();
  } finally {
    rt.stopClock();
  }
}

function argumentsOf({ runtime: rt, wire }: Executor, { procedure, args }: ProcedureBody): readonly Value[] {
  const unit = rt.unitOf(procedure.closure);
  if (args === null) {
    assertArguments(procedure.name, unit, 0);
    return [];
  }
  const values = 'format' in args ? readArguments(args, wire) : args;
  assertArguments(procedure.name, unit, 'length' in values ? values.length : values);
  if ('length' in values) return values;
  return unit.params.map(({ name }) => values.get(name) ?? null);
}
