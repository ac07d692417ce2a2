/**
 * The page of figures, as the consensus thread makes it: what both threads count, and what it finds out now.
 */
import { statfs } from 'node:fs/promises';
import { backgroundClock, pause } from '../base/clock.js';
import type { GroupSize } from '../between/protocol.js';
import type { Metrics } from '../telemetry/metrics.js';
import { label, Page } from '../telemetry/page.js';
import { addProcess } from '../telemetry/process-figures.js';
import { type GroupFigures, type GroupNow, SEPARATE_MAX } from './group-figures.js';

/** Another member. */
export interface PeerFigures {
  readonly name: string;
  readonly isUp: boolean;
  /** Bytes of frames. */
  readonly sent: number;
  readonly received: number;
  /** Null when none was measured. */
  readonly roundTripMs: number | null;
}

export interface PageOptions {
  readonly metrics: Metrics;
  readonly figures: GroupFigures;
  readonly version: string;
  readonly nodeName: string;
  /** Procedures that have series of their own. */
  readonly procedures: readonly string[];
  /** Wall clock in milliseconds. */
  readonly startedAt: number;
  /** A folder on the disk whose room is told. */
  readonly folder: string;
  readonly groups: () => readonly GroupNow[];
  readonly sizes: () => readonly GroupSize[];
  readonly peers: () => readonly PeerFigures[];
  readonly logBytes: () => number;
  readonly isReady: () => boolean;
}

export async function metricsPage(options: PageOptions): Promise<string> {
  const { metrics, figures, version, nodeName, startedAt } = options;
  const page = new Page();
  const info = [label('version', version), label('node', nodeName), label('node_version', process.version)];
  page.family({ name: 'althing_info', type: 'gauge', help: 'Always 1' }, [[info.join(','), 1]]);
  page.single('gauge', 'althing_ready', '1 while /ready answers 200', Number(options.isReady()));
  page.addMetrics(metrics, options.procedures);
  figures.addTo(page, options.groups());
  addSizes(page, options.sizes());
  addPeers(page, options.peers());
  page.single('gauge', 'althing_log_bytes', 'Size of the log on disk', options.logBytes());
  await addDisk(page, options.folder);
  addProcess(page, startedAt);
  return page.text;
}

function addSizes(page: Page, sizes: readonly GroupSize[]): void {
  const told = [...sizes].sort((a, b) => a.group - b.group).slice(0, SEPARATE_MAX);
  page.family(
    { name: 'althing_state_bytes', type: 'gauge', help: 'Bytes of a group on disk, about' },
    told.map(({ group, diskBytes }) => [label('group', String(group)), diskBytes]),
  );
  page.family(
    { name: 'althing_state_memory_bytes', type: 'gauge', help: 'Memory of loaded things of a collection' },
    told.map(({ group, memoryBytes }) => [label('group', String(group)), memoryBytes]),
  );
}

function addPeers(page: Page, peers: readonly PeerFigures[]): void {
  page.family(
    { name: 'althing_peer_connected', type: 'gauge', help: '1 while connected' },
    peers.map(({ name, isUp }) => [label('peer', name), Number(isUp)]),
  );
  page.family(
    { name: 'althing_peer_round_trip_seconds', type: 'gauge', help: 'The last measured round trip' },
    peers.flatMap(({ name, roundTripMs }) =>
      roundTripMs === null ? [] : [[label('peer', name), roundTripMs / 1000] as const],
    ),
  );
  page.family(
    { name: 'althing_peer_bytes_total', type: 'counter', help: 'Bytes to and from other nodes' },
    peers.flatMap(({ name, sent, received }) => [
      [`${label('peer', name)},${label('direction', 'sent')}`, sent] as const,
      [`${label('peer', name)},${label('direction', 'received')}`, received] as const,
    ]),
  );
}

/**
 * Time for a disk to tell its room, in milliseconds: the page is wanted most of all when it does not
 * answer.
 */
const DISK_MS = 50;

/** A file system that does not tell its room is left out. */
async function addDisk(page: Page, folder: string): Promise<void> {
  const late = pause(backgroundClock, DISK_MS).then(() => null);
  const disk = await Promise.race([statfs(folder).catch(() => null), late]);
  if (disk === null) return;
  const { bavail, blocks, bsize } = disk;
  page.single('gauge', 'althing_disk_free_bytes', 'Free space where the data lies', bavail * bsize);
  page.single('gauge', 'althing_disk_size_bytes', 'Size of the disk where the data lies', blocks * bsize);
}
