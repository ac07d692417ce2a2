import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { encodeMessagePack, encodePackage, PackageDecoder, PackageType } from '@althing/client';
import { FREE_PORT, RealNode, until } from '@althing/node/testing';
import { expect, test } from '@jest/globals';
import type { Operation } from '../simulation/history.js';
import { Draw } from '../simulation/random.js';
import { READ_ALL, SET_UP } from '../simulation/workload.js';
import { check } from './check.js';
import { SocketClients, type SocketPlace } from './socket-clients.js';

/** The record of a run, and clients that take part in it. */
class Run {
  readonly operations: Operation[] = [];
  readonly findings: string[] = [];
  readonly clients: SocketClients;
  private id = 0;

  constructor(places: readonly SocketPlace[], token: () => string) {
    this.clients = new SocketClients({
      places,
      token,
      collection: () => 'stuff',
      nextId: () => this.id++,
      recorder: {
        operations: this.operations,
        operation: (operation) => this.operations.push(operation),
        finding: (text) => this.findings.push(text),
      },
      draw: new Draw(1, 'sockets'),
    });
  }
}

test('clients of a node that is well find nothing wrong, and notice what is missing in the end', async () => {
  const node = await RealNode.start({ listen_client_port: FREE_PORT, drain_delay_ms: 0 });
  const endpoint = { host: '127.0.0.1', port: node.nativePort };
  const api = { host: '127.0.0.1', port: node.port };
  const place: SocketPlace = {
    name: 'node',
    isUp: true,
    endpoint: api,
    socketEndpoint: endpoint,
    drains: [],
  };
  const run = new Run([place], () => node.authorization.replace(/^Bearer /, ''));
  try {
    await node.value('//stuff', SET_UP);
    run.clients.start(3);
    await until(() => run.operations.length > 80, 'there was enough to do');
    await run.clients.rest();
    const data = await node.value('//stuff', READ_ALL);
    const final = { collection: 'stuff', node: 'node', data, rest: '' };
    await run.clients.check([final]);
    expect(run.findings).toEqual([]);
    const { clients } = run;
    expect(Number(/heard (\d+)$/.exec(clients.summary)?.[1])).toBeGreaterThan(20);
    const seen = { run: { seed: 1, nodes: 1, network: '', version: '' }, faults: [], findings: [] };
    const tasks = run.operations.filter(({ action }) => action.kind !== 'task');
    expect(check({ ...seen, operations: tasks, finals: [final] }).problems.join()).not.toMatch(
      /list|counter|bank/,
    );
    const [lists, counter, ...others] = data as [unknown, number, ...unknown[]];
    await clients.check([{ ...final, data: [lists, counter + 1, ...others] }], 0);
    expect(run.findings.join()).toContain(
      `heard ${counter} last in @collection:stuff, which counts ${counter + 1}`,
    );
  } finally {
    await run.clients.stop();
    await node.stop();
  }
});

test.each([true, false])('a node that is stopped has to tell its sessions: %s', async (tells) => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    const decoder = new PackageDecoder();
    socket.on('data', (bytes) => {
      for (const { type, id } of decoder.push(bytes)) {
        const value = type === PackageType.JOIN ? [null] : null;
        socket.write(encodePackage(PackageType.DATA, id, encodeMessagePack(value)));
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const drains: { begin: number; end: number }[] = [];
  let isUp = true;
  const place: SocketPlace = {
    name: 'node',
    get isUp() {
      return isUp;
    },
    // Nobody is there: its client goes on to the other one.
    endpoint: { host: '127.0.0.1', port: 1 },
    socketEndpoint: { host: '127.0.0.1', port },
    drains,
  };
  const run = new Run([place], () => 'token');
  try {
    run.clients.start(1);
    await until(() => run.operations.length > 3, 'it is served');
    isUp = false;
    const open = sockets.filter(({ destroyed }) => !destroyed).length;
    const begin = performance.now();
    const status = encodeMessagePack(new Map([['status', 'SHUTTING_DOWN']]));
    for (const socket of sockets) {
      if (tells) socket.write(encodePackage(PackageType.NODE_STATUS, 0xffff, status));
      socket.end();
    }
    await until(() => run.clients.open === 0, 'the sessions have ended');
    drains.push({ begin, end: performance.now() });
    await run.clients.rest();
    await run.clients.check([]);
    const untold = run.findings.filter((text) => text.includes('was not told so'));
    expect(untold).toHaveLength(tells ? 0 : open);
  } finally {
    await run.clients.stop();
    server.close();
  }
});
