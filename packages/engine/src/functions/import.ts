import { badDataError, operationError, QueryError, quotaError, valueError } from '../error.js';
import { type ChangeRule, type Entry, func, In } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { CollectionGroup } from '../state/collection-group.js';
import { type Dump, NoDumpError, readDump } from '../state/dump.js';
import { ProcedureEditor } from '../state/parts/procedures.js';
import { readContents, writeImport } from '../state/transfer.js';
import type { Bytes } from '../value/scalars.js';
import type { Thing } from '../value/thing.js';

/** How long it takes to take an import back, in nanoseconds for each byte. */
const NS_PER_BYTE = 30;

const CHANGES: ChangeRule = { scopes: In.COLLECTION };

/** Whole collections. */
export const IMPORT: readonly Entry[] = [
  func('import', {
    doc: 'Fills an empty collection with what a dump holds, ids included.',
    in: In.COLLECTION,
    changes: CHANGES,
    params: [p.bytes('dump'), p.optional(p.thing('options'))],
    run: (rt, bytes, options) => {
      if (options !== undefined) checkOptions(rt, options);
      const { group, transaction } = rt;
      if (!(group instanceof CollectionGroup)) throw new Error('import() is a function of collections');
      if (!transaction.writable) throw operationError('import() needs a query that makes a change');
      const occupied = group.contents();
      if (occupied !== null) throw operationError(`import() needs an empty collection: ${occupied}`);
      rt.assertPrograms('imports');
      const { contents, procedures } = read(rt, bytes);
      if (procedures.length > rt.quotas.procedures) {
        throw quotaError(`the dump has ${procedures.length} procedures, more than max_procedures allows`);
      }
      rt.charge(contents.length);
      writeImport(transaction.effects, contents);
      transaction.onUndo(readContents(contents, group.store), NS_PER_BYTE * contents.length);
      const editor = new ProcedureEditor(group.procedures, transaction);
      for (const procedure of procedures) editor.put(procedure);
      return null;
    },
  }),
];

function checkOptions(rt: Runtime, options: Thing): void {
  rt.store?.load(options);
  for (const [name, value] of options.entries()) {
    if (name !== 'import_tasks') throw valueError(`there is no option '${name}'; known: import_tasks`);
    p.bool(name).accept(value, { function: 'import', position: 2 });
  }
}

/** @throws QueryError bad_data_err for a damaged dump, value_err for what is none, and the errors of limits */
function read(rt: Runtime, bytes: Bytes): Dump {
  try {
    return readDump(bytes.data, (units) => rt.charge(units));
  } catch (error) {
    if (error instanceof QueryError && error.fatal) throw error;
    if (error instanceof NoDumpError) throw valueError(error.message);
    // Whatever is wrong: nobody but a dump that was made up or damaged brings it about.
    const why = error instanceof Error || error instanceof QueryError ? error.message : String(error);
    throw badDataError(`the dump can not be read: ${why}`);
  }
}
