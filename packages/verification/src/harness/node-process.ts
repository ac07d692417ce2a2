/**
 * A real node in a process of its own, started through the command line, with storage that is thrown away.
 */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode } from '@althing/node/parts';
import { freePorts, Launched, SERVE, variablesOf, within } from '@althing/node/testing';
import { probe } from './probe.js';

export interface NodeProcessOptions {
  /** Settings by key, on top of ports, storage and a quiet log. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Folder in which the node's folder is made; default: that of temporary files. */
  readonly storage?: string;
  /** The command to run, as program and arguments, `serve` and the like included; default: `althing serve` of this project. */
  readonly command?: readonly [program: string, ...args: string[]] | undefined;
  /** The prefix of its environment variables; default: `SERVICE`. */
  readonly variables?: 'SERVICE' | 'THINGSDB';
  /** Ports and folder that it must have, as a member of a cluster or as a node that comes again; default: free and new ones. */
  readonly place?: NodePlace;
}

/** Where a node is. */
export interface NodePlace {
  readonly apiPort: number;
  readonly statusPort: number;
  readonly nodePort: number;
  /** The data are in `data` below it. */
  readonly folder: string;
}

/** Milliseconds that a node may take to become ready. */
const startTimeoutMs = 60_000;
/** Milliseconds that a node may take to stop when asked. */
const stopTimeoutMs = 50_000;
/** Characters of a node's output that are kept. */
const outputMax = 20_000;

/** A started node. */
export class NodeProcess {
  readonly port: number;
  readonly url: string;
  readonly statusPort: number;
  readonly folder: string;
  readonly pid: number;
  /** Settles when the process has ended: its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly #process: Launched;

  private constructor(launched: Launched, { apiPort, statusPort, folder }: NodePlace) {
    this.#process = launched;
    this.pid = launched.pid;
    this.port = apiPort;
    this.url = `http://127.0.0.1:${apiPort}`;
    this.statusPort = statusPort;
    this.folder = folder;
    this.ended = launched.ended.then(({ code, signal }) => code ?? signal ?? 1);
  }

  /**
   * Starts a node and waits until it is ready.
   *
   * @throws {Error} with the node's last words when it does not get ready
   */
  static async start(options: NodeProcessOptions = {}): Promise<NodeProcess> {
    for (let attempt = 1; ; attempt++) {
      const node = await NodeProcess.#spawn(options);
      const problem = await node.#waitUntilReady();
      if (problem === undefined) return node;
      if (options.place === undefined) await node.discard();
      else await node.kill();
      // A port that was free a moment ago may be taken by now.
      const isTaken = problem === ExitCode.Fatal && node.output.includes('the port is in use');
      if (!isTaken || attempt === 3 || options.place !== undefined)
        throw new Error(`the node did not get ready (${problem}): ${node.output.trim()}`);
    }
  }

  /** The end of what the node printed. */
  get output(): string {
    return this.#process.output;
  }

  get isRunning(): boolean {
    return this.#process.isRunning;
  }

  /** Ends the node at once; its data stay. */
  async kill(): Promise<void> {
    await this.#process.kill();
  }

  /** Ends the node at once and removes its data. */
  async discard(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Stops the node as an operator would, and removes its data; gives its exit code, or why it has none. */
  async stop(): Promise<number | string> {
    this.#process.signal('SIGTERM');
    const result = await within(this.ended, 'the end of the node', stopTimeoutMs).catch((error) =>
      String(error),
    );
    await this.discard();
    return result;
  }

  static async #spawn(options: NodeProcessOptions): Promise<NodeProcess> {
    const place = options.place ?? (await newPlace(options.storage));
    const settings = settingsOf(place, options.settings);
    const launched = new Launched(options.command ?? SERVE, {
      environment: { ...inheritedEnvironment(), ...variablesOf(settings, options.variables) },
      output: { keptMax: outputMax },
    });
    if (launched.pid === 0) {
      rmSync(place.folder, { recursive: true, force: true });
      throw new Error(`the node can't be started: ${(await launched.ended).text}`);
    }
    return new NodeProcess(launched, place);
  }

  /** Waits for `/ready`; gives how the process ended, or what took too long, when it does not come. */
  async #waitUntilReady(): Promise<number | string | undefined> {
    const deadline = performance.now() + startTimeoutMs;
    while (performance.now() < deadline) {
      if (!this.isRunning) return this.ended;
      if ((await probe('127.0.0.1', this.statusPort, '/ready')).status === 200) return undefined;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return `not ready after ${startTimeoutMs} ms`;
  }
}

/** The settings of a node in its place, by key. */
export function settingsOf(
  { apiPort, statusPort, nodePort, folder }: NodePlace,
  settings: NodeProcessOptions['settings'],
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
export async function newPlace(storage = tmpdir()): Promise<NodePlace> {
  const [apiPort = 0, statusPort = 0, nodePort = 0] = await freePorts(3);
  return { apiPort, statusPort, nodePort, folder: mkdtempSync(join(storage, 'althing-node-')) };
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
