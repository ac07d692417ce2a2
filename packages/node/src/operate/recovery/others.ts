import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openFolder, StateStore } from '@althing/storage';
import { isDamage } from '../../base/failures.js';
import { decodeIdentity } from '../../base/identity.js';
import { type Config, ExitCode } from '../../config/index.js';
import { addressOf } from '../../peers/dial.js';
import { RemovedError } from '../../peers/formation/formation.js';
import { slotsOf } from '../../peers/formation/slots.js';
import { FOLDER_NAMES } from '../start/folder-names.js';
import { rootOn } from './survey.js';

/**
 * Where the other members of a stopped node's cluster are, as `host:port`: as its state has them, or, where that
 * can't be read, as the settings name them.
 *
 * @throws errors of a folder that another process holds
 */
export async function othersOf(config: Config): Promise<readonly string[]> {
  try {
    const members = await storedOthers(config.storagePath);
    if (members !== null) return members;
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  const { all, own } = slotsOf(config.cluster, config.nodeName, config.listenNodePort);
  return all.filter((_, at) => at !== own).map(({ host, port }) => addressOf(host, port));
}

/** True if an error of a start is one that a node with other members can mend by giving its data up. */
export function isMendedByOthers(error: unknown): boolean {
  if (error instanceof RemovedError || !(error instanceof Error) || !('exitCode' in error)) return false;
  return error.exitCode === ExitCode.DataDamaged;
}

async function storedOthers(path: string): Promise<readonly string[] | null> {
  if (!existsSync(join(path, 'state'))) return null;
  const folder = await openFolder(path, { reserveBytes: 0, alsoAllowed: FOLDER_NAMES });
  let state: StateStore | null = null;
  try {
    state = await StateStore.open({ store: folder.stateStore, disk: folder.stateDisk });
    const identity = state.identity();
    if (identity === undefined) return null;
    const { nodeId } = decodeIdentity(identity);
    const { members } = await rootOn(state);
    if (members.size === 0) return null;
    return [...members.values()]
      .filter((member) => member.nodeId !== nodeId)
      .map(({ host, port }) => addressOf(host, port));
  } finally {
    await state?.close();
    await folder.close();
  }
}
