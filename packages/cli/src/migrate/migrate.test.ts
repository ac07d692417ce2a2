/** A ThingsDB, stored and running, that moves into a real node. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  connect,
  decodeMessagePack,
  encodeMessagePack,
  encodePackage,
  isWireList,
  PackageDecoder,
  PackageType,
  type WireValue,
  wireMap,
} from '@althing/client';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { main } from '../program.js';
import { type OwnNode, startOwnNode } from '../shell/testing.js';
import { FakeIo, portOf } from '../testing.js';

function sample(name: string): { readonly archive: string; readonly dump: string } {
  const path = fileURLToPath(new URL(`../../../engine/samples/${name}.json`, import.meta.url));
  return JSON.parse(readFileSync(path, 'utf8'));
}

let node: OwnNode;
let folder: string;
let archive: string;
let begunAt: number;
const servers: Server[] = [];
const sockets: Socket[] = [];

beforeAll(async () => {
  begunAt = Math.floor(Date.now() / 1000);
  folder = mkdtempSync(join(tmpdir(), 'althing-migrate-test-'));
  archive = join(folder, 'backup.tar.gz');
  writeFileSync(archive, Buffer.from(sample('40-archive-full-store').archive, 'base64'));
  node = await startOwnNode();
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function migrate(...args: string[]) {
  const environment = { ALTHING_URL: node.url, ALTHING_USER: 'admin:pass', THINGSDB_PASSWORD: 'secret' };
  const io = new FakeIo(environment);
  const code = await main(['migrate', ...args], io);
  return { code, lines: io.output.trim().split('\n'), errors: io.errors };
}

async function query(
  scope: string,
  code: string,
  who: { readonly token: string } | { readonly user: string; readonly password: string } = ADMIN,
): Promise<unknown> {
  const db = connect(node.url, { ...who, attemptsMax: 1 });
  try {
    return await db.$scope(scope).query(code);
  } finally {
    await db.$close();
  }
}

const ADMIN = { user: 'admin', password: 'pass' };
const BOB = { user: 'bob', password: 'bobs secret' };

test('a dry run tells what would come, and changes nothing', async () => {
  const { code, lines } = await migrate(archive, '--dry-run');
  expect([code, lines]).toEqual([
    0,
    [
      'user admin: there, keeps the password that it has here, 0 tokens',
      'user bob: would be made, with its password, 1 tokens',
      'user tok: would be made, no password, 1 tokens',
      'user none: would be made, no password, 0 tokens',
      'collection stuff: there, 1 things, the same as in the ThingsDB',
      'collection shop: would be made, 10 things',
      'procedure tp: would be made',
      'task 7: would be made, under a new id',
      'module demo: left out, make it anew: docs/modules.md',
      'history shop: left out, set_history() begins a new one',
    ],
  ]);
  expect(await query('@t', "[has_user('bob'), has_collection('shop'), has_procedure('tp')];")).toEqual([
    false,
    false,
    false,
  ]);
});

test('a collection in the way stays as it is, and is told', async () => {
  await query('@t', "new_collection('shop');");
  await query('//shop', '.mine = 1;');
  const { code, lines, errors } = await migrate(archive, '--only', 'shop');
  expect([code, lines]).toEqual([1, [expect.stringMatching(/^collection shop: kept, one of that name/)]]);
  expect(errors).toContain('something else is in the way');
  expect(await query('//shop', '.keys();')).toEqual(['mine']);
  await query('//shop', ".del('mine');");
});

test('an archive comes as a whole, takes the place of what is empty, and comes once', async () => {
  const first = await migrate(archive);
  expect(first.code).toBe(0);
  expect(first.lines).toContainEqual(expect.stringMatching(/^collection shop: made, 10 things, digest/));
  expect(
    await query('//shop', '[.a.id(), .u.m(), .r.name(), tasks().map(|t| [t.id(), t.owner()])];'),
  ).toEqual([3, 3, 'lobby', [[12, 'admin']]]);
  const infos = 'c = collection_info("shop").load(); [c.time_zone, c.default_deep];';
  expect(await query('@t', infos)).toEqual(['Europe/Amsterdam', 3]);
  expect(await query('@t', 'tasks().map(|t| [str(t.at()), t.args()]);')).toEqual([
    ['2081-01-01T00:00:00Z', ['arg']],
  ]);
  const again = await migrate(archive, '--json');
  const outcomes = again.lines.map((line) => String(JSON.parse(line).outcome));
  expect([again.code, new Set(outcomes)]).toEqual([0, new Set(['there', 'left out'])]);
  expect(await query('@t', 'tasks().len();')).toBe(1);
});

test('users log in with the tokens and passwords that they had, under the whitelists that they had', async () => {
  expect(await query('//shop', '.a.x;', { token: 'TPexJsaS0q4WVdfFPcDsoB' })).toBe(1);
  expect(await query('//shop', '.a.x;', BOB)).toBe(1);
  await expect(query('//shop', '.a.x;', { ...BOB, password: 'wrong' })).rejects.toThrow(
    /auth_err|credentials/,
  );
  // The first login gave the password a hash of its own.
  expect(await query('//shop', '.a.x;', BOB)).toBe(1);
  const db = connect(node.url, { ...BOB, attemptsMax: 1 });
  await expect(db.$scope('//shop').call('p', { x: 2 })).resolves.toBe(4);
  await expect(db.$scope('//shop').call('other', {})).rejects.toThrow(/whitelist/);
  await db.$close();
});

test.each([
  ['/there/is/none', 2, /there is no/],
  ['thingsdb://127.0.0.1', 2, /the user of ThingsDB/],
  ['thingsdb://admin@127.0.0.1:1', 1, /can't be reached/],
  [fileURLToPath(import.meta.url), 2, /neither a folder nor a backup archive/],
])('%s is refused', async (source, wanted, why) => {
  const { code, errors } = await migrate(source);
  expect(code).toBe(wanted);
  expect(errors).toMatch(why);
});

test('an archive that is damaged brings nothing', async () => {
  const damaged = join(folder, 'damaged.tar.gz');
  writeFileSync(damaged, readFileSync(archive).subarray(0, 3000));
  const { code, errors } = await migrate(damaged);
  expect(code).toBe(1);
  expect(errors).toContain('damaged');
});

/** A server that answers queries as ThingsDB does. */
function thingsdb(answers: ReadonlyMap<string, WireValue>): Promise<number> {
  const server = createServer((socket) => {
    sockets.push(socket);
    const decoder = new PackageDecoder();
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      for (const { type, id, data } of decoder.push(bytes)) {
        const asked = decodeMessagePack(data);
        if (type === PackageType.AUTH) {
          const isRight = isWireList(asked) && asked[1] === 'secret';
          const refusal = wireMap({ error_code: -56n, error_msg: 'invalid credentials' });
          socket.write(
            isRight
              ? encodePackage(PackageType.OK, id)
              : encodePackage(PackageType.ERROR, id, encodeMessagePack(refusal)),
          );
          continue;
        }
        const [scope, code] = isWireList(asked) ? asked : [];
        const answer = answers.get(`${String(scope)} ${String(code)}`) ?? [];
        socket.write(encodePackage(PackageType.DATA, id, encodeMessagePack(answer)));
      }
    });
  });
  servers.push(server);
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(portOf(server))));
}

const RUNNING: ReadonlyMap<string, WireValue> = new Map<string, WireValue>([
  [
    '@thingsdb users_info();',
    [
      wireMap({
        user_id: 9n,
        name: 'eve',
        created_at: 7n,
        has_password: true,
        access: [
          wireMap({ scope: '@thingsdb', privileges: 'CHANGE' }),
          wireMap({ scope: '@collection:live', privileges: 'QUERY|RUN' }),
        ],
        tokens: [
          wireMap({
            key: 'abcdefghijklmnopqrstuv',
            status: 'OK',
            expiration_time: 'never',
            created_on: '2026-01-02T03:04:05Z',
          }),
        ],
        whitelists: wireMap({ procedures: ['/^a/i'] }),
      }),
      wireMap({ user_id: 10n, name: 'ann', created_at: 7n, has_password: false, access: [], tokens: [] }),
    ],
  ],
  [
    '@thingsdb collections_info();',
    [
      wireMap({
        collection_id: 5n,
        name: 'live',
        created_at: 7n,
        time_zone: 'UTC',
        default_deep: 2n,
        commit_history: 'disabled',
      }),
    ],
  ],
  ['//live export({dump: true});', Buffer.from(sample('04-things').dump, 'base64')],
  ['@thingsdb procedures_info();', [wireMap({ name: 'old', created_at: 7n, definition: '|| nil' })]],
  [
    '@thingsdb tasks().map(|t| [t.id(), str(t.at()), str(t.closure()), t.args(), t.owner()]);',
    [
      [21n, '2001-01-01T00:00:00Z', '|| nil', [], 'eve'],
      [22n, '2081-01-01T00:00:00Z', '|t, x| x', [wireMap({ '#': 5n })], 'eve'],
      [23n, '2081-01-01T00:00:00Z', '|t, x| x', [1n], 'eve'],
      [24n, '2081-01-01T00:00:00Z', '|| nil', [], 'ann'],
    ],
  ],
]);

test('a ThingsDB that runs is asked by its own protocol, and tells no passwords', async () => {
  const port = await thingsdb(RUNNING);
  const { code, lines } = await migrate(`thingsdb://eve@127.0.0.1:${port}`);
  expect(code).toBe(0);
  expect(lines).toEqual([
    'user eve: made, WITHOUT its password, 1 tokens',
    'user ann: made, no password, 0 tokens',
    expect.stringMatching(/^collection live: made, \d+ things, digest/),
    'rights eve: made, @thingsdb CHANGE, @collection:live QUERY|RUN, whitelist of procedures',
    'rights ann: there',
    'procedure old: made',
    'task 21: left out, its time has passed',
    'task 22: left out, it has arguments that no client can send',
    'task 23: made, under a new id',
    'task 24: left out, its owner ann may change nothing in @thingsdb',
    expect.stringMatching(/^passwords all: left out/),
  ]);
  expect(await query('//live', '1;', { token: 'abcdefghijklmnopqrstuv' })).toBe(1);
});

test('a migrated scope has the times of the migration, new ids of tasks, and all rights for the user who brought it', async () => {
  const code = `[
    collection_info('live').load().created_at, procedure_info('old').load().created_at,
    tasks().filter(|t| t.owner() == 'eve').map(|t| [t.id() == 23, t.args()]),
    user_info('admin').load().access.map(|a| [a.scope, a.privileges]),
  ];`;
  const [made, added, tasks, access] = Object.values((await query('@t', code)) ?? {});
  for (const at of [made, added]) expect(Number(at)).toBeGreaterThanOrEqual(begunAt);
  expect(tasks).toEqual([[false, [1]]]);
  expect(access).toContainEqual(['@collection:live', 'FULL']);
});

test('a collection goes back as a dump of the version that is named, which comes again', async () => {
  const file = join(folder, 'shop.dump');
  const io = new FakeIo({ ALTHING_URL: node.url, ALTHING_USER: 'admin:pass' });
  expect(await main(['export', '//shop', file, '--thingsdb', '1.8.4'], io)).toBe(0);
  expect(io.errors).toContain('a dump for ThingsDB 1.8.4');
  expect(readFileSync(file).subarray(0, 12).toString('latin1')).toContain('\xa51.8.4');
  expect(await main(['import', '//again', file], io)).toBe(0);
  expect(await query('//again', '[.a.id(), .u.m(), .r.name(), tasks().len()];')).toEqual([3, 3, 'lobby', 0]);
});

test('a ThingsDB that refuses the login is told so', async () => {
  const port = await thingsdb(RUNNING);
  const { code, errors } = await migrate(`thingsdb://eve:wrong@127.0.0.1:${port}`);
  expect(code).toBe(1);
  expect(errors).toContain('invalid credentials');
  expect(errors).not.toContain('wrong');
});
