/** Calls and rooms over the native protocol, at servers that do what no node does. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  AuthErr,
  type ConnectOptions,
  connect,
  type Database,
  encodeMessagePack,
  encodePackage,
  OutcomeUnknownError,
  type Package,
  PackageDecoder,
  PackageType,
  ProtocolError,
  type RoomEvent,
  type WireValue,
  wireMap,
} from '../index.js';

type Serving = (asked: Package, socket: Socket) => void;

const servers: { readonly server: Server; readonly sockets: Set<Socket> }[] = [];
const databases: Database<{ stuff: unknown }>[] = [];

/** A server that answers AUTH, and everything else as a test says. */
async function serving(serve: Serving, login: Serving = ok): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const decoder = new PackageDecoder();
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      for (const asked of decoder.push(bytes))
        (asked.type === PackageType.AUTH ? login : serve)(asked, socket);
    });
  });
  servers.push({ server, sockets });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function connected(nativePort: number, options: ConnectOptions = {}): Database<{ stuff: unknown }> {
  const common: ConnectOptions = {
    token: 'token',
    transport: 'tcp',
    rooms: 'tcp',
    timeoutMs: 2_000,
    limits: { answerBytes: 1000 },
  };
  const db = connect<{ stuff: unknown }>('http://127.0.0.1:1', { ...common, nativePort, ...options });
  databases.push(db);
  return db;
}

afterEach(async () => {
  await Promise.all(databases.splice(0).map((db) => db.$close()));
  for (const { server, sockets } of servers.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
});

function ok({ id }: Package, socket: Socket): void {
  socket.write(encodePackage(PackageType.OK, id));
}

function value(of: WireValue): Serving {
  return ({ id }, socket) => void socket.write(encodePackage(PackageType.DATA, id, encodeMessagePack(of)));
}

function failure(code: number, outcome: string): Serving {
  const data = encodeMessagePack(wireMap({ error_code: BigInt(code), error_msg: 'why', outcome }));
  return ({ id }, socket) => void socket.write(encodePackage(PackageType.ERROR, id, data));
}

function raw(bytes: Uint8Array): Serving {
  return (_, socket) => void socket.write(bytes);
}

describe('calls over TCP', () => {
  test('are asked with their name and their time, and answered', async () => {
    let data: Uint8Array = new Uint8Array();
    const port = await serving((asked, socket) => {
      data = asked.data;
      value(3n)(asked, socket);
    });
    expect(await connected(port).stuff.query('x;', { x: 1 })).toBe(3);
    expect(Buffer.from(data).toString('latin1')).toMatch(
      /^\x94\xa7@:stuff\xa2x;\x81\xa1x\x01\x82.*timeout_ms.*request.*\.1\.1$/s,
    );
  });

  test('a connection is taken for each of those at once, and no more', async () => {
    const port = await serving(value(1n));
    const db = connected(port, { timeoutMs: 5000, limits: { requests: 16 } });
    expect(await Promise.all(Array.from({ length: 200 }, () => db.stuff.query('1;')))).toEqual(
      new Array(200).fill(1),
    );
    expect(servers[0]?.sockets.size).toBeLessThanOrEqual(16);
  });

  test('wrong credentials fail at once', async () => {
    const port = await serving(value(1n), failure(-56, 'none'));
    await expect(connected(port).stuff.query('1;')).rejects.toBeInstanceOf(AuthErr);
  });

  test('an error of a node that can not do it now is tried again', async () => {
    let times = 0;
    const port = await serving((asked, socket) =>
      (++times < 3 ? failure(-51, 'none') : value(1n))(asked, socket),
    );
    expect(await connected(port, { timeoutMs: 5000 }).stuff.query('1;')).toBe(1);
  });

  test.each<[string, Serving, new (...args: never[]) => Error]>([
    ['what is no package', raw(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')), OutcomeUnknownError],
    ['half a package', raw(Buffer.of(100, 0, 0, 0, 1)), OutcomeUnknownError],
    ['a package of 1 GB', raw(Buffer.of(0, 0, 0, 0x40, 1, 0, 18, 18 ^ 0xff)), OutcomeUnknownError],
    ['nothing', () => {}, OutcomeUnknownError],
    ['the end of the connection', (_, socket) => void socket.end(), OutcomeUnknownError],
    [
      'wrong MessagePack',
      ({ id }, socket) => void socket.write(encodePackage(PackageType.DATA, id, Buffer.of(0x92, 1))),
      ProtocolError,
    ],
    [
      'a type that answers nothing of this',
      ({ id }, socket) => void socket.write(encodePackage(PackageType.PONG, id)),
      ProtocolError,
    ],
    [
      'an error that is none',
      ({ id }, socket) => void socket.write(encodePackage(PackageType.ERROR, id, Buffer.of(1))),
      ProtocolError,
    ],
  ])('%s in place of an answer', async (_, serve, Class) => {
    const port = await serving(serve);
    await expect(connected(port).stuff.query('1;')).rejects.toBeInstanceOf(Class);
  });

  test('answers to what was never asked are passed over', async () => {
    const port = await serving((asked, socket) => {
      value(7n)({ ...asked, id: 4000 }, socket);
      value(1n)(asked, socket);
    });
    expect(await connected(port).stuff.query('1;')).toBe(1);
  });
});

describe('rooms at servers that are none', () => {
  const joined: Serving = value([5n]);
  const event = (type: number, fields: Readonly<Record<string, WireValue>>): Uint8Array =>
    encodePackage(type, 0xffff, encodeMessagePack(wireMap(fields)));

  test('events of other rooms, other collections and other forms are passed over', async () => {
    const port = await serving((asked, socket) => {
      joined(asked, socket);
      const scope = '@collection:stuff';
      socket.write(event(PackageType.ROOM_EMIT, { scope, id: 6n, event: 'other', args: [] }));
      socket.write(
        event(PackageType.ROOM_EMIT, { scope: '@collection:else', id: 5n, event: 'else', args: [] }),
      );
      socket.write(event(PackageType.ROOM_EMIT, { scope }));
      socket.write(encodePackage(3, 0xffff, encodeMessagePack([1n])));
      socket.write(event(PackageType.ROOM_EMIT, { scope, id: 5n, event: '__proto__', args: [1n] }));
    });
    const events = connected(port).stuff.room('lobby').events();
    expect([(await events.next()).value, (await events.next()).value]).toEqual([
      { kind: 'joined', room: 5 },
      { kind: 'emit', event: '__proto__', args: [1] },
    ] satisfies RoomEvent[]);
  });

  test('an event that is no MessagePack ends the connection, and a gap says so', async () => {
    let times = 0;
    const port = await serving((asked, socket) => {
      joined(asked, socket);
      if (++times === 1) socket.write(encodePackage(PackageType.ROOM_EMIT, 0xffff, Buffer.of(0xc1)));
    });
    const events = connected(port).stuff.room(5).events();
    expect([(await events.next()).value, (await events.next()).value]).toEqual([
      { kind: 'joined', room: 5 },
      { kind: 'gap' },
    ]);
  });

  test('a server that never answers is given up in time', async () => {
    const events = connected(await serving(() => {}))
      .stuff.room('lobby')
      .events({ signal: AbortSignal.timeout(100) });
    await expect(events.next()).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('a server that never answers is told in time', async () => {
    const events = connected(await serving(() => {}), { timeoutMs: 100 })
      .stuff.room('lobby')
      .events();
    await expect(events.next()).rejects.toMatchObject({ name: 'ConnectionError' });
  });

  test('nobody there is told in time', async () => {
    const port = await serving(() => {});
    await new Promise((resolve) => servers[0]?.server.close(resolve));
    servers.length = 0;
    await expect(
      connected(port, { timeoutMs: 100 }).stuff.room('lobby').events().next(),
    ).rejects.toMatchObject({ name: 'ConnectionError' });
  });
});
