import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { until } from '@althing/node/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Proxies } from './proxies.js';

let proxies: Proxies;
let servers: Server[];
const sockets = new Set<Socket>();

/** Servers in the place of the nodes: they answer each message with `+` before it. */
beforeEach(async () => {
  proxies = await Proxies.open(3);
  servers = proxies.places.map(({ bindNodeAddress, nodePort }) => {
    const server = createServer((socket) => {
      keep(socket);
      socket.on('data', (data) => socket.write(`+${data.toString()}`));
    });
    return server.listen(nodePort, bindNodeAddress);
  });
  await Promise.all(servers.map((server) => server.listening || once(server, 'listening')));
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await proxies.close();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
});

function keep(socket: Socket): Socket {
  socket.on('error', () => {});
  sockets.add(socket);
  return socket;
}

interface Dialer {
  say(text: string): void;
  readonly heard: string;
  readonly isOpen: boolean;
}

/** A node that dials another one, and says its name. */
async function dial(from: number, to: number): Promise<Dialer> {
  const place = proxies.places[to];
  const socket = keep(connect({ host: place?.name ?? '', port: place?.nodePort ?? 0 }));
  await once(socket, 'connect');
  let heard = '';
  let isOpen = true;
  socket.on('data', (data) => {
    heard += data.toString();
  });
  socket.on('close', () => {
    isOpen = false;
  });
  const name = `(${proxies.places[from]?.name})`;
  socket.write(name);
  const dialer: Dialer = {
    say: (text) => socket.write(text),
    get heard() {
      return heard.replace(`+${name}`, '');
    },
    get isOpen() {
      return isOpen;
    },
  };
  await until(() => heard.includes(name), 'the greeting is answered');
  return dialer;
}

describe('proxies between nodes', () => {
  test('pass on what is said in both directions', async () => {
    const dialer = await dial(0, 1);
    dialer.say('hello');
    await until(() => dialer.heard === '+hello', 'the answer comes');
  });

  test('hold what goes over a cut link, and nothing else; when it heals, its connections end', async () => {
    const [cut, reverse, other] = [await dial(0, 1), await dial(1, 0), await dial(2, 1)];
    proxies.cut([[0, 1]]);
    for (const dialer of [cut, reverse, other]) dialer.say('x');
    await until(() => reverse.heard === '+x' && other.heard === '+x', 'the other links work');
    expect([cut.heard, cut.isOpen]).toEqual(['', true]);
    proxies.heal();
    await until(() => !cut.isOpen, 'the connection ends');
    expect([cut.heard, reverse.isOpen, other.isOpen]).toEqual(['', true, true]);
    const again = await dial(0, 1);
    again.say('y');
    await until(() => again.heard === '+y', 'a new connection works');
  });

  test('damage what is said, until they heal', async () => {
    const dialer = await dial(0, 1);
    proxies.damage(1000);
    dialer.say('0'.repeat(1000));
    await until(() => dialer.heard.length > 1000, 'the answer comes');
    expect(dialer.heard).not.toBe(`+${'0'.repeat(1000)}`);
    expect([...dialer.heard].filter((char) => char === '0').length).toBeGreaterThan(990);
    proxies.heal();
    dialer.say('1'.repeat(1000));
    await until(() => dialer.heard.endsWith(`+${'1'.repeat(1000)}`), 'the next answer is whole');
  });

  test('delay everything, in order', async () => {
    const dialer = await dial(0, 1);
    proxies.delay(30);
    const start = performance.now();
    for (const text of ['a', 'b', 'c']) dialer.say(text);
    await until(() => dialer.heard.endsWith('c'), 'all is there');
    expect(dialer.heard.replaceAll('+', '')).toBe('abc');
    expect(performance.now() - start).toBeGreaterThanOrEqual(55);
  });
});
