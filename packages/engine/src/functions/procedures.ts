import { closureDoc, parseClosure } from '@althing/language';
import { Privilege } from '../admin/privileges.js';
import { existsError, lookupError, quotaError, valueError } from '../error.js';
import { packInfo } from '../pack/info.js';
import { DEFINES_DATA, type Entry, func, In, variadic } from '../run/builtin.js';
import { chargeParse } from '../run/charge.js';
import { callProcedure } from '../run/invoke.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { storedCopyOf } from '../run/structure.js';
import { assertName } from '../schema/name.js';
import { perform } from '../state/effect.js';
import { type Procedure, ProcedureEffect } from '../state/parts/procedures.js';
import type { Closure } from '../value/closure.js';
import { List } from '../value/containers.js';
import { compareText } from '../value/scalar-compare.js';
import { MpData } from '../value/scalars.js';
import type { Thing } from '../value/thing.js';
import { knownOptions, optionsAfter } from './known-options.js';
import { durationOf } from './limits.js';

const OPTIONS = optionsAfter('a name and a closure', '{duration: 500}');

const CLOSURE_AND_OPTIONS = [
  p.str('name'),
  p.later(p.closure('closure')),
  p.optional(p.later(OPTIONS)),
] as const;

/** Procedures: named closures of a scope. */
export const PROCEDURES: readonly Entry[] = [
  func('new_procedure', {
    doc: 'Makes a procedure of a closure; with {duration: milliseconds} it may run so long, within the limit of the node.',
    changes: DEFINES_DATA,
    params: CLOSURE_AND_OPTIONS,
    run: (rt, name, given, options) => {
      assertName(name);
      const closure = given();
      const durationMs = durationIn(rt, 'new_procedure', options?.());
      if (rt.scope.procedure(name) !== undefined) throw existsError(`there is a procedure '${name}' already`);
      assertRoom(rt);
      put(rt, name, closure, durationMs);
      return name;
    },
  }),
  func('mod_procedure', {
    doc: 'Gives a procedure another closure; its time limit stays, unless options say another one.',
    changes: DEFINES_DATA,
    params: CLOSURE_AND_OPTIONS,
    run: (rt, name, given, options) => {
      const { durationMs } = procedureOf(rt, name);
      const closure = given();
      const thing = options?.();
      put(rt, name, closure, thing === undefined ? durationMs : durationIn(rt, 'mod_procedure', thing));
      return null;
    },
  }),
  func('set_procedure', {
    doc: 'Makes a procedure of a closure, or gives the one of this name another closure, and the options that new_procedure takes.',
    changes: DEFINES_DATA,
    params: CLOSURE_AND_OPTIONS,
    run: (rt, name, given, options) => {
      assertName(name);
      const closure = given();
      const durationMs = durationIn(rt, 'set_procedure', options?.());
      if (rt.scope.procedure(name) === undefined) assertRoom(rt);
      put(rt, name, closure, durationMs);
      return name;
    },
  }),
  func('rename_procedure', {
    doc: 'Gives a procedure another name.',
    changes: DEFINES_DATA,
    params: [p.str('name'), p.later(p.str('new_name'))],
    run: (rt, name, given) => {
      procedureOf(rt, name);
      const newName = given();
      assertName(newName);
      if (rt.scope.procedure(newName) !== undefined) {
        throw existsError(`there is a procedure '${newName}' already`);
      }
      perform(rt.transaction, ProcedureEffect.RENAME, rt.group.procedures, name, newName);
      return null;
    },
  }),
  func('del_procedure', {
    doc: 'Deletes a procedure.',
    changes: DEFINES_DATA,
    params: [p.str('name')],
    run: (rt, name) => {
      perform(rt.transaction, ProcedureEffect.DELETE, rt.group.procedures, procedureOf(rt, name));
      return null;
    },
  }),
  func('has_procedure', {
    doc: 'Whether there is a procedure of this name.',
    in: In.DATA,
    params: [p.str('name')],
    run: (rt, name) => rt.scope.procedure(name) !== undefined,
  }),
  func('procedure_info', {
    doc: 'What is known of a procedure; its definition for those with CHANGE on the scope.',
    in: In.DATA,
    params: [p.str('name')],
    run: (rt, name) => procedureInfo(rt, procedureOf(rt, name)),
  }),
  func('procedures_info', {
    doc: 'What is known of every procedure of the scope, by ascending name.',
    in: In.DATA,
    run: (rt) => {
      const { byName } = rt.group.procedures;
      rt.step(STEPS_PER_LISTED * byName.size);
      const procedures = [...byName.values()].sort((a, b) => compareText(a.name, b.name));
      return new List(procedures.map((procedure) => procedureInfo(rt, procedure)));
    },
  }),
  func('procedure_doc', {
    doc: 'The string that the body of a procedure begins with.',
    in: In.DATA,
    params: [p.str('name')],
    run: (rt, name) => docOf(rt, procedureOf(rt, name)),
  }),
  variadic('run', {
    doc: 'Calls a procedure.',
    in: In.DATA,
    params: [p.str('name')],
    rest: p.lazy('argument'),
    run: (rt, name, args) => callProcedure(rt, procedureOf(rt, name), args),
  }),
];

function procedureOf(rt: Runtime, name: string): Procedure {
  assertName(name);
  const procedure = rt.scope.procedure(name);
  if (procedure === undefined) throw lookupError(`there is no procedure '${name}'`);
  return procedure;
}

function assertRoom(rt: Runtime): void {
  const { size } = rt.group.procedures.byName;
  if (size < rt.quotas.procedures) return;
  throw quotaError(`there are ${size} procedures, the most that max_procedures allows`);
}

/** Puts a procedure with a closure of its own: what happens to the original does not matter to it. */
function put(rt: Runtime, name: string, original: Closure, durationMs: number | null): void {
  const { params, rules } = rt.unitOf(original);
  for (const [i, rule] of (rules ?? []).entries()) {
    rule?.resolve();
    const twice = params[i]?.name ?? '';
    // Arguments come by name, too. Programs without definitions keep what they have.
    if (params.findIndex(({ name }) => name === twice) < i)
      throw valueError(`procedure '${name}' has two parameters '${twice}'`);
  }
  const closure = storedCopyOf(rt, original);
  const { procedures } = rt.group;
  const procedure = { name, closure, createdAt: rt.seconds(), durationMs };
  perform(rt.transaction, ProcedureEffect.PUT, procedures, procedure);
}

/** The time limit that options give; null for none. */
function durationIn(rt: Runtime, name: string, options: Thing | undefined): number | null {
  if (options === undefined) return null;
  return durationOf(name, 3, knownOptions(rt, name, options, ['duration']).get('duration'));
}

function docOf(rt: Runtime, procedure: Procedure): string {
  chargeParse(rt, procedure.closure.source);
  return closureDoc(parseClosure(procedure.closure.source));
}

/** The text of `help` for a procedure: its call, its doc, and the way to call it where a built-in function has its name. */
export function procedureHelp(rt: Runtime, procedure: Procedure): string {
  const { name, durationMs, closure } = procedure;
  const { params, rules } = rt.unitOf(closure);
  const call = params
    .map((param, i) => (rules?.[i] ? `${param.name}: ${rules[i].text}` : param.name))
    .join(', ');
  const notes = [
    `A procedure of ${rt.scope.name}.`,
    ...(rt.functions.function(name) === undefined
      ? []
      : [`run('${name}', ...) calls it, and not the function.`]),
    ...(durationMs === null ? [] : [`It may run for ${durationMs} ms.`]),
    ...(rt.needsChange(closure) ? ['Makes the query a change.'] : []),
  ];
  return [`${name}(${call})`, docOf(rt, procedure), notes.join(' ')].filter((line) => line !== '').join('\n');
}

/** Steps that count for the place of a procedure among all others, by its name. */
const STEPS_PER_LISTED = 16;

/** The text is laid out when it is asked for: that takes longer than all else, and of a list of procedures often only a part is looked at. */
function procedureInfo(rt: Runtime, procedure: Procedure): MpData {
  const full = rt.access.has(Privilege.CHANGE);
  return new MpData(() => describe(rt, procedure, full));
}

/** @param full whether the text belongs to it */
function describe(rt: Runtime, procedure: Procedure, full: boolean): Uint8Array {
  const { closure } = procedure;
  chargeParse(rt, closure.source);
  const { params, rules } = rt.unitOf(closure);
  return packInfo(rt, {
    doc: docOf(rt, procedure),
    name: procedure.name,
    created_at: procedure.createdAt,
    definition: full ? closure.pretty() : undefined,
    with_side_effects: rt.needsChange(closure),
    arguments: params.map(({ name }) => name),
    duration: procedure.durationMs ?? undefined,
    definitions: rules?.map((rule) => rule?.text ?? null),
  }).data;
}
