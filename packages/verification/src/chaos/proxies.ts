/**
 * A network for machines without namespaces: every node is reached through a proxy, which tells the dialers apart by the
 * name that they give in their greeting. What a cut link is sent is held; when the link heals, its connection ends.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePorts } from '@althing/node/testing';
import type { Cut, Deadened, Network, NetworkPlace } from './network.js';

/** In how many bytes at the beginning of a connection the name of the dialer is looked for. */
const GREETING_BYTES_MAX = 8192;

interface Link {
  /** Place of the dialer; null until it is known. */
  from: number | null;
  readonly to: number;
  readonly sockets: readonly [dialer: Socket, node: Socket];
  isHeld: boolean;
}

export class Proxies implements Network {
  readonly title = 'proxies between the nodes';
  readonly canLose = false;
  readonly canDelay = true;
  readonly canDamage = true;
  private readonly servers: Server[] = [];
  private readonly links = new Set<Link>();
  private readonly cuts = new Set<string>();
  private delayMs = 0;
  private damagedPerMille = 0;

  /** Nodes are at 127.0.1.1 and so on, and their proxies at 127.0.0.1 and so on. */
  static async open(nodes: number): Promise<Proxies> {
    const ports = await freePorts(4 * nodes);
    const proxies = new Proxies(
      Array.from({ length: nodes }, (_, at) => ({
        name: `127.0.0.${at + 1}`,
        bindNodeAddress: `127.0.1.${at + 1}`,
        bindClientAddress: '127.0.0.1',
        apiHost: '127.0.0.1',
        apiPort: ports[4 * at] ?? 0,
        clientPort: ports[4 * at + 3] ?? 0,
        statusPort: ports[4 * at + 1] ?? 0,
        nodePort: ports[4 * at + 2] ?? 0,
        prefix: [],
      })),
    );
    await Promise.all(proxies.places.map((place, at) => proxies.listen(place, at)));
    return proxies;
  }

  private constructor(readonly places: readonly NetworkPlace[]) {}

  cut(cuts: readonly Cut[]): void {
    for (const cut of cuts) this.cuts.add(cut.join());
    for (const link of this.links) this.hold(link);
  }

  lose(): void {
    throw new Error('packets can not be lost here');
  }

  delay(ms: number): void {
    this.delayMs = ms;
  }

  damage(perMille: number): void {
    this.damagedPerMille = perMille;
  }

  deaden(links: readonly Cut[]): Deadened {
    const dead = [...this.links].filter(({ from, to }) =>
      links.some((link) => link.join() === `${from},${to}`),
    );
    for (const link of dead) this.halt(link);
    return { remaining: () => dead.filter((link) => this.links.has(link)).length };
  }

  heal(): void {
    this.cuts.clear();
    this.delayMs = 0;
    this.damagedPerMille = 0;
    for (const link of this.links) if (link.isHeld) this.end(link);
  }

  async close(): Promise<void> {
    for (const link of this.links) this.end(link);
    await Promise.all(this.servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  private async listen({ name, nodePort, bindNodeAddress }: NetworkPlace, to: number): Promise<void> {
    const server = createServer({ noDelay: true }, (dialer) => {
      const node = connect({ host: bindNodeAddress, port: nodePort, noDelay: true });
      const link: Link = { from: null, to, sockets: [dialer, node], isHeld: false };
      this.links.add(link);
      let greeting = '';
      dialer.on('data', (data) => {
        if (link.from === null && greeting.length < GREETING_BYTES_MAX) {
          greeting += data.toString('latin1');
          const found = /127\.0\.0\.(\d+)/.exec(greeting)?.[1];
          if (found !== undefined) {
            link.from = Number(found) - 1;
            this.hold(link);
          }
        }
        this.pass(link, node, data);
      });
      node.on('data', (data) => this.pass(link, dialer, data));
      for (const socket of link.sockets) {
        socket.on('error', () => this.end(link));
        socket.on('close', () => this.end(link));
      }
    });
    this.servers.push(server);
    server.listen(nodePort, name);
    await once(server, 'listening');
  }

  /** Stops a link whose direction is cut. What the node answers there goes the other way, and is lost with it. */
  private hold(link: Link): void {
    const { from, to } = link;
    if (from !== null && this.cuts.has(`${from},${to}`)) this.halt(link);
  }

  private halt(link: Link): void {
    link.isHeld = true;
    for (const socket of link.sockets) socket.pause();
  }

  private pass(link: Link, socket: Socket, data: Buffer): void {
    const passed = this.maybeDamaged(data);
    const send = (): void => {
      if (!link.isHeld && socket.writable) socket.write(passed);
    };
    // Timers of the same length keep their order, and what came before a delay began is long gone when it ends.
    if (this.delayMs === 0) send();
    else setTimeout(send, this.delayMs);
  }

  private maybeDamaged(data: Buffer): Buffer {
    if (Math.random() * 1000 >= this.damagedPerMille) return data;
    const bit = Math.floor(Math.random() * data.length * 8);
    const flipped = Buffer.from(data);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    return flipped;
  }

  private end(link: Link): void {
    this.links.delete(link);
    for (const socket of link.sockets) socket.destroy();
  }
}
