/** Collections that are moved as files, between clusters that serve. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { basic, RealCluster, RealNode, until } from '../testing/index.js';
import { seededBytes } from '../testing/random.js';
import { verifyBackup } from './contents.js';
import { digestOfExport } from './export-digest.js';

const randomBytes = seededBytes(Number(process.env.ALTHING_TEST_SEED));

const FAST = { drain_delay_ms: 0 };

/** Some MiB, so that the import takes several changes; random, so that the file is as large. */
const LARGE = Array.from({ length: 2 }, () =>
  Array.from({ length: 1000 }, () => randomBytes(500).toString('hex')),
);

const MAKE = `
  set_enum('Kind', {NORMAL: 1, GOLD: 2}); new_type('Owner');
  set_type('Account', {sum: 'int', kind: 'Kind', owner: 'Owner?', twice: |a| a.sum * 2});
  set_type('Owner', {accounts: '{Account}'}); mod_type('Account', 'rel', 'owner', 'accounts');
  .owner = Owner{}; .accounts = range(10).map(|i| Account{sum: i}); .owner.accounts.add(.accounts[0], .accounts[1]);
  .accounts[2].kind = Kind{GOLD}; .room = room(); .large = []; .long = range(60000);
  .due = task(timeval(4000000000), |t, a| a.n, [{n: 5}]);
  new_procedure('add', |a, b| a + b);`;

/** The contents that an import has to give again. */
const KNOWN = `[type_count('Account'), .accounts[2].kind.name(), .accounts[1].owner == .owner, .owner.accounts.len(),
  .accounts[3].twice(), .long == range(60000), .large.len(), .large[1999].text.len(), add(1, 2), .accounts[0].id() == .owner.accounts.map(|a| a.id()).sort()[0],
  bool(.room), tasks(), str(.due)];`;

let from: RealNode;
let file: Buffer;
let known: unknown;

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

beforeAll(async () => {
  from = await RealNode.start(FAST);
  await from.value('/t', "new_collection('bank'); new_user('iris'); set_password('iris', 'secret');");
  await from.value('//bank', MAKE);
  for (const texts of LARGE) {
    await from.value('//bank', 'texts.each(|text| .large.push({text:})); nil;', { texts });
  }
  await from.value('/t', "grant('//bank', 'iris', QUERY|CHANGE|RUN); grant('/t', 'iris', QUERY|CHANGE);");
  const answer = await from.post('/@export/bank', '');
  if (answer.status !== 200) throw from.explained(answer.text);
  file = answer.body;
  known = await from.value('//bank', KNOWN);
});

afterAll(() => from.stop());

/** The names of all collections, those too that are being imported. */
async function names(node: RealNode): Promise<unknown> {
  return node.value('/t', 'collections_info().map(|c| c.load().name).sort();');
}

/**
 * Waits until a node takes what was exported at the level of another cluster: a new one comes to it some time after it serves. An
 * export that ends behind its head is asked for its level, and then it is too short; what is cut before is too short in any case.
 */
async function levelReached(node: RealNode): Promise<void> {
  const headEnd = 12 + 9 + file.readUInt32BE(12 + 1);
  await until(async () => {
    const { verdict, text } = await node.post('/@import/cut', file.subarray(0, headEnd));
    if (verdict !== '400 -53') expect(text).toContain('level');
    return verdict === '400 -53';
  }, 'the cluster has the level of the file');
}

/** Imports the file as soon as the node has done with an import before. */
async function imported(node: RealNode, path: string): Promise<void> {
  await until(async () => {
    const { status } = await node.post(path, file);
    expect([200, 503]).toContain(status);
    return status === 200;
  }, 'the import');
}

/** Sends a part of a file, and holds the connection until it is told to go away. */
async function begun(node: RealNode, path: string, bytes: Buffer): Promise<() => void> {
  const connection = await node.open();
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: test',
    `Authorization: ${node.authorization}`,
    `Content-Length: ${bytes.length}`,
  ];
  connection.send(`${head.join('\r\n')}\r\n\r\n`);
  connection.send(bytes.subarray(0, -50));
  return () => connection.close();
}

/** The name of a collection that is being filled. */
async function staged(node: RealNode): Promise<string | undefined> {
  return ((await names(node)) as string[]).find((name) => name.startsWith('~'));
}

/** The path of an import of the file that can be resumed. */
function resumable(name: string): string {
  return `/@import/${name}/${file.subarray(-32).toString('hex')}`;
}

/** Sends a share of the file, and goes away when the node has begun with it. */
async function cut(node: RealNode, path: string, share: number): Promise<void> {
  let leave: () => void = () => {};
  await until(async () => {
    leave();
    leave = await begun(node, path, Buffer.concat([file.subarray(0, share * file.length), Buffer.alloc(50)]));
    return (await staged(node)) !== undefined;
  }, 'the import has begun');
  leave();
}

describe('an export', () => {
  test('is whole, and says what it is', async () => {
    const { head } = await verifyBackup(once(file));
    expect(head).toMatchObject({ groups: 1, collection: 'bank', level: expect.any(Number) });
    expect(file.length).toBeGreaterThan(1_000_000);
  });

  test('is for those who may have everything, of a collection that there is', async () => {
    const iris = { authorization: basic('iris', 'secret') };
    expect((await from.post('/@export/bank', '', iris)).verdict).toBe('403 -55');
    expect((await from.post('/@import/bank2', file, iris)).verdict).toBe('403 -55');
    expect((await from.post('/@export/nothing', '')).error.message).toContain("no collection 'nothing'");
    expect((await from.post('/@export/no-name', '')).status).toBe(404);
  });

  test('is no backup', async () => {
    const empty = await RealNode.start(FAST);
    try {
      // A new cluster is at a level that knows restores some time after it serves.
      await until(async () => {
        const { verdict, error } = await empty.post('/@restore', file);
        if (verdict === '400 -53') expect(error.message).toContain('althing import');
        return verdict === '400 -53';
      }, 'the file is refused for what it is');
    } finally {
      await empty.stop();
    }
  });
});

describe('an import', () => {
  let cluster: RealCluster;

  beforeAll(async () => {
    cluster = await RealCluster.start(3, FAST);
  });

  afterAll(() => cluster.stop());

  test('makes the collection on all nodes, under any name, while others are served', async () => {
    const [first, second, third] = cluster.nodes as [RealNode, RealNode, RealNode];
    await levelReached(second);
    expect(await names(first)).toEqual(['stuff']);
    let served = 0;
    let isOver = false;
    const others = (async () => {
      while (!isOver) {
        await third.value('//stuff', '.n = (.get("n") || 0) + 1;');
        served += 1;
      }
    })();
    const answer = await second.post('/@import/copy', file);
    isOver = true;
    await others;
    expect([answer.status, answer.text, served > 0]).toEqual([200, expect.any(String), true]);
    for (const node of cluster.nodes) {
      const values = (await node.value('//copy', KNOWN)) as unknown[];
      // Tasks stay where they are.
      expect([values.slice(0, -2), values.slice(-2)]).toEqual([
        (known as unknown[]).slice(0, -2),
        [[], 'task:nil'],
      ]);
    }
    expect(await names(third)).toEqual(['copy', 'stuff']);
    expect(
      await first.value(
        '//copy',
        '.new = {}; .long.push(1); .accounts[4].owner = .owner; .owner.accounts.len();',
      ),
    ).toBe(3);
    const again = await third.post('/@import/copy', file);
    expect([again.verdict, again.error.message]).toEqual([
      '422 -63',
      expect.stringContaining("there is a collection 'copy' already"),
    ]);
  });

  test('takes tasks along if that is asked for: they belong to who imports them, and run when all is there', async () => {
    const [first, second] = cluster.nodes as [RealNode, RealNode];
    await from.value(
      '//bank',
      '.due.del(); .due = task(datetime(), |t, a| {a.n += 1; t.again_in("seconds", 1);}, [{n: 5}]); nil;',
    );
    const exported = await from.post('/@export/bank', '');
    expect((await second.post('/@import/tasked/import_tasks', exported.body)).status).toBe(200);
    const runs = async (): Promise<number> => (await first.value('//tasked', '.due.args()[0].n;')) as number;
    const before = await runs();
    await until(async () => (await runs()) > before, 'the task runs');
    expect(await first.value('//tasked', '[.due.owner(), tasks().len(), .due.err()];')).toEqual([
      'admin',
      1,
      null,
    ]);
    await first.value('/t', "del_collection('tasked');");
  });

  test('takes one collection of a backup', async () => {
    const backup = (await from.post('/@backup', '')).body;
    const [node] = cluster.nodes as [RealNode];
    expect((await node.post('/@import/other', backup)).error.message).toContain("no collection 'other'");
    expect((await node.post('/@import/bank', backup)).status).toBe(200);
    expect(((await node.value('//bank', KNOWN)) as unknown[]).slice(0, -2)).toEqual(
      (known as unknown[]).slice(0, -2),
    );
  });

  test('an import that is damaged, interrupted, or in the way leaves nothing', async () => {
    const [first, second] = cluster.nodes as [RealNode, RealNode];
    const before = await names(first);
    const damaged = Buffer.from(file);
    damaged[damaged.length - 10] = (damaged[damaged.length - 10] ?? 0) ^ 1;
    expect((await second.post('/@import/next', damaged)).verdict).toBe('400 -53');
    expect(await names(first)).toEqual(before);

    const leave = await begun(second, '/@import/next', file);
    await until(async () => (await staged(first)) !== undefined, 'the import has begun');
    // Nobody gets at what is not complete.
    expect((await first.query('//next', '1;')).status).toBe(404);
    const name = (await staged(first)) ?? '';
    expect((await first.query(`//${encodeURIComponent(name)}`, '1;')).status).toBe(404);
    const rename = await first.query('/t', 'rename_collection(name, "next");', { name });
    expect(rename.error.message).toContain('being imported');
    expect((await second.post('/@import/third', file)).verdict).toBe('503 -51');
    leave();
    await until(async () => (await staged(first)) === undefined, 'what was there is deleted');
    expect(await names(first)).toEqual(before);
    await imported(second, '/@import/next');
  });

  test('an import whose node is killed goes on at another one, when it names its file', async () => {
    const [first, second, third] = cluster.nodes as [RealNode, RealNode, RealNode];
    const path = resumable('resumed');
    await cut(second, path, 0.9);
    // When that is in, the node has made all that it got of the other.
    await imported(second, '/@import/between');
    await cluster.killNode(2);
    const answer = await third.post(path, file);
    expect([answer.status, JSON.parse(answer.text).resumed > 0]).toEqual([200, true]);
    expect(((await first.value('//resumed', KNOWN)) as unknown[]).slice(0, -2)).toEqual(
      (known as unknown[]).slice(0, -2),
    );
    expect(await staged(first)).toBeUndefined();
  });
});

test('an import whose node is killed ends, and what it left is deleted', async () => {
  let node = await RealNode.start(FAST);
  await levelReached(node);
  await begun(node, '/@import/bank', file);
  await until(async () => (await staged(node)) !== undefined, 'the import has begun');
  await node.kill();
  node = await RealNode.start(FAST, node.folder, node.authorization);
  await until(async () => JSON.stringify(await names(node)) === '["stuff"]', 'it is deleted');
  await imported(node, '/@import/bank');
  await node.stop();
});

describe('an import that names its file', () => {
  let node: RealNode;

  beforeAll(async () => {
    node = await RealNode.start(FAST);
    await levelReached(node);
  });

  afterAll(() => node.stop());

  test('goes on where clients and nodes that were killed left it, and ends with the same', async () => {
    const path = resumable('bank');
    await cut(node, path, 0.6 + (randomBytes(1)[0] ?? 0) / 700);
    await node.kill();
    node = await RealNode.start(FAST, node.folder, node.authorization);
    expect(await staged(node)).toMatch(/^~\d+\.r[0-9a-f]{16}\.bank$/);
    await cut(node, path, 0.9);
    // Another file meanwhile has nothing to do with it; when it is in, the node has made all that it got of the first one.
    await imported(node, '/@import/other');
    const { resumed, parts } = JSON.parse((await node.post(path, file)).text);
    expect([resumed > 0, resumed < parts]).toEqual([true, true]);
    expect(await names(node)).toEqual(['bank', 'other', 'stuff']);
    expect(await node.value('//bank', KNOWN)).toEqual(await node.value('//other', KNOWN));
    const digestOf = async (name: string): Promise<string> =>
      (await digestOfExport(once((await node.post(`/@export/${name}`, '')).body))).digest;
    expect(await digestOf('bank')).toBe(await digestOf('other'));
    await node.value('/t', "del_collection('bank');");
  });

  test('takes no other file, and begins anew with one that changed', async () => {
    const path = resumable('bank');
    await cut(node, path, 0.9);
    const changed = (await node.post('/@export/other', '')).body;
    let mixed = await node.post(path, changed);
    while (mixed.status === 503) mixed = await node.post(path, changed);
    expect([mixed.verdict, mixed.error.message]).toEqual([
      '400 -53',
      expect.stringContaining('another file'),
    ]);
    expect(await names(node)).toEqual(['other', 'stuff']);
    await cut(node, path, 0.9);
    await imported(node, '/@import/third');
    const answer = await node.post(`/@import/bank/${changed.subarray(-32).toString('hex')}`, changed);
    expect([answer.status, JSON.parse(answer.text).resumed]).toEqual([200, 0]);
    // The import that was interrupted keeps its collection, and finds that the name is taken.
    expect(await names(node)).toEqual(['bank', 'other', 'stuff', 'third', expect.stringMatching(/^~/)]);
    expect((await node.post(path, file)).error.message).toContain("there is a collection 'bank' already");
  });
});
