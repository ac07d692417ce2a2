import type { Entry } from '../run/builtin.js';
import { BACKUPS } from './backups.js';
import { BYTES } from './bytes.js';
import { CLOSURE } from './closure.js';
import { COLLECTIONS } from './collections.js';
import { CONVERSION } from './conversion.js';
import { COPYING } from './copy.js';
import { CORE } from './core.js';
import { DATETIME } from './datetime.js';
import { ENUM_INFO } from './enum-info.js';
import { ENUMS } from './enums.js';
import { EXPORT } from './export.js';
import { FEED } from './feed.js';
import { FUTURES } from './future.js';
import { HELP } from './help.js';
import { HISTORY } from './history.js';
import { IMPORT } from './import.js';
import { IMPORT_USER } from './import-user.js';
import { INDEXES } from './indexes.js';
import { JOBS } from './jobs.js';
import { JSON_TEXT } from './json.js';
import { LIMITS } from './limits.js';
import { LINES } from './lines.js';
import { LISTS } from './list.js';
import { LOADS } from './loads.js';
import { LOOK_UPS } from './look-up.js';
import { MATH } from './math.js';
import { MOD_TYPE } from './mod-type.js';
import { MODULES } from './modules.js';
import { MPDATA } from './mpdata.js';
import { NODES } from './node.js';
import { NODE_FIGURES } from './node-figures.js';
import { NODE_REQUESTS } from './node-requests.js';
import { NUMBER } from './number.js';
import { PROCEDURES } from './procedures.js';
import { RANDOM } from './random.js';
import { RANGE } from './range.js';
import { REGEX } from './regex.js';
import { RESTORE } from './restore.js';
import { RESTRICTING } from './restrict.js';
import { ROOMS } from './rooms.js';
import { SEARCH } from './search.js';
import { SETS } from './set.js';
import { SET_TYPE } from './set-type.js';
import { SORT } from './sort.js';
import { STR } from './str.js';
import { TASKS } from './tasks.js';
import { THINGS } from './thing.js';
import { TYPE_INFO } from './type-info.js';
import { TYPES } from './types.js';
import { USERS } from './users.js';
import { USER_WHITELISTS } from './whitelists.js';
import { WRAPS } from './wraps.js';

/** The entries of all built-in functions and methods. */
export function builtIns(): readonly Entry[] {
  return [
    ...CORE,
    ...CONVERSION,
    ...CLOSURE,
    ...EXPORT,
    ...HISTORY,
    ...IMPORT,
    ...USERS,
    ...IMPORT_USER,
    ...JOBS,
    ...LINES,
    ...LOADS,
    ...USER_WHITELISTS,
    ...FEED,
    ...LIMITS,
    ...COLLECTIONS,
    ...NODES,
    ...NODE_FIGURES,
    ...NODE_REQUESTS,
    ...BACKUPS,
    ...RESTORE,
    ...PROCEDURES,
    ...STR,
    ...BYTES,
    ...REGEX,
    ...NUMBER,
    ...MATH,
    ...RANDOM,
    ...RANGE,
    ...JSON_TEXT,
    ...DATETIME,
    ...MPDATA,
    ...THINGS,
    ...LISTS,
    ...SETS,
    ...SORT,
    ...COPYING,
    ...SEARCH,
    ...RESTRICTING,
    ...TYPES,
    ...SET_TYPE,
    ...MOD_TYPE,
    ...TYPE_INFO,
    ...INDEXES,
    ...LOOK_UPS,
    ...WRAPS,
    ...ENUMS,
    ...ENUM_INFO,
    ...FUTURES,
    ...TASKS,
    ...MODULES,
    ...ROOMS,
    ...HELP,
  ];
}
