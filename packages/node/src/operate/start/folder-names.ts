import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SCHEDULE_FILE_NAMES } from '../../backup/schedule.js';
import { CLUSTER_FILE_NAMES } from '../../between/cluster-record.js';
import { SECRET_FILE_NAMES } from '../../between/cluster-secret.js';

/** Data that the folder no longer works with, and that are kept. */
export const REMOVED_NAME = 'removed';

/** Says that the node was removed from its cluster while it served. */
export const LEFT_NAME = 'left';

/** Says that what the folder holds is not what the other members of the cluster hold. */
export const DIVERGED_NAME = 'diverged';

/**
 * The folder that `althing recover` works in. While it is there, the rest may be a half of this and a half of
 * that.
 */
export const RECOVERING_NAME = 'recovering';

/** Names the members by which a node that gave its data up joins its cluster again. */
export const REJOINS_NAME = 'rejoins';

/** The folders of modules, unless they lie elsewhere. They belong to operators, and to nodes as deployed code is written. */
export const MODULES_NAME = 'modules';

/** Names that are in a data folder besides those of the storage. */
export const FOLDER_NAMES: readonly string[] = [
  ...CLUSTER_FILE_NAMES,
  ...SCHEDULE_FILE_NAMES,
  ...SECRET_FILE_NAMES,
  DIVERGED_NAME,
  LEFT_NAME,
  MODULES_NAME,
  REJOINS_NAME,
  REMOVED_NAME,
];

/**
 * The names that make a folder that of a certain node, in the order in which it is moved away. Without the
 * first it asks to join a cluster, and as long as the last is there it does so as who it was.
 */
export const OWN_NAMES: readonly string[] = [
  ...CLUSTER_FILE_NAMES,
  ...SCHEDULE_FILE_NAMES,
  DIVERGED_NAME,
  LEFT_NAME,
  'log',
  'state',
];

/** True if a recovery was begun in a data folder and did not come to its end. */
export function isRecovering(folder: string): boolean {
  return existsSync(join(folder, RECOVERING_NAME));
}

/**
 * A name for data that are kept, in the folder for that.
 *
 * @param why what tells them from others
 */
export function keptPath(folder: string, nowMs: number, why: string): string {
  return join(folder, REMOVED_NAME, `${new Date(nowMs).toISOString().replaceAll(':', '-')}-${why}`);
}
