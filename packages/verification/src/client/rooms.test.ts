/** Rooms of the client library at a real node, over both ways that events can travel. */

import {
  AbortError,
  type ConnectOptions,
  connect,
  type Database,
  ForbiddenErr,
  LookupErr,
  type RoomEvent,
} from '@althing/client';
import { FREE_PORT, RealNode, until } from '@althing/node/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { CutProxy } from '../harness/cut-proxy.js';

let node: RealNode;
let proxies: { readonly http: CutProxy; readonly native: CutProxy };
let admin: Database<{ stuff: unknown }>;
const databases: Database<{ stuff: unknown }>[] = [];

beforeAll(async () => {
  node = await RealNode.start({ listen_client_port: FREE_PORT });
  proxies = { http: await CutProxy.start(node.port), native: await CutProxy.start(node.nativePort) };
  admin = connect(`http://127.0.0.1:${node.port}`, { token: node.token });
});

afterAll(async () => {
  await admin.$close();
  await Promise.all(Object.values(proxies).map((proxy) => proxy.stop()));
  await node.stop();
});

beforeEach(async () => {
  await admin.stuff.query("if (.has('room')) .del('room'); nil;");
  await admin.stuff.query(".room = room(); .room.set_name('lobby'); nil;");
});

afterEach(async () => {
  await Promise.all(databases.splice(0).map((db) => db.$close()));
});

function connected(options: ConnectOptions): Database<{ stuff: unknown }> {
  const url = `http://127.0.0.1:${proxies.http.port}`;
  const db = connect<{ stuff: unknown }>(url, {
    token: node.token,
    nativePort: proxies.native.port,
    ...options,
  });
  databases.push(db);
  return db;
}

async function next(events: AsyncIterator<RoomEvent, unknown>): Promise<RoomEvent> {
  const { done, value } = await events.next();
  if (done === true) throw new Error('the events have ended');
  return value as RoomEvent;
}

describe.each(['tcp', 'websocket'] as const)('over %s', (rooms) => {
  const cut = (): void => proxies[rooms === 'tcp' ? 'native' : 'http'].cut();

  test('events come in order, with their values', async () => {
    const lobby = connected({ rooms }).stuff.room('lobby');
    const events = lobby.events();
    expect(await next(events)).toEqual({ kind: 'joined', room: expect.any(Number) });
    for (let i = 0; i < 20; i++) await lobby.emit('count', i, { big: 2n ** 60n });
    for (let i = 0; i < 20; i++) {
      expect(await next(events)).toEqual({ kind: 'emit', event: 'count', args: [i, { big: 2n ** 60n }] });
    }
    await events.return?.();
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  test('behind a lost connection there is a gap first, and then events come again', async () => {
    const lobby = connected({ rooms }).stuff.room('lobby');
    const events = lobby.events();
    await next(events);
    cut();
    expect([await next(events), await next(events)]).toEqual([
      { kind: 'gap' },
      { kind: 'joined', room: expect.any(Number) },
    ]);
    await lobby.emit('after');
    expect(await next(events)).toMatchObject({ event: 'after' });
  });

  test('two iterations of one room share what comes; one that ends leaves the other', async () => {
    const lobby = connected({ rooms }).stuff.room('lobby');
    const [one, other] = [lobby.events(), lobby.events()];
    await Promise.all([next(one), next(other)]);
    await lobby.emit('first');
    expect([await next(one), await next(other)]).toMatchObject([{ event: 'first' }, { event: 'first' }]);
    await one.return?.();
    await lobby.emit('second');
    expect(await next(other)).toMatchObject({ event: 'second' });
  });

  test('rooms of two names, and by id, are told apart', async () => {
    await admin.stuff.query(".other = room(); .other.set_name('other'); nil;");
    const db = connected({ rooms });
    const id = await db.stuff.query<number>('.other.id();');
    const [lobby, other] = [db.stuff.room('lobby').events(), db.stuff.room(id).events()];
    expect([await next(lobby), await next(other)]).toMatchObject([
      { kind: 'joined' },
      { kind: 'joined', room: id },
    ]);
    await db.stuff.room('other').emit('here');
    await db.stuff.room('lobby').emit('there');
    expect([await next(lobby), await next(other)]).toMatchObject([{ event: 'there' }, { event: 'here' }]);
    await admin.stuff.query(".del('other');");
  });

  test('a room that goes is told, and ends the events', async () => {
    const events = connected({ rooms }).stuff.room('lobby').events();
    await next(events);
    await admin.stuff.query(".del('room');");
    expect(await next(events)).toEqual({ kind: 'deleted' });
    expect((await events.next()).done).toBe(true);
  });

  test('a room that is gone when the client comes back is told as deleted', async () => {
    const db = connected({ rooms });
    const events = db.stuff.room('lobby').events();
    await next(events);
    // Both in one change, so that the client learns of it when it joins again.
    cut();
    await admin.stuff.query(".del('room');");
    const rest: string[] = [];
    for await (const { kind } of events) rest.push(kind);
    expect(rest.at(-1)).toBe('deleted');
  });

  test('a room that is not there, and one that may not be joined', async () => {
    await expect(connected({ rooms }).stuff.room('none').events().next()).rejects.toBeInstanceOf(LookupErr);
    await admin.$root.query(
      "if (!has_user('eve')) { new_user('eve'); set_password('eve', 'eve-password'); }; nil;",
    );
    const eve = connected({ rooms, token: undefined, user: 'eve', password: 'eve-password' });
    await expect(eve.stuff.room('lobby').events().next()).rejects.toBeInstanceOf(ForbiddenErr);
  });

  test('a client that reads too slowly gets a gap in the place of what it missed', async () => {
    const lobby = connected({ rooms, limits: { events: 5 } }).stuff.room('lobby');
    const events = lobby.events();
    await next(events);
    for (let i = 0; i < 20; i++) await lobby.emit('count', i);
    await lobby.emit('last');
    const seen: RoomEvent[] = [];
    while (!seen.some((event) => event.kind === 'emit' && event.event === 'last'))
      seen.push(await next(events));
    // An event may have been handed over before the others came.
    expect(seen.slice(0, 2)).toContainEqual({ kind: 'gap' });
    expect(seen.length).toBeLessThanOrEqual(7);
  });

  test('a signal, and closing the client, end what waits', async () => {
    const db = connected({ rooms });
    const controller = new AbortController();
    const events = db.stuff.room('lobby').events({ signal: controller.signal });
    await next(events);
    const waiting = events.next();
    controller.abort('enough');
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError', cause: 'enough' });
    expect((await events.next()).done).toBe(true);
    const others = db.stuff.room('lobby').events();
    await next(others);
    const last = others.next();
    await db.$close();
    await expect(last).rejects.toBeInstanceOf(AbortError);
    await expect(db.stuff.room('lobby').events().next()).rejects.toBeInstanceOf(AbortError);
  });

  test('nothing is left when nobody listens any more', async () => {
    const proxy = proxies[rooms === 'tcp' ? 'native' : 'http'];
    await until(() => proxy.connections === 0, 'those of other tests are closed');
    const events = connected({ rooms }).stuff.room('lobby').events();
    await next(events);
    expect(proxy.connections).toBe(1);
    await events.return?.();
    await until(() => proxy.connections === 0, 'the connection is closed');
  });
});
