/** A node of a chaos run: the process, its data, its clock. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SettingKey } from '@althing/node';
import { Launched, SERVE, until, variablesOf, within } from '@althing/node/testing';
import { SmallDisk } from '../durability/small-disk.js';
import { type Probed, probe } from '../harness/probe.js';
import { LogReader } from './log-reader.js';
import type { NetworkPlace } from './network.js';
import type { Endpoint } from './requests.js';

const READY_MS = 60_000;
const STOP_MS = 60_000;
const DISK_MB = 256;

export interface ChaosNodeOptions {
  readonly at: number;
  readonly place: NetworkPlace;
  /** The folder of its log, and of its data unless they are on a disk of their own. */
  readonly folder: string;
  /** True if its data are on a small disk of their own, which can be filled. */
  readonly ownDisk: boolean;
  readonly settings: Partial<Record<SettingKey, string | number>>;
  readonly environment: Readonly<Record<string, string>>;
  /** Called when the process ends though nobody ended it. */
  readonly onEnd: (node: ChaosNode, how: string) => void;
}

export class ChaosNode {
  readonly at: number;
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly statusEndpoint: Endpoint;
  readonly socketEndpoint: Endpoint;
  /** When it was asked to end and ended in order, on the clock of `performance.now()`. */
  readonly drains: { readonly begin: number; readonly end: number }[] = [];
  readonly disk: SmallDisk | null;
  readonly logReader: LogReader;
  private process: Launched | null = null;
  private ended: Promise<string> = Promise.resolve('');
  /** True if its end is wanted. */
  private isEnding = false;
  isPaused = false;
  /** True if its disk, or a part of it, had no room at some time of the run. */
  diskWasFull = false;

  constructor(private readonly options: ChaosNodeOptions) {
    const { at, place, folder, ownDisk } = options;
    this.at = at;
    this.name = `node ${at + 1}`;
    this.endpoint = { host: place.apiHost, port: place.apiPort };
    this.statusEndpoint = { host: place.apiHost, port: place.statusPort };
    this.socketEndpoint = { host: place.apiHost, port: place.clientPort };
    this.disk = ownDisk ? SmallDisk.mount(DISK_MB) : null;
    this.logReader = new LogReader(join(folder, `node${at + 1}.log`));
    mkdirSync(this.data, { recursive: true });
  }

  get isRunning(): boolean {
    return this.process !== null;
  }

  /** True if it can answer. */
  get isUp(): boolean {
    return this.isRunning && !this.isPaused;
  }

  get log(): string {
    return this.logReader.text;
  }

  /** @param filesMax how many files it may have open, if not as many as this process */
  start(filesMax?: number): void {
    if (this.isRunning) return;
    const { place, settings, environment } = this.options;
    const all: Partial<Record<SettingKey, string | number>> = {
      node_name: place.name,
      bind_node_addr: place.bindNodeAddress,
      bind_client_addr: place.bindClientAddress,
      listen_node_port: place.nodePort,
      http_api_port: place.apiPort,
      http_status_port: place.statusPort,
      listen_client_port: place.clientPort,
      storage_path: join(this.data, 'data'),
      ...settings,
    };
    const limit = filesMax === undefined ? [] : ['sh', '-c', 'ulimit -n "$0" && exec "$@"', `${filesMax}`];
    const launched = new Launched([...place.prefix, ...limit, ...SERVE], {
      environment: { ...environment, ...variablesOf(all) },
      output: this.logReader.input,
    });
    this.process = launched;
    this.isEnding = false;
    this.ended = launched.ended.then(({ text }) => {
      this.process = null;
      this.isPaused = false;
      if (!this.isEnding) this.options.onEnd(this, text);
      return text;
    });
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    this.isEnding = true;
    this.process?.signal('SIGKILL');
    await this.ended;
  }

  /** Asks it to end, as an operator does; gives how it did. */
  async stop(): Promise<string> {
    this.isEnding = true;
    const begin = performance.now();
    this.process?.signal('SIGTERM');
    try {
      const how = await within(this.ended, `the end of ${this.name}`, STOP_MS);
      if (how === 'code 0') this.drains.push({ begin, end: performance.now() });
      return how;
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  /** Waits until it has ended by itself, as one does that was removed; gives how. */
  async endsByItself(timeoutMs: number): Promise<string> {
    this.isEnding = true;
    return within(this.ended, `the end of ${this.name}`, timeoutMs);
  }

  pause(): void {
    if (this.process?.signal('SIGSTOP')) this.isPaused = true;
  }

  resume(): void {
    this.process?.signal('SIGCONT');
    this.isPaused = false;
  }

  /** Loses all its data. It must not run. */
  wipe(): void {
    rmSync(join(this.data, 'data'), { recursive: true, force: true });
  }

  /** Removes what is not in the folder of the run. */
  clear(): void {
    this.disk?.unmount();
    this.logReader.close();
  }

  /** Resident memory of the process in MB, where the system tells. */
  get memoryMb(): number | null {
    const file = `/proc/${this.process?.pid}/status`;
    if (!existsSync(file)) return null;
    const status = readFileSync(file, 'utf8');
    return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024);
  }

  async whenReady(): Promise<void> {
    await until(async () => (await this.probe('/ready')).status === 200, `${this.name} is ready`, READY_MS);
  }

  /** Asks the status port. */
  probe(path: string): Promise<Probed> {
    const { host, port } = this.statusEndpoint;
    return probe(host, port, path);
  }

  private get data(): string {
    return this.disk?.folder ?? join(this.options.folder, `node${this.at + 1}`);
  }
}
