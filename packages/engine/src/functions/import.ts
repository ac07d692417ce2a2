import { ByteReader } from '../bytes.js';
import { badDataError, operationError, QueryError, quotaError, valueError } from '../error.js';
import { CHANGES_COLLECTION, type Entry, func } from '../run/builtin.js';
import { inUse } from '../run/dispatch.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { CollectionGroup } from '../state/collection-group.js';
import { type Dump, dumpOf, NoDumpError, readDump } from '../state/dump.js';
import { perform } from '../state/effect.js';
import { ProcedureEffect } from '../state/parts/procedures.js';
import { readTasks, TaskEditor } from '../state/parts/tasks.js';
import { TransferEffect } from '../state/transfer.js';
import { looksLikeThingsdbDump, NoThingsdbDumpError, readThingsdbDump } from '../thingsdb/dump.js';
import type { Bytes } from '../value/scalars.js';
import type { Thing } from '../value/thing.js';

/** Whole collections. */
export const IMPORT: readonly Entry[] = [
  func('import', {
    doc: 'Fills an empty collection with what a dump holds, ids included, also one of ThingsDB; what is too large for a query is moved by the commands export and import.',
    changes: CHANGES_COLLECTION,
    params: [p.bytes('dump'), p.optional(p.thing('options'))],
    run: (rt, bytes, options) => {
      const takesTasks = options !== undefined && readOptions(rt, options);
      const { group, transaction } = rt;
      if (!(group instanceof CollectionGroup)) throw new Error('import() is a function of collections');
      if (!transaction.writable) throw operationError('import() needs a query that makes a change');
      const occupied = group.contents();
      if (occupied !== null) throw operationError(`import() needs an empty collection: ${occupied}`);
      const { root } = group.store;
      if (root.locked || [...rt.symbols.values()].includes(root)) throw inUse('root of the collection');
      const { contents, procedures, tasks } = read(rt, bytes);
      if (procedures.length > rt.quotas.procedures) {
        throw quotaError(`the dump has ${procedures.length} procedures, more than max_procedures allows`);
      }
      rt.charge(contents.length);
      perform(transaction, TransferEffect.IMPORT, group.store, contents);
      for (const procedure of procedures) {
        perform(transaction, ProcedureEffect.PUT, group.procedures, procedure);
      }
      importTasks(rt, group, tasks, takesTasks);
      return null;
    },
  }),
];

/** @returns whether tasks are imported */
function readOptions(rt: Runtime, options: Thing): boolean {
  let takesTasks = false;
  rt.store?.load(options);
  for (const [name, value] of options.entries()) {
    if (name !== 'import_tasks') throw valueError(`there is no option '${name}'; known: import_tasks`);
    takesTasks = p.bool(name).accept(value, { function: 'import', position: 2 });
  }
  return takesTasks;
}

/** Takes the tasks of a dump, whose owner becomes who imports them. */
function importTasks(
  { transaction, user, quotas }: Runtime,
  group: CollectionGroup,
  tasks: Uint8Array,
  takes: boolean,
): void {
  const states = readTasks(new ByteReader(tasks), group.store);
  if (takes && states.length > quotas.tasks) {
    throw quotaError(`the dump has ${states.length} tasks, more than max_tasks allows`);
  }
  const editor = new TaskEditor(group.tasks, transaction);
  for (const state of states) editor.restore({ ...state, owner: user.id });
  // Things that only their arguments hold go with them.
  if (!takes) for (const { id } of states) editor.delete(group.tasks.find(id) ?? missing(id));
}

function missing(id: number): never {
  throw new Error(`task ${id} was just made`);
}

/** @throws QueryError bad_data_err for a damaged dump, value_err for what is none, and the errors of limits */
function read(rt: Runtime, { data }: Bytes): Dump {
  const charge = (units: number): void => rt.charge(units);
  try {
    if (!looksLikeThingsdbDump(data[0] ?? 0)) return readDump(data, charge);
    return dumpOf(readThingsdbDump(data, charge), charge);
  } catch (error) {
    if (error instanceof QueryError && error.fatal) throw error;
    if (error instanceof NoDumpError || error instanceof NoThingsdbDumpError) throw valueError(error.message);
    // Whatever is wrong: nobody but a dump that was made up or damaged brings it about.
    const why = error instanceof Error || error instanceof QueryError ? error.message : String(error);
    throw badDataError(`the dump can not be read: ${why}`);
  }
}
