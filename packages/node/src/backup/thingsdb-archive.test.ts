import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { brokenRules, type CollectionGroup, writeThingsdbDump } from '@althing/engine';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { isThingsdbStore, openThingsdbStore, readStoredCollection } from './thingsdb-archive.js';

/** A backup archive that ThingsDB wrote, and how the restored server answered. */
const SAMPLE: {
  readonly archive: string;
  readonly checks: readonly { readonly query: string; readonly mp: string }[];
} = JSON.parse(
  readFileSync(
    fileURLToPath(new URL('../../../engine/samples/40-archive-full-store.json', import.meta.url)),
    'utf8',
  ),
);
const ARCHIVE = Buffer.from(SAMPLE.archive, 'base64');

/** The dump of the collection `shop` after it was restored: bytes, in MessagePack, with two bytes of length. */
const DUMP = Buffer.from(
  SAMPLE.checks.find(({ query }) => query === 'export({dump:true});')?.mp ?? '',
  'base64',
).subarray(3);

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'althing-archive-test-'));
  file = join(folder, 'backup.tar.gz');
  writeFileSync(file, ARCHIVE);
});

afterEach(() => rmSync(folder, { recursive: true }));

function dumpOf(group: CollectionGroup): string {
  return Buffer.from(writeThingsdbDump(group, '1.9.3-alpha1', () => {}).bytes).toString('latin1');
}

/** The entries of the archive, each with its head, as tar has them. */
function entries(): { readonly head: Buffer; readonly name: string; readonly content: Buffer }[] {
  const tar = gunzipSync(ARCHIVE);
  const found: { readonly head: Buffer; readonly name: string; readonly content: Buffer }[] = [];
  for (let at = 0; tar[at] !== 0; ) {
    const head = Buffer.from(tar.subarray(at, at + 512));
    const size = Number.parseInt(head.toString('latin1', 124, 135), 8);
    const name = head.toString('latin1', 0, 100).replace(/\0.*$/s, '');
    found.push({ head, name, content: Buffer.from(tar.subarray(at + 512, at + 512 + size)) });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return found;
}

/** The archive with its first file changed, and an entry of a name and type in front. */
function withEntry(name: string, type: string, content = Buffer.alloc(0), size = content.length): Buffer {
  const [first] = entries();
  const head = Buffer.from(first?.head ?? Buffer.alloc(512));
  head.fill(0, 0, 100);
  head.write(name, 0);
  head.write(type, 156);
  head.write(size.toString(8).padStart(11, '0'), 124);
  head.write(' '.repeat(8), 148);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padded = Buffer.concat([content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
  return gzipSync(Buffer.concat([head, padded, gunzipSync(ARCHIVE)]));
}

test('a collection of a backup archive is what ThingsDB restores of it, byte for byte', async () => {
  expect(isThingsdbStore(file)).toBe(true);
  const group = await readStoredCollection(file, 'shop', true);
  expect(brokenRules(group)).toEqual([]);
  expect(dumpOf(group)).toBe(DUMP.toString('latin1'));
});

test('so is one of the folder of a store', async () => {
  for (const { name, content } of entries()) {
    if (name.endsWith('/') || name === '.') continue;
    const path = join(folder, 'store of one', name);
    mkdirSync(dirname(path), { recursive: true });
    if (content.length > 0) writeFileSync(path, content);
  }
  const group = await readStoredCollection(join(folder, 'store of one'), 'shop', true);
  expect(dumpOf(group)).toBe(DUMP.toString('latin1'));
});

test('the collection that every ThingsDB begins with has a root of another id there, and of 1 here', async () => {
  const group = await readStoredCollection(file, 'stuff', true);
  expect([group.store.root.id, group.store.thingCount]).toEqual([1, 1]);
});

test('users come with passwords, tokens, rights and whitelists', async () => {
  const { root, newerChanges } = await openThingsdbStore(file);
  expect(newerChanges).toBe(0);
  const users = [...root.users.values()].map(({ name, hasPassword, tokens, rooms, procedures }) => ({
    name,
    hasPassword,
    tokens: tokens.map(({ key }) => key),
    rooms,
    procedures,
  }));
  expect(users).toEqual([
    { name: 'admin', hasPassword: true, tokens: [], rooms: null, procedures: null },
    {
      name: 'bob',
      hasPassword: true,
      tokens: ['BuFewNhj0ImeQ5F3iBy6uX'],
      rooms: null,
      procedures: ['p', '/^get.*/'],
    },
    { name: 'tok', hasPassword: false, tokens: ['TPexJsaS0q4WVdfFPcDsoB'], rooms: [], procedures: null },
    { name: 'none', hasPassword: false, tokens: [], rooms: null, procedures: null },
  ]);
  const settings = [...root.collections.values()].map(({ name, timeZone, deep }) => [name, timeZone, deep]);
  expect(settings).toEqual([
    ['stuff', 'UTC', 1],
    ['shop', 'Europe/Amsterdam', 3],
  ]);
  expect([...root.procedures.keys(), ...root.modules]).toEqual(['tp', 'demo']);
  expect([...root.tasks.values()].map(({ source, args }) => [source, args])).toEqual([['|t,x|nil', ['arg']]]);
});

test('tasks come if that is asked for', async () => {
  const [without, withTasks] = await Promise.all(
    [false, true].map((takesTasks) => readStoredCollection(file, 'shop', takesTasks)),
  );
  expect([without?.tasks.size, withTasks?.tasks.size]).toEqual([0, 1]);
});

test.each([
  ['a collection that it has not', 'none', () => ARCHIVE, /no collection 'none'.* stuff, shop/],
  ['what is no archive inside', 'shop', () => gzipSync('text'), /ends too early/],
  ['an archive that is cut off', 'shop', () => ARCHIVE.subarray(0, 2000), /can not be read/],
  ['a path upwards', 'shop', () => withEntry('./store/../../x', '0'), /leads out/],
  ['a path from the root', 'shop', () => withEntry('/etc/x', '0'), /leads out/],
  ['a symbolic link', 'shop', () => withEntry('./store/users.mp', '2'), /is a link/],
  ['a hard link', 'shop', () => withEntry('./store/users.mp', '1'), /is a link/],
  [
    'a checksum that is not that of the content',
    'shop',
    () => Buffer.concat([ARCHIVE.subarray(0, -8), Buffer.alloc(4), ARCHIVE.subarray(-4)]),
    /can not be read: incorrect data check/,
  ],
  [
    'a file that is too large',
    'shop',
    () => withEntry('./store/x.mp', '0', Buffer.alloc(0), 2 ** 31),
    /larger than the 2 GB/,
  ],
  [
    'a file whose size stands in an extended header',
    'shop',
    () => withEntry('./PaxHeaders/x', 'x', Buffer.from('19 size=8589934592\n')),
    /larger than the 2 GB/,
  ],
  [
    'a damaged file of changes',
    'shop',
    () => withEntry('./archive/0000000000000010_0000000000000012.mp', '0', Buffer.from('91c401ff', 'hex')),
    /archive.*_0000000000000012.mp, at byte 3: this is no change/,
  ],
])('%s is refused', async (_, name, archive, why) => {
  writeFileSync(file, archive());
  await expect(readStoredCollection(file, name, true)).rejects.toThrow(why);
});

test('a file of a store that is too large is refused', async () => {
  for (const { name, content } of entries()) {
    if (content.length === 0) continue;
    mkdirSync(dirname(join(folder, 'store of one', name)), { recursive: true });
    writeFileSync(join(folder, 'store of one', name), content);
  }
  truncateSync(join(folder, 'store of one', 'store/users.mp'), 2 ** 31);
  await expect(readStoredCollection(join(folder, 'store of one'), 'shop', true)).rejects.toThrow(
    /larger than the 2 GB/,
  );
});

test('an archive that unpacks to far more than it is, is refused before it is in memory', async () => {
  writeFileSync(file, withEntry('./store/x.mp', '0', Buffer.alloc(48 * 1024 ** 2)));
  await expect(readStoredCollection(file, 'shop', true)).rejects.toThrow(/so large/);
});

test('a store with any byte changed is refused, or makes a collection that keeps all rules', async () => {
  const root = join(folder, 'store of one');
  const files = entries().filter(
    ({ name, content }) => /store\/00000000003\/.*(?:mp|dat)$/.test(name) && content.length > 0,
  );
  for (const { name, content } of entries()) {
    if (content.length === 0) continue;
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  let refused = 0;
  for (const { name, content } of files) {
    for (let at = 0; at < content.length; at += 13) {
      const changed = Buffer.from(content);
      changed[at] = (changed[at] ?? 0) ^ 0x41;
      writeFileSync(join(root, name), changed);
      const group = await readStoredCollection(root, 'shop', true).catch((error: Error) => {
        expect(error.message).toMatch(/damaged/);
        refused += 1;
        return null;
      });
      if (group !== null) expect(brokenRules(group)).toEqual([]);
    }
    writeFileSync(join(root, name), content);
  }
  expect(refused).toBeGreaterThan(20);
});
