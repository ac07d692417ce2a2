/** A container of a service: a process with the image's environment, an address and a host name of its own. */
import { appendFileSync, closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Launched, type LaunchOptions, until, within } from '@althing/node/testing';
import { probe } from '../harness/probe.js';
import type { Service } from './compose.js';
import type { Machine } from './machine.js';

/** Folders of a container, and where they are here. */
export type Mounts = Readonly<Record<string, string>>;

export interface ContainerOptions {
  readonly machine: Machine;
  readonly service: Service;
  readonly hostname: string;
  readonly mounts: Mounts;
  /** Settings on top of the service's. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Called when the process ends though nobody ended it. */
  readonly onEnd: (container: Container, how: string) => void;
}

const READY_MS = 90_000;
/** Timers hold no more; longer than any rehearsal. */
const GRACE_MAX_MS = 2 ** 31 - 1;
/** Docker waits a tenth of a second before it starts again what has ended, and twice as long each further time. */
const RESTART_MS = 100;
const RESTART_MAX_MS = 5000;
/** A container that ran that long is restarted without back-off. */
const RESTART_RESET_MS = 10_000;
const API_PORT = 9210;
const STATUS_PORT = 9230;

export class Container {
  readonly name: string;
  readonly address: string;
  /** The ends of the process, each time that nobody had ended it. */
  readonly ends: string[] = [];
  private process: Launched | null = null;
  private ended: Promise<string> = Promise.resolve('');
  private isWanted = false;
  private startedAt = 0;
  /** Starts in a row that came to nothing. */
  private failures = 0;

  /** Made, with an address of its own, and not started. */
  constructor(private readonly options: ContainerOptions) {
    this.name = options.hostname;
    this.address = options.machine.addressFor(options.hostname);
  }

  /** The id of its process; 0 while there is none. */
  get pid(): number {
    return this.process?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.process !== null;
  }

  /** True if it is one of several of its service. */
  get isScaled(): boolean {
    return this.options.service.hostname === null;
  }

  /** The name by which the cluster knows it. */
  get memberName(): string {
    return this.options.machine.hasNames ? this.name : this.address;
  }

  get endpoint(): { readonly host: string; readonly port: number } {
    return { host: this.address, port: API_PORT };
  }

  start(): void {
    this.isWanted = true;
    if (this.isRunning) return;
    this.startedAt = performance.now();
    const { service, machine, hostname, mounts, environment, logFile } = this.options;
    machine.attach([hostname, service.name], this.address);
    const log = openSync(logFile, 'a');
    const launched = launch(machine, hostname, here([...service.entrypoint, ...service.command], mounts), {
      environment: {
        ...settingsOf(service, machine, mounts),
        // All interfaces of a container are this one address here.
        SERVICE_BIND_CLIENT_ADDR: this.address,
        // A container's own address is no loopback, where names are looked at.
        SERVICE_HTTP_ALLOWED_HOSTS: '*',
        SERVICE_BIND_NODE_ADDR: this.address,
        ...(machine.hasNames ? {} : { SERVICE_NODE_NAME: this.address }),
        ...environment,
      },
      output: log,
    });
    closeSync(log);
    this.process = launched;
    this.ended = launched.ended.then(({ text: how }) => {
      this.process = null;
      machine.detach(this.address);
      if (this.isWanted) void this.again(how);
      return how;
    });
  }

  /** `docker stop`; gives how the process ended. */
  async stop(): Promise<string> {
    this.isWanted = false;
    const { stopSignal, stopGraceMs } = this.options.service;
    this.process?.signal(stopSignal as NodeJS.Signals);
    const graceMs = Math.min(stopGraceMs, GRACE_MAX_MS);
    try {
      return await within(this.ended, `the end of ${this.name} after ${stopSignal}`, graceMs);
    } catch (error) {
      await this.destroy();
      throw error;
    }
  }

  /** The process is killed, not the container: the restart policy starts it again. */
  async crash(): Promise<void> {
    this.process?.signal('SIGKILL');
    await this.ended;
  }

  /** `docker kill`: it stays down. */
  async destroy(): Promise<void> {
    this.isWanted = false;
    this.process?.signal('SIGKILL');
    await this.ended;
  }

  /** Waits until Docker takes it for healthy: until the first health check that finds it ready. */
  async whenHealthy(): Promise<void> {
    const { healthIntervalMs } = this.options.service;
    for (let check = 1; ; check++) {
      await pause(this.startedAt + check * healthIntervalMs - performance.now());
      if ((await this.probe('/ready')) === 200) return;
      if (performance.now() > this.startedAt + READY_MS) throw new Error(`${this.name} does not get healthy`);
    }
  }

  async clusterId(): Promise<string> {
    const answer = await fetch(`http://${this.address}:${STATUS_PORT}/status`);
    const { cluster_id } = (await answer.json()) as { readonly cluster_id: string };
    return cluster_id;
  }

  /** Waits until it is ready. */
  async whenReady(): Promise<void> {
    await until(async () => (await this.probe('/ready')) === 200, `${this.name} is ready`, READY_MS);
  }

  /** The status of a path of the status port; 0 when nobody answers. */
  async probe(path: string): Promise<number> {
    return (await probe(this.address, STATUS_PORT, path)).status;
  }

  private async again(how: string): Promise<void> {
    const { logFile, onEnd, service } = this.options;
    appendFileSync(logFile, `-- ended with ${how}\n`);
    this.ends.push(how);
    onEnd(this, how);
    if (performance.now() - this.startedAt >= RESTART_RESET_MS) this.failures = 0;
    await pause(Math.min(RESTART_MS * 2 ** this.failures, RESTART_MAX_MS));
    this.failures += 1;
    if (this.isWanted && service.restarts) this.start();
  }
}

/** Runs a service once, with other arguments than its own if there are some, as `docker compose run --rm` does; gives what it printed, and its exit code. */
export async function runOnce(
  machine: Machine,
  service: Service,
  args: readonly string[],
  mounts: Mounts,
  path: string,
): Promise<{ readonly how: string; readonly output: string }> {
  const command = here([...service.entrypoint, ...(args.length > 0 ? args : service.command)], mounts);
  const launched = launch(machine, service.name, command, {
    environment: { ...settingsOf(service, machine, mounts), PATH: `${path}:${process.env.PATH ?? ''}` },
  });
  const { text: how } = await launched.ended;
  return { how, output: launched.output };
}

/** Runs a command as in a container of that name. */
function launch(
  machine: Machine,
  hostname: string,
  command: readonly string[],
  options: LaunchOptions,
): Launched {
  return new Launched([...machine.prefix(hostname), ...command], options);
}

function settingsOf(service: Service, machine: Machine, mounts: Mounts): Record<string, string> {
  const entries = Object.entries(service.environment);
  return Object.fromEntries(entries.map(([key, value]) => [key, mapped(machine.spelled(value), mounts)]));
}

/** A command of the image as it is run here: without tini, which is for a process that would be the first of all. */
function here(command: readonly string[], mounts: Mounts): string[] {
  const isTini = /(?:^|\/)tini$/.test(command[0] ?? '') && command[1] === '--';
  const [program = '', ...args] = (isTini ? command.slice(2) : command).map((word) => mapped(word, mounts));
  return [program === 'node' ? process.execPath : program, ...args];
}

function mapped(text: string, mounts: Mounts): string {
  const folders = Object.keys(mounts).join('|');
  return text.replace(
    new RegExp(`(?<![\\w.-])(${folders})(?![\\w-])`, 'g'),
    (folder) => mounts[folder] ?? folder,
  );
}
