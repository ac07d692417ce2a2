/**
 * A network of Linux network namespaces: each node is a host of its own, all of them on a bridge in one more namespace, in
 * which this process runs. Rules of nftables on the bridge lose packets. Nothing of the machine's own network is touched.
 */
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { endianness } from 'node:os';
import type { Cut, Deadened, Network, NetworkPlace } from './network.js';

const TABLE = 'table bridge chaos { chain links { type filter hook forward priority 0; policy accept; }; }';
const CHAIN = 'bridge chaos links';
const NODE_PORT = 9220;
const NAME = /^althing-chaos-(\d+)-/;

/** Why there can be no such network here; null when there can. */
export function namespacesProblem(): string | null {
  if (process.platform !== 'linux') return 'only Linux has network namespaces';
  if (process.getuid?.() !== 0) return 'only root can make network namespaces';
  try {
    run('ip', ['-Version']);
    run('nft', ['--version']);
    // In a namespace that ends with the command: whether the kernel knows all that is needed.
    run('unshare', ['--net', 'sh', '-c', `ip link add br0 type bridge && nft '${TABLE}'`]);
    return null;
  } catch (error) {
    const { message } = error as Error;
    return `it takes the packages iproute2 and nftables (${message.split('\n').slice(0, 2).join(': ')})`;
  }
}

/** Makes the namespaces, runs a command of Node.js in that of the bridge, and removes them. Gives its exit code. */
export async function runInside(nodes: number, args: readonly string[]): Promise<number> {
  removeOld();
  const prefix = `althing-chaos-${process.pid}-`;
  try {
    build(prefix, nodes);
    const command = ['--mount', 'ip', 'netns', 'exec', `${prefix}switch`, process.execPath, ...args, prefix];
    const child = spawn('unshare', command, { stdio: 'inherit' });
    // At a terminal the signal reaches the child too, which then ends everything in order.
    const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
    process.on('SIGTERM', forward);
    process.on('SIGINT', () => {});
    return await new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code) => resolve(code ?? 1));
    });
  } finally {
    remove(prefix);
  }
}

export class Namespaces implements Network {
  readonly title = 'network namespaces';
  readonly places: readonly NetworkPlace[];
  readonly canLose = true;
  readonly canDelay = false;
  readonly canDamage = false;

  constructor(prefix: string, nodes: number) {
    this.places = Array.from({ length: nodes }, (_, at) => ({
      name: addressOf(at),
      bindNodeAddress: addressOf(at),
      bindClientAddress: addressOf(at),
      apiHost: addressOf(at),
      apiPort: 9210,
      clientPort: 9200,
      statusPort: 9230,
      nodePort: NODE_PORT,
      prefix: ['ip', 'netns', 'exec', `${prefix}${at}`],
    }));
    run('nft', [TABLE]);
  }

  cut(cuts: readonly Cut[]): void {
    for (const [from, to] of cuts) {
      run('nft', [`add rule ${CHAIN} iifname port${from} oifname port${to} drop`]);
    }
  }

  lose(percent: number): void {
    run('nft', [`add rule ${CHAIN} numgen random mod 100 < ${percent} drop`]);
  }

  delay(): void {
    throw new Error('packets can not be delayed here');
  }

  damage(): void {
    throw new Error('packets can not be damaged here');
  }

  deaden(links: readonly Cut[]): Deadened {
    const ends = links.flatMap(([from, to]) => this.dialled(from, to).map((port) => ({ from, to, port })));
    for (const { from, to, port } of ends) {
      const [dialler, dialled] = [addressOf(from), addressOf(to)];
      run('nft', [
        `add rule ${CHAIN} ip saddr ${dialler} ip daddr ${dialled} tcp sport ${port} tcp dport ${NODE_PORT} drop; ` +
          `add rule ${CHAIN} ip saddr ${dialled} ip daddr ${dialler} tcp sport ${NODE_PORT} tcp dport ${port} drop`,
      ]);
    }
    return {
      remaining: () =>
        ends.filter(
          ({ from, to, port }) =>
            this.dialled(from, to).includes(port) || this.accepted(from, to).includes(port),
        ).length,
    };
  }

  heal(): void {
    run('nft', [`flush chain ${CHAIN}`]);
  }

  close(): Promise<void> {
    this.heal();
    return Promise.resolve();
  }

  /** The ports of a node from which it has dialled another one. */
  private dialled(from: number, to: number): number[] {
    return this.connections(from)
      .filter(([, remote]) => remote.address === addressOf(to) && remote.port === NODE_PORT)
      .map(([local]) => local.port);
  }

  /** The ports of a node on connections that another one has accepted. */
  private accepted(from: number, to: number): number[] {
    return this.connections(to)
      .filter(([local, remote]) => remote.address === addressOf(from) && local.port === NODE_PORT)
      .map(([, remote]) => remote.port);
  }

  /** The connections of a host that stand, by their ends; see proc_net_tcp of the kernel. */
  private connections(place: number): (readonly [local: End, remote: End])[] {
    const [program = '', ...prefix] = this.places[place]?.prefix ?? [];
    const table = execFileSync(program, [...prefix, 'cat', '/proc/net/tcp'], { encoding: 'latin1' });
    return table
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === ESTABLISHED)
      .map(([, local = '', remote = '']) => [endOf(local), endOf(remote)] as const);
  }
}

interface End {
  readonly address: string;
  readonly port: number;
}

const ESTABLISHED = '01';

/** As in `0100630A:1F90`: the bytes of an address in the order of the machine, and a port. */
function endOf(text: string): End {
  const bytes = [...Buffer.from(text.slice(0, 8), 'hex')];
  if (endianness() === 'LE') bytes.reverse();
  return { address: bytes.join('.'), port: Number.parseInt(text.slice(9), 16) };
}

function addressOf(at: number): string {
  return `10.99.0.${at + 1}`;
}

function build(prefix: string, nodes: number): void {
  const home = `${prefix}switch`;
  run('ip', ['netns', 'add', home]);
  const inside = (...args: string[]): void => run('ip', ['netns', 'exec', home, 'ip', ...args]);
  inside('link', 'add', 'br0', 'type', 'bridge');
  inside('link', 'set', 'br0', 'up');
  inside('link', 'set', 'lo', 'up');
  inside('addr', 'add', '10.99.0.254/24', 'dev', 'br0');
  for (let at = 0; at < nodes; at++) {
    const host = `${prefix}${at}`;
    run('ip', ['netns', 'add', host]);
    const there = (...args: string[]): void => run('ip', ['netns', 'exec', host, 'ip', ...args]);
    inside('link', 'add', `port${at}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', host);
    there('addr', 'add', `${addressOf(at)}/24`, 'dev', 'eth0');
    there('link', 'set', 'eth0', 'up');
    there('link', 'set', 'lo', 'up');
    inside('link', 'set', `port${at}`, 'master', 'br0', 'up');
  }
}

function remove(prefix: string): void {
  for (const name of namespaces()) if (name.startsWith(prefix)) run('ip', ['netns', 'delete', name]);
}

/** Removes what runs left that were killed. */
function removeOld(): void {
  for (const name of namespaces()) {
    const pid = Number(NAME.exec(name)?.[1]);
    if (Number.isInteger(pid) && !isAlive(pid)) run('ip', ['netns', 'delete', name]);
  }
}

function namespaces(): string[] {
  try {
    return readdirSync('/run/netns');
  } catch {
    // There never was one.
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: 'pipe' });
}
