/**
 * The network of containers, without Docker: an address for each of them, on the loopback interface, so that all may
 * use the ports that they use in their containers; names for the addresses; and a host name for each process.
 *
 * With names, each process has a mount and a UTS namespace of its own, in which /etc/hosts is ours. Where that is not
 * possible, nodes are known by their addresses.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DeploymentError } from './compose.js';
import { NameServer } from './dns.js';

const HOSTS_BYTES = 8192;

/** Becomes what follows, with another /etc/hosts and host name. */
const ENTER = 'mount --bind "$1" /etc/hosts && echo "$2" >/proc/sys/kernel/hostname && shift 2 && exec "$@"';

export class Machine {
  /** The address of the balancer, and of the name server. */
  readonly front: string;
  /** The addresses of all that runs, by name of a host or of a service. */
  private readonly addresses = new Map<string, readonly string[]>();
  /** Addresses by host name, also of what does not run. */
  private readonly given = new Map<string, string>();
  private last = 1;

  private constructor(
    private readonly network: string,
    private readonly hostsFile: string,
    /** `unshare` with options; null: there are no names. */
    private readonly unshare: readonly string[] | null,
    readonly names: NameServer,
  ) {
    this.front = `${network}.1`;
    names.lookup = (name) => this.addresses.get(name) ?? [];
    this.attach(['lb'], this.front);
  }

  /** @throws {DeploymentError} where it can't be */
  static async open(folder: string): Promise<Machine> {
    if (process.platform !== 'linux')
      throw new DeploymentError(
        'only on Linux has each process an address of its own on the loopback interface',
      );
    // Processes that run at the same time have different numbers.
    const network = `127.${100 + ((process.pid >> 8) % 150)}.${process.pid % 256}`;
    const hostsFile = join(folder, 'hosts');
    writeFileSync(hostsFile, Buffer.alloc(HOSTS_BYTES, '\n'));
    const names = await NameServer.open(`${network}.1`);
    return new Machine(network, hostsFile, unshareFor(hostsFile), names);
  }

  get hasNames(): boolean {
    return this.unshare !== null;
  }

  /**
   * The address of a new container: one that nobody had before, as it may be with Docker; where there are no names, that of
   * the former container of its host name.
   */
  addressFor(hostname: string): string {
    const former = this.given.get(hostname);
    if (!this.hasNames && former !== undefined) return former;
    this.last += 1;
    if (this.last > 254) throw new DeploymentError('all addresses were used');
    const address = `${this.network}.${this.last}`;
    this.given.set(hostname, address);
    return address;
  }

  /** Names lead to an address from now on, besides those to which they lead already. */
  attach(names: readonly string[], address: string): void {
    for (const name of names) {
      const others = (this.addresses.get(name) ?? []).filter((each) => each !== address);
      this.addresses.set(name, [...others, address]);
    }
    this.writeHosts();
  }

  /** No name leads to an address any more. */
  detach(address: string): void {
    for (const [name, list] of this.addresses) {
      this.addresses.set(
        name,
        list.filter((each) => each !== address),
      );
    }
    this.writeHosts();
  }

  /** A text in which names of hosts are what they are called here: addresses, where there are no names. */
  spelled(text: string): string {
    if (this.hasNames) return text;
    return text.replace(/[\w-]+/g, (word) => this.given.get(word) ?? (word === 'lb' ? this.front : word));
  }

  /** The words before the command of a process. */
  prefix(hostname: string): string[] {
    if (this.unshare === null) return [];
    return [...this.unshare, 'sh', '-c', ENTER, 'sh', this.hostsFile, hostname];
  }

  close(): void {
    this.names.close();
  }

  private writeHosts(): void {
    const lines = [...this.addresses].flatMap(([each, list]) => list.map((address) => `${address} ${each}`));
    const text = ['127.0.0.1 localhost', ...lines].join('\n').padEnd(HOSTS_BYTES, '\n');
    // One write in place: the file is mounted, and is never seen half.
    const file = openSync(this.hostsFile, 'r+');
    writeSync(file, text, 0);
    closeSync(file);
  }
}

function unshareFor(hostsFile: string): readonly string[] | null {
  const base = ['unshare', '--mount', '--uts'];
  const candidates = [base, [...base, '--user', '--map-root-user']];
  const works = ([program = '', ...options]: readonly string[]): boolean =>
    spawnSync(program, [...options, 'sh', '-c', ENTER, 'sh', hostsFile, 'name', 'true']).status === 0;
  return candidates.find(works) ?? null;
}
