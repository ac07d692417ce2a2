/**
 * Starting a node: the data folder, who it belongs to, and then everything else.
 */

import { statSync } from 'node:fs';
import { LEVEL_NEWEST } from '@althing/engine';
import { type DataFolder, DiskFullError, openFolder, StateStore } from '@althing/storage';
import { systemClock } from './base/clock.js';
import { descriptorLimit, fittingTables } from './base/descriptors.js';
import { decodeIdentity, encodeIdentity, type Identity, newIdentity } from './base/identity.js';
import { PROTOCOL_VERSIONS } from './between/peer-protocol.js';
import { type Config, ConfigurationError, checkMemory, ExitCode, processMemory } from './config/index.js';
import { State } from './groups/state.js';
import type { StaticSite } from './listen/http/static-site.js';
import { Node } from './node.js';
import { refuseDiverged } from './operate/start/diverged.js';
import {
  demandPassword,
  type FirstStart,
  makeSecret,
  withStoredSecret,
} from './operate/start/first-start.js';
import { FOLDER_NAMES, isRecovering } from './operate/start/folder-names.js';
import { withMembers } from './operate/start/rejoining.js';
import { type RunningNode, StartError } from './operate/start/running-node.js';
import { setAside, staysAway } from './operate/start/set-aside.js';
import { withExitCode } from './operate/start/start-errors.js';
import { endAtStrayErrors } from './operate/stop/stray-errors.js';
import { RemovedError } from './peers/formation/formation.js';
import type { VersionRange } from './peers/greeting-format.js';
import { countLine } from './telemetry/engine-metrics.js';
import { createLogger, type Logger } from './telemetry/logger.js';
import { Metrics } from './telemetry/metrics.js';

const MiB = 1024 * 1024;

/** Time for a process that was killed to let the folder go, in milliseconds. */
const FOLDER_WAIT_MS = 3000;

/** The options of a start besides the configuration. */
export interface StartOptions {
  /** The version of Althing, for status pages and the log. */
  readonly version: string;
  /**
   * Versions of the protocol between nodes, for tests of upgrades; default: those that this software speaks.
   */
  readonly protocolVersions?: VersionRange;
  /**
   * The highest level of a cluster that the node knows, for tests of upgrades; default: that of this
   * software.
   */
  readonly level?: number;
  /** The beginning of a node that holds nothing; default: as the settings say. */
  readonly first?: FirstStart;
  /** Gives the start up while it waits for other nodes. */
  readonly signal?: AbortSignal;
  /** Files that the API serves to browsers; default: none. */
  readonly site?: StaticSite;
}

export type StartNode = (config: Config, options: StartOptions) => Promise<RunningNode>;

/**
 * Starts a node in this process. It serves from when the promise is fulfilled.
 *
 * @throws StartError, ConfigurationError and others with an `exitCode`
 */
export async function startNode(config: Config, options: StartOptions): Promise<RunningNode> {
  const { problems } = checkMemory(config, processMemory());
  if (problems.length > 0) throw new ConfigurationError(problems);
  try {
    return await startOnce(config, options);
  } catch (error) {
    if (!(error instanceof RemovedError) || !config.rejoinWhenRemoved) throw withExitCode(error);
    await beginAnew(config, error);
  }
  try {
    return await startOnce(config, options);
  } catch (error) {
    throw withExitCode(error);
  }
}

async function startOnce(config: Config, options: StartOptions): Promise<RunningNode> {
  if (isRecovering(config.storagePath)) {
    throw new StartError(
      `the recovery of ${config.storagePath} did not come to its end: run "althing recover" again`,
      ExitCode.DataDamaged,
    );
  }
  refuseDiverged(config.storagePath);
  const folder = await openFolder(config.storagePath, {
    reserveBytes: config.diskReserveMb * MiB,
    inUseWaitMs: FOLDER_WAIT_MS,
    alsoAllowed: FOLDER_NAMES,
    level: {
      openFilesMax: fittingTables(descriptorLimit()),
      writeBufferBytes: fittingBuffer(config.diskReserveMb * MiB),
    },
  });
  return startInFolder(withMembers(config), options, folder);
}

/**
 * The memory table of LevelDB, in bytes. Its logs hold two of them at most, and more when the disk is full
 * while it writes one to a table; opening it again turns all that into tables, for which the reserve must do.
 */
function fittingBuffer(reserveBytes: number): number {
  const largest = 8 * MiB;
  return reserveBytes === 0 ? largest : Math.min(largest, Math.max(MiB, Math.floor(reserveBytes / 8)));
}

/** Makes the folder of a node that was removed that of a new one. */
async function beginAnew(config: Config, removed: RemovedError): Promise<void> {
  const why = staysAway(config, Date.now());
  if (why !== null) throw new StartError(`${removed.message} (${why})`, removed.exitCode);
  demandPassword(config);
  const kept = await setAside(config.storagePath, removed.nodeId, Date.now());
  createLogger({ level: config.logLevel, format: config.logFormat, nodeName: config.nodeName }).warn(
    { event: 'set_aside', path: kept },
    `this node was removed from its cluster, and asks to join as a new member; its former data are in ${kept}: delete that folder when nobody needs it`,
  );
}

async function startInFolder(
  settings: Config,
  {
    version,
    first,
    protocolVersions = PROTOCOL_VERSIONS,
    level = LEVEL_NEWEST,
    signal = new AbortController().signal,
    site,
  }: StartOptions,
  folder: DataFolder,
): Promise<RunningNode> {
  let state: State | null = null;
  let release = (): void => {};
  try {
    if (first?.kind === 'init') makeSecret(settings);
    const config = withStoredSecret(settings);
    state = await openState(folder);
    const identity = await openIdentity(state.store, config);
    const metrics = new Metrics();
    const log = createLogger({
      level: config.logLevel,
      format: config.logFormat,
      nodeName: config.nodeName,
      onLine: (level) => countLine(metrics, level),
      onDrop: () => metrics.add('logDropped'),
    });
    for (const warning of checkMemory(config, processMemory()).warnings)
      log.warn({ event: 'memory' }, warning);
    warnOfOthers(config.storagePath, log);
    release = endAtStrayErrors(log, (code) => process.exit(code));
    const node = await Node.start({
      config,
      version,
      protocolVersions,
      level,
      oneTimeSecret: first?.kind === 'wait' ? first.secret : null,
      log,
      metrics,
      folder,
      state,
      identity,
      signal,
      site: site ?? null,
    });
    void node.closed.then(release);
    return node;
  } catch (error) {
    release();
    await state?.close().catch(() => {});
    await folder.close().catch(() => {});
    throw error;
  }
}

/**
 * Warns when other users of the machine have permissions on the data folder: it holds all data, and hashes of
 * passwords.
 */
function warnOfOthers(path: string, log: Logger): void {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o007) === 0) return;
  const octal = mode.toString(8).padStart(4, '0');
  log.warn(
    { event: 'folder_permissions', path, mode: octal },
    `other users of this machine have permissions on the data folder ${path} (${octal}): run "chmod 0700 ${path}"`,
  );
}

/** Opens the state. What a crash left to be finished may need room: on a full disk that of the reserve. */
async function openState(folder: DataFolder): Promise<State> {
  const disk = folder.stateDisk;
  const { now } = systemClock;
  const reopen = async (): Promise<StateStore> => {
    const store = await folder.reopenStateStore();
    try {
      return await StateStore.open({ store, disk, now });
    } catch (error) {
      await store.close();
      throw error;
    }
  };
  try {
    return new State(await StateStore.open({ store: folder.stateStore, disk, now }), reopen);
  } catch (error) {
    if (!(error instanceof DiskFullError) || !folder.hasReserve) throw error;
    await folder.releaseReserve();
    await folder.stateStore.close();
    return new State(await reopen(), reopen);
  }
}

/** The identity in the folder, made on the first start. */
async function openIdentity(states: StateStore, config: Config): Promise<Identity> {
  const stored = states.identity();
  if (stored !== undefined) return decodeIdentity(stored);
  demandPassword(config);
  const identity = newIdentity();
  await states.setIdentity(encodeIdentity(identity));
  return identity;
}
