import { closureDoc, parseClosure } from '@althing/language';
import { Privilege } from '../admin/privileges.js';
import { lookupError, quotaError } from '../error.js';
import { MsgpackWriter } from '../pack/msgpack-writer.js';
import { callClosure } from '../run/invoke.js';
import type { Runtime } from '../run/runtime.js';
import type { Code } from '../run/unit.js';
import { Effect } from '../state/effects.js';
import type { Procedure } from '../state/scope.js';
import { Closure } from '../value/closure.js';
import { compareText } from '../value/compare.js';
import { List } from '../value/containers.js';
import { MpData } from '../value/scalars.js';
import { checkName } from './collections.js';
import { type ChangeRule, type Entry, func, In, variadic } from './define.js';
import * as p from './params.js';
import { strArgument } from './users.js';

const CHANGES_DATA: ChangeRule = { scopes: In.DATA };

/** Procedures: named closures of a scope. */
export const PROCEDURES: readonly Entry[] = [
  func('new_procedure', {
    doc: 'Makes a procedure of a closure.',
    in: In.DATA,
    changes: CHANGES_DATA,
    params: [p.str('name'), p.lazy('closure')],
    run: (rt, name, code) => {
      checkName(name);
      const closure = closureArgument(code, 'new_procedure');
      if (rt.scope.procedure(name) !== undefined) throw lookupError(`there is a procedure '${name}' already`);
      const { procedures } = rt.group;
      if (procedures.size >= rt.quotas.procedures) {
        throw quotaError(`there are ${procedures.size} procedures, the most that max_procedures allows`);
      }
      put(rt, { name, closure: copy(closure), createdAt: rt.seconds() });
      return name;
    },
  }),
  func('mod_procedure', {
    doc: 'Gives a procedure another closure.',
    in: In.DATA,
    changes: CHANGES_DATA,
    params: [p.str('name'), p.lazy('closure')],
    run: (rt, name, code) => {
      procedureOf(rt, name);
      const closure = closureArgument(code, 'mod_procedure');
      put(rt, { name, closure: copy(closure), createdAt: rt.seconds() });
      return null;
    },
  }),
  func('rename_procedure', {
    doc: 'Gives a procedure another name.',
    in: In.DATA,
    changes: CHANGES_DATA,
    params: [p.str('name'), p.lazy('new_name')],
    run: (rt, name, code) => {
      procedureOf(rt, name);
      const newName = strArgument(code, 'rename_procedure', 2, 'new_name');
      checkName(newName);
      if (rt.scope.procedure(newName) !== undefined) {
        throw lookupError(`there is a procedure '${newName}' already`);
      }
      const { group, transaction } = rt;
      transaction.effects.u8(Effect.RENAME_PROCEDURE);
      transaction.effects.text(name);
      transaction.effects.text(newName);
      group.renameProcedure(name, newName);
      transaction.onUndo(() => group.renameProcedure(newName, name));
      return null;
    },
  }),
  func('del_procedure', {
    doc: 'Deletes a procedure.',
    in: In.DATA,
    changes: CHANGES_DATA,
    params: [p.str('name')],
    run: (rt, name) => {
      const procedure = procedureOf(rt, name);
      const { group, transaction } = rt;
      transaction.effects.u8(Effect.DELETE_PROCEDURE);
      transaction.effects.text(name);
      group.deleteProcedure(name);
      transaction.onUndo(() => group.putProcedure(procedure));
      return null;
    },
  }),
  func('has_procedure', {
    doc: 'Whether there is a procedure of this name.',
    in: In.DATA,
    readsState: true,
    params: [p.str('name')],
    run: (rt, name) => rt.scope.procedure(name) !== undefined,
  }),
  func('procedure_info', {
    doc: 'What is known of a procedure.',
    in: In.DATA,
    readsState: true,
    params: [p.str('name')],
    run: (rt, name) => procedureInfo(rt, procedureOf(rt, name)),
  }),
  func('procedures_info', {
    doc: 'What is known of every procedure of the scope, by ascending name.',
    in: In.DATA,
    readsState: true,
    params: [],
    run: (rt) => {
      const procedures = [...rt.group.procedures.values()].sort((a, b) => compareText(a.name, b.name));
      return new List(procedures.map((procedure) => procedureInfo(rt, procedure)));
    },
  }),
  func('procedure_doc', {
    doc: 'The string that the body of a procedure begins with.',
    in: In.DATA,
    readsState: true,
    params: [p.str('name')],
    run: (rt, name) => docOf(procedureOf(rt, name)),
  }),
  variadic('run', {
    doc: 'Calls a procedure.',
    in: In.DATA,
    readsState: true,
    params: [p.str('name')],
    rest: p.lazy('argument'),
    run: (rt, name, args) => callClosure(rt, procedureOf(rt, name).closure, args),
  }),
];

function procedureOf(rt: Runtime, name: string): Procedure {
  checkName(name);
  const procedure = rt.scope.procedure(name);
  if (procedure === undefined) throw lookupError(`there is no procedure '${name}'`);
  return procedure;
}

function closureArgument(code: Code, name: string): Closure {
  return p.closure('closure').accept(code(), { function: name, position: 2 });
}

/** A closure of the procedure's own: what happens to the original does not matter to it. */
function copy(closure: Closure): Closure {
  return new Closure(closure.source, closure.unit, closure.store());
}

function put(rt: Runtime, procedure: Procedure): void {
  const { group, transaction } = rt;
  const old = group.procedures.get(procedure.name);
  transaction.effects.u8(Effect.PUT_PROCEDURE);
  transaction.effects.text(procedure.name);
  transaction.effects.varint(procedure.createdAt);
  transaction.effects.text(procedure.closure.store());
  group.putProcedure(procedure);
  transaction.onUndo(() => {
    if (old === undefined) group.deleteProcedure(procedure.name);
    else group.putProcedure(old);
  });
}

function docOf(procedure: Procedure): string {
  return closureDoc(parseClosure(procedure.closure.source));
}

function procedureInfo(rt: Runtime, procedure: Procedure): MpData {
  const { closure } = procedure;
  const unit = rt.unitOf(closure);
  const full = rt.access.has(Privilege.CHANGE);
  const out = new MsgpackWriter();
  out.beginMap(full ? 6 : 5);
  out.key('doc');
  out.str(docOf(procedure));
  out.key('name');
  out.str(procedure.name);
  out.key('created_at');
  out.int(procedure.createdAt);
  if (full) {
    out.key('definition');
    out.str(closure.pretty());
  }
  out.key('with_side_effects');
  out.bool(rt.needsChange(closure));
  out.key('arguments');
  out.beginArray(unit.params.length);
  for (const { name } of unit.params) out.str(name);
  return new MpData(out.out.take());
}
