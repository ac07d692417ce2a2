/**
 * Data that a folder no longer works with, and that are kept all the same. They lie in a folder of their own
 * below it:
 *
 *   removed/2026-01-31T12-00-00.000Z-271828/     when it was set aside, and the id of the node that it belonged to
 *
 * The file `left` says that the node was removed while it served: its modification time is when.
 */
import { statSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '@althing/storage';
import type { Config } from '../../config/index.js';
import { slotsOf } from '../../peers/formation/slots.js';
import { keptPath, LEFT_NAME, OWN_NAMES, REMOVED_NAME } from './folder-names.js';

/**
 * Time that a node stays away that was removed while it served, in milliseconds: whoever removed it needs time
 * to take away what starts it again.
 */
const STAY_AWAY_MS = 600_000;

/** Notes that the node was removed while it served. */
export function noteLeft(folder: string, nowMs: number): void {
  writeFileSync(join(folder, LEFT_NAME), `${new Date(nowMs).toISOString()}\n`, { mode: 0o600 });
}

/** Why a node that was removed should not join again by itself now; null when it may. */
export function staysAway(
  {
    storagePath,
    cluster,
    nodeName,
    listenNodePort,
    waitForInvitation,
  }: Pick<Config, 'storagePath' | 'cluster' | 'nodeName' | 'listenNodePort' | 'waitForInvitation'>,
  nowMs: number,
): string | null {
  const { all, own } = slotsOf(cluster, nodeName, listenNodePort);
  if (!waitForInvitation && (all.length === 0 || (all.length === 1 && own === 0))) {
    return '"cluster" names no other node: it would found a cluster of its own';
  }
  const left = statSync(join(storagePath, LEFT_NAME), { throwIfNoEntry: false })?.mtimeMs;
  if (left === undefined || nowMs < left || nowMs >= left + STAY_AWAY_MS) return null;
  const until = new Date(left + STAY_AWAY_MS).toISOString();
  return `it was removed while it served, so it stays away until ${until}`;
}

/**
 * Sets aside what makes a folder that of a certain node. Nobody may work with it. After an interruption the
 * node asks to join as who it was, hears once more that it was removed, and the rest is set aside.
 *
 * @param nodeId of the node, or why it was done
 * @returns the folder where it is
 */
export async function setAside(folder: string, nodeId: number | string, nowMs: number): Promise<string> {
  const target = keptPath(folder, nowMs, String(nodeId));
  await mkdir(target, { recursive: true, mode: 0o700 });
  const present = new Set(await readdir(folder));
  for (const name of OWN_NAMES) {
    if (!present.has(name)) continue;
    await rename(join(folder, name), join(target, name));
    for (const changed of [target, folder]) await syncFolder(changed);
  }
  await syncFolder(join(folder, REMOVED_NAME));
  return target;
}
