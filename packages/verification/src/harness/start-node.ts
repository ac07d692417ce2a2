/**
 * A real node in a process of its own, started through the command line, with storage that is thrown away.
 */
import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  freePorts,
  Launched,
  type NodePlace,
  RealCluster,
  RealNode,
  SERVE,
  type TestSettings,
  variablesOf,
} from '@althing/node/testing';

export interface NodeOptions {
  /** Settings by key, on top of ports, storage and a quiet log. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Folder in which the node's folder is made; default: that of temporary files. */
  readonly storage?: string;
  /** The command to run, as program and arguments, `serve` and the like included; default: `althing serve` of this project. */
  readonly command?: readonly [program: string, ...args: string[]] | undefined;
  /** Ports and folder that it must have, as a member of a cluster or as a node that comes again; default: free and new ones. */
  readonly place?: MemberPlace;
}

/** Where a member of a cluster is. */
export interface MemberPlace extends NodePlace {
  readonly nodePort: number;
}

/** Characters of a node's output that are kept. */
const outputMax = 20_000;

/**
 * Starts a node and waits until it is ready.
 *
 * @throws {Error} with the node's last words when it does not get ready
 */
export function startNode(options: NodeOptions = {}): Promise<RealNode> {
  return RealNode.whenLaunched(async () => {
    const place = options.place ?? (await newPlace(options.storage));
    return launch(place, settingsOf(place, options.settings), options);
  }, options.place === undefined);
}

/** Starts nodes that form a cluster, with as few settings of tests as may be, and waits until all of them serve. */
export function startCluster(
  count: number,
  options: Pick<NodeOptions, 'storage' | 'command'> = {},
): Promise<RealCluster> {
  return RealCluster.start(
    count,
    { listen_client_port: 0, log_level: 'warning' },
    async (settings, former) => {
      const folder = former ?? newFolder(options.storage);
      const [apiPort, statusPort] = [Number(settings.http_api_port), Number(settings.http_status_port)];
      const all = { ...settings, storage_path: join(folder, 'data') };
      return launch({ apiPort, statusPort, folder }, all, options);
    },
  );
}

function launch(place: NodePlace, settings: TestSettings, options: NodeOptions): RealNode {
  const launched = new Launched(options.command ?? SERVE, {
    environment: { ...inheritedEnvironment(), ...variablesOf(settings) },
    output: { keptMax: outputMax },
  });
  return new RealNode(launched, place);
}

/** The settings of a node in its place, by key. */
export function settingsOf(
  { apiPort, statusPort, nodePort, folder }: MemberPlace,
  settings: NodeOptions['settings'],
): Record<string, string> {
  return {
    http_api_port: String(apiPort),
    http_status_port: String(statusPort),
    listen_node_port: String(nodePort),
    listen_client_port: '0',
    storage_path: join(folder, 'data'),
    log_level: 'warning',
    ...settings,
  };
}

/** Free ports and a new folder in a folder, by default that of temporary files. */
export async function newPlace(storage?: string): Promise<MemberPlace> {
  const [apiPort = 0, statusPort = 0, nodePort = 0] = await freePorts(3);
  return { apiPort, statusPort, nodePort, folder: newFolder(storage) };
}

function newFolder(storage = tmpdir()): string {
  return mkdtempSync(join(storage, 'althing-node-'));
}

/** A folder in memory when there is one with room, for tests that need no disk. */
export function memoryFolder(bytesNeeded: number): string | undefined {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize >= bytesNeeded ? '/dev/shm' : undefined;
  } catch {
    // No such file system here.
    return undefined;
  }
}

/** The settings of a small node for tests: little space on the disk. */
export const smallNode: Readonly<Record<string, string>> = {
  log_segment_mb: '4',
  disk_reserve_mb: '1',
  cache_size_mb: '64',
};

function inheritedEnvironment(): Record<string, string | undefined> {
  const entries = Object.entries(process.env);
  return Object.fromEntries(entries.filter(([name]) => !/^(SERVICE|THINGSDB)_/.test(name)));
}
