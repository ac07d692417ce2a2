import { ErrorCode, type User } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import type { Reply } from '../groups/request.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import { outcome } from '../testing/mini-node.js';
import { Float64, type Packable, packed, unpacked } from '../testing/msgpack.js';
import { decodeEmit, decodeRooms } from './bodies.js';
import { type Listener, Push } from './listener.js';

const KINDS = new Map<number, string>(Object.entries(Push).map(([kind, type]) => [type, kind]));

/** A connection of a test: it notes what it is sent, as `EMIT 2 hello [1]`. */
class Connection implements Listener {
  readonly sent: string[] = [];
  userId: number;

  constructor(
    private readonly cluster: MiniCluster,
    private readonly node: number,
    readonly id = 1,
    user = 'admin',
  ) {
    this.userId = this.user(user).id;
  }

  push(type: Push, body: Uint8Array): void {
    const { scope, id, event, args } = unpacked(body) as Record<string, Packable>;
    const name = String(scope).replace('@collection:', '');
    const rest = event === undefined ? '' : ` ${event} ${JSON.stringify(args)}`;
    this.sent.push(`${KINDS.get(type)} ${name}:${id}${rest}`);
  }

  gap(scope: string): void {
    this.sent.push(`gap ${scope}`);
    this.rooms.end(this);
  }

  get rooms() {
    return this.cluster.node(this.node).rooms;
  }

  /** The messages since the last call. */
  take(): string[] {
    return this.sent.splice(0);
  }

  join(...rooms: Packable[]): Promise<unknown> {
    return this.ask('join', ['@:stuff', ...rooms]);
  }

  leave(...rooms: Packable[]): Promise<unknown> {
    return this.ask('leave', ['@:stuff', ...rooms]);
  }

  /** The answer joins what was sent, so that the order can be seen. */
  async ask(what: 'join' | 'leave', body: readonly Packable[], scope = 'stuff'): Promise<unknown> {
    const { rooms } = decodeRooms(packed(body));
    let answer: unknown;
    const request = { scope: scopeOf(scope), user: this.present, listener: this, rooms, client: STAYS };
    this.rooms[what](request, (reply) => {
      answer = answerOf(reply);
      this.sent.push(`answer ${JSON.stringify(answer)}`);
    });
    await this.cluster.pass(100);
    return answer;
  }

  async emit(body: readonly Packable[], toPeers = false): Promise<unknown> {
    const { room, event, args } = decodeEmit(packed(body));
    let answer: unknown;
    const except = toPeers ? this : null;
    const request = { scope: scopeOf('stuff'), user: this.present, room, event, args, except, client: STAYS };
    this.rooms.emit({ ...request, listener: this }, (reply) => {
      answer = reply.ok ? 'ok' : reply.error.code;
      this.sent.push(`answer ${answer}`);
    });
    await this.cluster.pass(100);
    return answer;
  }

  private get present(): User {
    const user = this.cluster.node(this.node).engine.root.users.get(this.userId);
    if (user === undefined) throw new Error('the user is gone');
    return user;
  }

  private user(name: string): User {
    const user = this.cluster.node(this.node).engine.root.usersByName.get(name);
    if (user === undefined) throw new Error(`there is no user ${name}`);
    return user;
  }
}

const STAYS = { gone: false };

function scopeOf(name: string) {
  return name === '/t' ? ({ kind: 'thingsdb' } as const) : ({ kind: 'collection', name } as const);
}

function answerOf(reply: Reply): unknown {
  return reply.ok ? unpacked(reply.result as Uint8Array) : reply.error.code;
}

async function run(cluster: MiniCluster, node: number, code: string, scope = 'stuff', user = 'admin') {
  const reply = cluster.node(node).query(scope, code, { user });
  await cluster.pass(100);
  return outcome(await reply);
}

async function withUser(cluster: MiniCluster, name: string, mask: string): Promise<void> {
  await run(
    cluster,
    1,
    `new_user('${name}'); set_password('${name}', 'x'); grant('//stuff', '${name}', ${mask});`,
    '/t',
  );
}

describe.each([
  ['a node that is alone', 1, 1],
  ['the leader of three', 3, 1],
  ['a follower', 3, 2],
])('a connection to %s', (_, nodes, node) => {
  test('joins rooms, hears what is told there in order, and leaves them', async () => {
    const cluster = await MiniCluster.begin(nodes);
    await run(cluster, node, ".r = room(); .s = room(); .s.set_name('hall');");
    const one = new Connection(cluster, node);
    expect(await one.join(2, 'hall', 999, 'no such', -1, 'hall')).toEqual([2, 3, null, null, null, 3]);
    expect(one.take()).toEqual(['answer [2,3,null,null,null,3]', 'JOIN stuff:2', 'JOIN stuff:3']);
    expect(await one.join(3)).toEqual([3]);
    expect(one.take()).toEqual(['answer [3]']);
    expect(await run(cluster, node, ".s.emit('a', 1); .r.emit('b', {x: []}); .s.emit('c'); .x = 1;")).toBe(1);
    expect(one.take()).toEqual(['EMIT stuff:3 a [1]', 'EMIT stuff:2 b [{"x":[]}]', 'EMIT stuff:3 c []']);
    // The second time it is known beforehand that the query takes the leader.
    for (let time = 0; time < 2; time++) {
      expect(await run(cluster, node, ".s.emit('again'); change_id();")).toBe(null);
      expect(one.take()).toEqual(['EMIT stuff:3 again []']);
    }
    expect(await one.leave('hall', 2, 5)).toEqual([3, 2, null]);
    expect(one.take()).toEqual(['LEAVE stuff:3', 'LEAVE stuff:2', 'answer [3,2,null]']);
    expect(await one.leave(2)).toEqual([2]);
    await run(cluster, node, ".s.emit('unheard');");
    expect(one.take()).toEqual(['answer [2]']);
    expect(one.rooms.figures).toMatchObject({
      listeners: 0,
      memberships: 0,
      pushed: { emit: 5, join: 2, leave: 2 },
    });
  });

  test('tells others of events, with or without itself', async () => {
    const cluster = await MiniCluster.begin(nodes);
    await run(cluster, node, ".r = room(); .r.set_name('hall');");
    const all = cluster.nodes.map(({ id }) => new Connection(cluster, id));
    const other = new Connection(cluster, node, 2);
    for (const connection of [...all, other]) await connection.join('hall');
    for (const connection of [...all, other]) connection.take();
    const own = all[node - 1] as Connection;
    expect(await own.emit(['@:stuff', 'hall', 'hello', 1, { a: [1] }, null])).toBe('ok');
    expect(await own.emit(['@:stuff', 2, ''], true)).toBe('ok');
    const hello = 'EMIT stuff:2 hello [1,{"a":[1]},null]';
    expect(own.take()).toEqual([hello, 'answer ok', 'answer ok']);
    for (const connection of [...all, other]) {
      if (connection !== own) expect(connection.take()).toEqual([hello, 'EMIT stuff:2  []']);
    }
    const bad: [Packable[], number][] = [
      [['@:stuff', 2], ErrorCode.BAD_DATA],
      [['@:stuff', 2, 5], ErrorCode.BAD_DATA],
      [['@:stuff', -2, 'x'], ErrorCode.BAD_DATA],
      [['@:stuff', null, 'x'], ErrorCode.BAD_DATA],
      [['@:stuff', 99, 'x'], ErrorCode.LOOKUP],
      [['@:stuff', 2n ** 53n, 'x'], ErrorCode.LOOKUP],
      [['@:stuff', 'nobody', 'x'], ErrorCode.LOOKUP],
      [['@:stuff', 'a b', 'x'], ErrorCode.VALUE],
      [['@:stuff', 2, 'x', 'y'.repeat(4_200_000)], ErrorCode.MAX_QUOTA],
    ];
    for (const [body, code] of bad) expect(await own.emit(body)).toBe(code);
    expect(other.take()).toEqual([]);
  });

  test('hears of rooms that go, and of collections', async () => {
    const cluster = await MiniCluster.begin(nodes);
    await run(cluster, node, '.r = room(); .s = {r: room()}; .s.s = .s;');
    const one = new Connection(cluster, node);
    await one.join(2, 4);
    one.take();
    await run(cluster, node, ".r.emit('last'); .del('r');");
    expect(one.take()).toEqual(['EMIT stuff:2 last []', 'DELETE stuff:2']);
    await run(cluster, node, "rename_collection('stuff', 'goods');", '/t');
    await run(cluster, node, ".s.r.emit('renamed');", 'goods');
    await run(cluster, node, "del_collection('goods');", '/t');
    expect(one.take()).toEqual(['EMIT goods:4 renamed []', 'DELETE goods:4']);
    expect(one.rooms.listeners).toBe(0);
  });

  test('joins nothing with what is refused, and is out at once without the privilege', async () => {
    const cluster = await MiniCluster.begin(nodes);
    await run(cluster, node, ".r = room(); .r.set_name('hall'); .s = room(); .s.set_name('cellar');");
    await withUser(cluster, 'iris', 'QUERY');
    const iris = new Connection(cluster, node, 7, 'iris');
    expect(await iris.join(2)).toBe(ErrorCode.FORBIDDEN);
    await run(cluster, 1, "grant('//stuff', 'iris', JOIN); whitelist_add('iris', 'rooms', 'hall');", '/t');
    expect(await iris.join('hall', new Float64(1.5))).toBe(ErrorCode.BAD_DATA);
    expect(await iris.ask('join', ['/t', 2], '/t')).toBe(ErrorCode.BAD_DATA);
    expect(await iris.ask('join', ['@:nothing', 2], 'nothing')).toBe(ErrorCode.FORBIDDEN);
    expect(await iris.join('cellar')).toBe(ErrorCode.FORBIDDEN);
    expect(await iris.join('cellar', 'hall')).toEqual([null, 2]);
    expect(await iris.join('nowhere')).toEqual([null]);
    expect(iris.take().filter((text) => text.startsWith('JOIN'))).toEqual(['JOIN stuff:2']);
    for (const room of ['cellar', 'nowhere', 999]) {
      expect(await iris.emit(['@:stuff', room, 'x'])).toBe(ErrorCode.FORBIDDEN);
      expect(await iris.emit(['@:stuff', room, 'x'], true)).toBe(ErrorCode.FORBIDDEN);
    }
    expect(await iris.emit(['@:stuff', 'hall', 'x'])).toBe('ok');
    iris.take();
    await run(cluster, node, ".r.emit('heard');");
    await run(cluster, 1, "revoke('//stuff', 'iris', JOIN);", '/t');
    await run(cluster, node, ".r.emit('secret');");
    expect(iris.take()).toEqual(['EMIT stuff:2 heard []', 'LEAVE stuff:2']);
    expect(iris.rooms.figures).toMatchObject({ listeners: 0, ended: { revoked: 1, gap: 0 } });
    await run(cluster, 1, "grant('//stuff', 'iris', JOIN);", '/t');
    await iris.join('hall');
    await run(cluster, 1, "del_user('iris');", '/t');
    iris.take();
    await run(cluster, node, ".r.emit('secret');");
    expect(iris.take()).toEqual([]);
  });

  test('hears nothing of what was taken back, or is not committed', async () => {
    const cluster = await MiniCluster.begin(nodes);
    await run(cluster, node, '.r = room();');
    const one = new Connection(cluster, node);
    await one.join(2);
    one.take();
    await run(cluster, node, ".r.emit('never'); 1/0;");
    await run(cluster, node, "future(|| .r.emit('never either').bad);");
    cluster.commits = false;
    const asked = cluster.node(node).query('stuff', ".r.emit('later');");
    await cluster.pass(10);
    expect(one.take()).toEqual([]);
    cluster.commits = true;
    await cluster.pass(10);
    expect(outcome(await asked)).toBe(null);
    expect(one.take()).toEqual(['EMIT stuff:2 later []']);
    await run(
      cluster,
      node,
      ".r.emit('one'); future(|| .r.emit('two')); future(|| {.r.emit('three'); wse(.y = 1);});",
    );
    expect(one.take()).toEqual(['EMIT stuff:2 one []', 'EMIT stuff:2 three []', 'EMIT stuff:2 two []']);
  });
});

test('an event of a leader that is deposed comes once or never, and to all the same', async () => {
  const cluster = await MiniCluster.begin(3);
  await run(cluster, 1, '.r = room();');
  const all = cluster.nodes.map(({ id }) => new Connection(cluster, id));
  for (const connection of all) await connection.join(2);
  for (const connection of all) connection.take();
  cluster.commits = false;
  const kept = cluster.node(1).query('stuff', ".y = 1; .r.emit('kept');");
  const lost = cluster.node(1).query('stuff', ".x = 1; .r.emit('lost'); .del('r');");
  await cluster.pass(0);
  cluster.log(cluster.stuff).lead(2, 1);
  cluster.commits = true;
  await cluster.pass(100);
  await Promise.all([kept, lost]);
  const heard = all.map((connection) => connection.take());
  expect(heard[1]).toEqual(heard[0]);
  expect(heard[2]).toEqual(heard[0]);
  // A lost request is carried out again, by the new leader, since it has a name.
  expect(heard[0]).toEqual(['EMIT stuff:2 kept []', 'EMIT stuff:2 lost []', 'DELETE stuff:2']);
});

test('an answer from another node waits for the events of its change', async () => {
  const cluster = await MiniCluster.begin(3);
  await run(cluster, 1, '.r = room();');
  const one = new Connection(cluster, 2);
  await one.join(2);
  one.take();
  cluster.node(2).lags = true;
  const answer = one.emit(['@:stuff', 2, 'x']);
  await cluster.pass(200);
  expect(one.sent).toEqual([]);
  cluster.node(2).catchUp();
  await answer;
  await cluster.settle();
  expect(one.take()).toEqual(['EMIT stuff:2 x []', 'answer ok']);
});

test('a client that missed events is told so', async () => {
  const cluster = await MiniCluster.begin(1);
  await run(cluster, 1, '.r = room();');
  const one = new Connection(cluster, 1);
  await one.join(2);
  one.take();
  one.rooms.replaced(cluster.stuff);
  expect(one.take()).toEqual(['gap @collection:stuff']);
  expect(one.rooms.figures).toMatchObject({ listeners: 0, ended: { revoked: 0, gap: 1 } });
});

test('a connection has a limit of rooms, also of those that are not there', async () => {
  const cluster = await MiniCluster.begin(1);
  await run(cluster, 1, '.l = range(10001).map(|| room());');
  const one = new Connection(cluster, 1);
  const unknown = Array.from({ length: 10_000 }, (_, i) => 100_000 + i);
  expect(await one.join(...unknown)).toEqual(unknown.map(() => null));
  const ids = Array.from({ length: 10_000 }, (_, i) => 2 + i);
  expect(await one.join(...ids)).toEqual(ids);
  expect(await one.join(10_002)).toBe(ErrorCode.MAX_QUOTA);
  expect(one.rooms.figures.memberships).toBe(10_000);
  expect(() => decodeRooms(packed(['@:stuff', ...unknown, 1]))).toThrow('10000 rooms at most');
  for (const bad of [null, [], [1], { a: 1 }]) {
    expect(() => decodeRooms(packed(bad))).toThrow('array that begins with a scope');
  }
  expect(() => decodeRooms(new Uint8Array())).toThrow('array that begins with a scope');
  one.rooms.end(one);
  expect(one.rooms.figures).toMatchObject({ listeners: 0, memberships: 0 });
  expect(await one.join(2)).toEqual([2]);
  expect(one.rooms.listeners).toBe(0);
});
