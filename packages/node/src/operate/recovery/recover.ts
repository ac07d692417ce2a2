/**
 * Recovery of a cluster whose majority is lost for good: the data folder of one node that is left becomes
 * that of a cluster of this node alone. It is done on a copy, which takes the place of the original when it
 * is complete:
 *
 *   recovering/new/       the copy, while it is worked on; a beginning is thrown away
 *   recovering/ready/     the copy when it is complete; from here on names are only moved
 *   recovering/before/    what was there, until it goes to `removed/`
 *
 * No node starts while `recovering/` is there.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { copyData, openFolder, syncFolder } from '@althing/storage';
import type { Config } from '../../config/index.js';
import {
  FOLDER_NAMES,
  isRecovering,
  keptPath,
  LEFT_NAME,
  RECOVERING_NAME,
  REMOVED_NAME,
} from '../start/folder-names.js';
import { withExitCode, withFolder } from '../start/start-errors.js';
import { type CollectionCheck, checksOf } from './check.js';
import { rewrite } from './rewrite.js';
import { openData, refused, type Survey, surveyOf } from './survey.js';

const MiB = 1024 * 1024;

/** The files that are copied: all that a stopped node needs. */
const COPIED = ['cluster', 'backups', 'log', 'state'];

/**
 * Tells what the data folder of a stopped node holds of its cluster, after everything in it was read and
 * verified.
 *
 * @throws StartError and others with an `exitCode`
 */
export async function inspectFolder(config: Config): Promise<Survey> {
  try {
    const { storagePath } = config;
    if (isRecovering(storagePath)) throw refused('a recovery of it was begun: complete that first');
    if (!existsSync(join(storagePath, 'cluster'))) throw refused(`${storagePath} holds no data of a node`);
    return await withData(storagePath, config, surveyOf);
  } catch (error) {
    throw withExitCode(error);
  }
}

/**
 * Reads everything that the data folder of a stopped node holds, and looks whether the rules of the state are kept.
 *
 * @param found gets what was found in each collection
 * @throws StartError and others with an `exitCode`
 */
export async function checkFolder(config: Config, found: (check: CollectionCheck) => void): Promise<void> {
  try {
    const { storagePath } = config;
    if (!existsSync(join(storagePath, 'cluster'))) throw refused(`${storagePath} holds no data of a node`);
    await withData(storagePath, config, async ({ state }) => {
      for await (const check of checksOf(state)) found(check);
    });
  } catch (error) {
    throw withExitCode(error);
  }
}

/**
 * Makes the data folder of a stopped node that of a cluster of this node alone. What was there is kept. May
 * be repeated after an interruption.
 *
 * @returns where that is kept
 * @throws StartError and others with an `exitCode`
 */
export async function recoverFolder(config: Config): Promise<string> {
  try {
    const { storagePath } = config;
    const ready = join(storagePath, RECOVERING_NAME, 'ready');
    if (!existsSync(ready)) await clear(storagePath);
    const { others } = existsSync(ready) ? { others: 1 } : await inspectFolder(config);
    if (others === 0) throw refused('its node is a cluster of its own: it can just be started');
    return await withFolder(storagePath, async () => {
      if (!existsSync(ready)) await prepare(storagePath, config, ready);
      return takePlace(storagePath);
    });
  } catch (error) {
    throw withExitCode(error);
  }
}

/** Makes the copy, and changes that. */
async function prepare(folder: string, config: Config, ready: string): Promise<void> {
  const copy = join(folder, RECOVERING_NAME, 'new');
  try {
    await mkdir(copy, { recursive: true, mode: 0o700 });
    for (const name of COPIED) {
      if (existsSync(join(folder, name))) await copyData(join(folder, name), join(copy, name));
    }
    await withData(copy, config, (data) => rewrite(data, config));
    for (const made of [copy, dirname(copy), folder]) await syncFolder(made);
    await rename(copy, ready);
    await syncFolder(dirname(ready));
  } catch (error) {
    if (!existsSync(ready)) await clear(folder);
    throw error;
  }
}

/** Lets the copy take the place of what is there, name by name; goes on where it was interrupted. */
async function takePlace(folder: string): Promise<string> {
  const recovering = join(folder, RECOVERING_NAME);
  const [ready, before] = [join(recovering, 'ready'), join(recovering, 'before')];
  let kept = join(folder, REMOVED_NAME);
  if (existsSync(before) || (await readdir(ready)).length > 0) {
    await mkdir(before, { recursive: true, mode: 0o700 });
    for (const name of await readdir(ready)) {
      if (existsSync(join(folder, name))) await rename(join(folder, name), join(before, name));
      for (const changed of [before, folder]) await syncFolder(changed);
      await rename(join(ready, name), join(folder, name));
      for (const changed of [ready, folder]) await syncFolder(changed);
    }
    await rm(join(folder, LEFT_NAME), { force: true });
    kept = keptPath(folder, Date.now(), 'before-recovery');
    await mkdir(dirname(kept), { recursive: true, mode: 0o700 });
    await rename(before, kept);
    for (const changed of [dirname(kept), recovering]) await syncFolder(changed);
  }
  await clear(folder);
  return kept;
}

async function clear(folder: string): Promise<void> {
  if (!isRecovering(folder)) return;
  await rm(join(folder, RECOVERING_NAME), { recursive: true });
  await syncFolder(folder);
}

async function withData<T>(
  path: string,
  config: Config,
  work: (data: Awaited<ReturnType<typeof openData>>) => Promise<T>,
): Promise<T> {
  const folder = await openFolder(path, { reserveBytes: 0, alsoAllowed: FOLDER_NAMES });
  const data = await openData(folder, config.logSegmentMb * MiB);
  try {
    return await work(data);
  } finally {
    await data.close();
  }
}
