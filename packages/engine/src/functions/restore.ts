import { Privilege } from '../admin/privileges.js';
import { replacementConflict } from '../admin/replacement.js';
import { lookupError, operationError, type QueryError, valueError } from '../error.js';
import { CHANGES_ROOT, type Entry, func, type Needs } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import type { Thing } from '../value/thing.js';

/** A restore replaces all there is, whoever may use it. */
const EVERYTHING: Needs = { privilege: Privilege.FULL, on: 'thingsdb' };

/** A backup in the place of what the cluster holds. */
export const RESTORE: readonly Entry[] = [
  func('restore', {
    doc: 'Replaces all scopes by those of a backup, a file below backup_path of the node that is asked; collections must be empty. With take_access only the caller stays as user, with restore_tasks tasks stay.',
    changes: CHANGES_ROOT,
    needs: EVERYTHING,
    role: 'local',
    params: [p.str('file'), p.optional(p.thing('options'))],
    run: (rt, file, given) => {
      const options = optionsOf(rt, given);
      if (rt.transaction.tally !== null)
        throw operationError('a dry run can not try restore() out: it would read the whole backup');
      const isAlone = rt.mayRestore && !rt.transaction.changed && rt.restore === null;
      if (!isAlone) throw conflictOf(rt) ?? notAlone();
      rt.node.restores.check(file);
      const conflict = conflictOf(rt);
      if (conflict !== null) throw conflict;
      rt.restore = { file, ...options };
      return null;
    },
  }),
];

function optionsOf(
  rt: Runtime,
  options: Thing | undefined,
): { readonly takesAccess: boolean; readonly takesTasks: boolean } {
  let takesAccess = false;
  let takesTasks = false;
  if (options === undefined) return { takesAccess, takesTasks };
  rt.load(options);
  for (const [name, value] of options.entries()) {
    const where = { function: 'restore', position: 2 };
    if (name === 'take_access') takesAccess = p.bool(name).accept(value, where);
    else if (name === 'restore_tasks') takesTasks = p.bool(name).accept(value, where);
    else throw valueError(`there is no option '${name}'; known: take_access, restore_tasks`);
  }
  if (takesAccess && takesTasks) {
    throw valueError(
      'take_access and restore_tasks exclude each other: tasks belong to users, which would be gone',
    );
  }
  return { takesAccess, takesTasks };
}

/** The first thing that runs, or would run, and is no part of a backup; null for none. */
function conflictOf(rt: Runtime): QueryError | null {
  if (rt.futures.length + rt.waitingFutures === 0) return replacementConflict(rt.root);
  return lookupError('futures wait for their turn on this node: a restore needs them to be done before');
}

/** Other changes of the query would be lost, or be in the way. */
function notAlone(): QueryError {
  return operationError(
    'restore() has to be written in the text of the query, or of the procedure that is run, and to be the only change of it',
  );
}
