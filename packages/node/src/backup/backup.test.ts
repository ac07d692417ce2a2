/** Backups of real clusters, taken under load, and restored into other ones. */
import { setTimeout as pause } from 'node:timers/promises';
import { RecordKind } from '@althing/engine';
import type { StateRecord } from '@althing/storage';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FIRST_RELEASE_BACKUP } from '../testing/first-release-backup.js';
import { type Answer, basic, RealCluster, RealNode, until } from '../testing/index.js';
import { backupContents, verifyBackup } from './contents.js';

const ACCOUNTS = 10;
const CLIENTS = 3;

const FAST = { drain_delay_ms: 0 };

let cluster: RealCluster;
let backup: Buffer;
/** The changes that each client knew to be done before the backup was begun, and after it had ended. */
let before: number[];
let after: number[];

beforeAll(async () => {
  cluster = await RealCluster.start(3, FAST);
  const first = cluster.node(1);
  await first.value('/t', "new_collection('bank'); new_collection('empty'); new_user('iris');");
  await first.value('/t', "set_password('iris', 'secret'); grant('@:bank', 'iris', QUERY|CHANGE);");
  await first.value('/t', "new_procedure('root_add', |a, b| a + b);");
  await first.value(
    '//bank',
    `set_enum('Kind', {NORMAL: 1, GOLD: 2}); new_type('Owner');
    set_type('Account', {sum: 'int', kind: 'Kind', owner: 'Owner?', twice: |a| a.sum * 2});
    set_type('Owner', {accounts: '{Account}'}); mod_type('Account', 'rel', 'owner', 'accounts');
    .owner = Owner{}; .steps = []; .accounts = range(${ACCOUNTS}).map(|| Account{sum: 100}); .owner.accounts.add(.accounts[0], .accounts[1]);
    mod_type('Account', 'add', 'note', 'str', 'none'); .accounts[2].kind = Kind{GOLD};`,
  );
  await first.value(
    '//bank',
    "new_procedure('move', |from, to, by| { .accounts[from].sum -= by; .accounts[to].sum += by; .steps.push(by); });",
  );
  await first.value(
    '//stuff',
    `.clients = range(${CLIENTS}).map(|| {count: 0, steps: []}); .long = range(60000);`,
  );

  const far = 'timeval(4000000000)';
  await first.value(
    '//bank',
    `.audit = task(${far}, |t, owner| owner.accounts.len(), [.owner]); task(${far}, || 1).cancel();`,
  );
  await first.value('/t', `task(${far}, |t, n| n, [5]); nil;`);

  const counts = Array.from({ length: CLIENTS }, () => 0);
  const load = new AbortController();
  const clients = counts.map(async (_, client) => {
    const node = cluster.node(client + 1);
    while (!load.signal.aborted) {
      await node.value('//stuff', 'c = .clients[i]; c.count += 1; c.steps.push(c.count);', { i: client });
      counts[client] = (counts[client] ?? 0) + 1;
      await node.run('//bank', 'move', [client, (client + 5) % ACCOUNTS, 3]);
    }
  });
  await until(() => counts.every((count) => count >= 20), 'all clients have written');
  before = [...counts];
  const answer = await cluster.node(2).post('/@backup', '');
  after = counts.map((count) => count + 1);
  await until(() => counts.every((count, i) => count > (after[i] ?? 0)), 'writing goes on');
  load.abort();
  await Promise.all(clients);
  if (answer.status !== 200) throw cluster.node(2).explained(answer.text);
  backup = answer.body;
});

afterAll(() => cluster.stop());

/** The records of things and procedures of each group, and those of users; collections get new numbers. */
async function recordsOf(bytes: Buffer): Promise<readonly string[][]> {
  const records = new Map<number, string[]>();
  const kinds: readonly number[] = [RecordKind.THING, RecordKind.PROCEDURE, RecordKind.USER, RecordKind.TASK];
  const told = ({ kind, id, part, value }: StateRecord): string =>
    `${kind} ${id} ${part} ${Buffer.from(value).toString('base64')}`;
  for await (const part of backupContents(once(bytes))) {
    if (part.kind === 'group') records.set(part.group, []);
    if (part.kind === 'records') {
      records.get(part.group)?.push(...part.records.filter(({ kind }) => kinds.includes(kind)).map(told));
    }
  }
  return [...records.values()];
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Sends only the beginning of a backup, and goes away. */
async function interrupted(node: RealNode, bytes: Buffer): Promise<void> {
  const connection = await node.open();
  const head = [
    'POST /@restore HTTP/1.1',
    'Host: test',
    `Authorization: ${node.authorization}`,
    `Content-Length: ${bytes.length}`,
  ];
  connection.send(`${head.join('\r\n')}\r\n\r\n`);
  connection.send(bytes.subarray(0, -50));
  const names = 'collections_info().map(|c| c.load().name);';
  await until(
    async () => ((await node.value('/t', names)) as string[]).some((name) => name.startsWith('~')),
    'the restore has begun',
  );
  connection.close();
  await until(() => node.log.includes('the client went away'), 'the restore was given up');
}

describe('a backup that was taken under load', () => {
  let other: RealCluster;

  beforeAll(async () => {
    other = await RealCluster.start(3, FAST);
    const answer = await other.node(3).post('/@restore', backup);
    if (answer.status !== 200) throw other.node(3).explained(answer.text);
    // The users are those of the backup, and so are their tokens.
    for (const node of other.nodes) node.authorization = cluster.node(1).authorization;
  });

  afterAll(() => other.stop());

  test('is whole', async () => {
    const { head, records } = await verifyBackup(once(backup));
    expect(head.groups).toBe(4);
    expect(records).toBeGreaterThan(0);
  });

  test('has each scope as it was at one moment', async () => {
    for (const node of other.nodes) {
      const bank = await node.value('//bank', '{sum: .accounts.map(|a| a.sum).sum(), steps: .steps.len()};');
      expect(bank).toMatchObject({ sum: ACCOUNTS * 100, steps: expect.any(Number) });
      const fits = await node.value('//stuff', '.clients.map(|c| c.steps == range(1, c.count + 1));');
      expect(fits).toEqual([true, true, true]);
      expect(await node.value('//stuff', '.long == range(60000);')).toBe(true);
    }
  });

  test('has what was acknowledged before it was begun, and nothing that came after its end', async () => {
    const counts = (await other.node(1).value('//stuff', '.clients.map(|c| c.count);')) as number[];
    expect(counts.filter((count, i) => count < (before[i] ?? 0) || count > (after[i] ?? 0))).toEqual([]);
  });

  test('has users, access, procedures and empty collections', async () => {
    const iris = { authorization: basic('iris', 'secret') };
    const [node] = other.nodes as [RealNode];
    expect((await node.query('//bank', '.accounts.len();', undefined, iris)).text).toBe(String(ACCOUNTS));
    expect((await node.query('//stuff', '.x;', undefined, iris)).status).toBe(403);
    expect((await node.run('/t', 'root_add', [1, 2])).text).toBe('3');
    expect(await node.value('//empty', '.len();')).toBe(0);
  });

  test('has types, enums, relations, and instances that were not touched since their type changed', async () => {
    const [node] = other.nodes as [RealNode];
    const known = `[type_count('Account'), type(.accounts[0]), .accounts[5].note, .accounts[2].kind.name(), .accounts[1].owner == .owner,
      .owner.accounts.len(), .accounts[3].twice() == .accounts[3].sum * 2, try(.accounts[0].sum = 'x').code()];`;
    expect(await node.value('//bank', known)).toEqual([
      ACCOUNTS,
      'Account',
      'none',
      'GOLD',
      true,
      2,
      true,
      -61,
    ]);
  });

  test('has tasks, with what they refer to', async () => {
    const [node] = other.nodes as [RealNode];
    const known = '[.audit.args()[0] == .owner, .audit.owner(), int(.audit.at()), tasks().map(|t| bool(t))];';
    expect(await node.value('//bank', known)).toEqual([true, 'admin', 4_000_000_000, [true, false]]);
    expect(await node.value('/t', 'tasks().map(|t| t.args());')).toEqual([[5]]);
  });

  test('can be saved again: the records are the same, byte by byte', async () => {
    const again = await other.node(1).post('/@backup', '');
    expect(again.status).toBe(200);
    expect(await recordsOf(again.body)).toEqual(await recordsOf(backup));
  });

  test('is gone on from: things, procedures and collections are made and changed', async () => {
    const [node] = other.nodes as [RealNode];
    expect((await node.run('//bank', 'move', [0, 1, 1])).status).toBe(200);
    expect(await node.value('//stuff', '.long.push(1); .new = {}; .long.len();')).toBe(60_001);
    expect(
      await node.value(
        '//bank',
        'wse(); .accounts[4].owner = .owner; .accounts[4].owner = nil; .owner.accounts.len();',
      ),
    ).toBe(2);
    expect(await node.value('/t', "new_collection('more');")).toBe('more');
    expect(await node.value('//more', '.a = {b: 1}; .a.b;')).toBe(1);
  });

  test('is not restored where something is', async () => {
    const refused = async (node: RealNode): Promise<[string, string]> => {
      const answer = await node.post('/@restore', backup);
      return [answer.verdict, answer.error.message];
    };
    expect((await refused(other.node(1)))[0]).toBe('404 -54');
    await other.node(1).value('/t', 'tasks().each(|t| t.del());');
    expect(await refused(other.node(1))).toEqual(['422 -63', expect.stringContaining('empty collections')]);
    expect(await other.node(2).value('//bank', '.accounts.map(|a| a.sum).sum();')).toBe(ACCOUNTS * 100);
  });
});

describe('a restore', () => {
  let node: RealNode;

  beforeAll(async () => {
    node = await RealNode.start();
  });

  afterAll(() => node.stop());

  const restore = (bytes: Buffer): Promise<Answer> => node.post('/@restore', bytes);

  test('is for those who may do everything', async () => {
    await node.value('//stuff', 'nil;');
    expect((await node.post('/@restore', backup, { authorization: null })).verdict).toBe('401 -56');
    expect((await node.post('/@backup', '', { authorization: basic('admin', 'x') })).verdict).toBe('401 -56');
    const iris = { authorization: basic('iris', 'secret') };
    expect((await cluster.node(1).post('/@backup', '', iris)).verdict).toBe('403 -55');
    expect((await cluster.node(1).post('/@restore', backup, iris)).verdict).toBe('403 -55');
    expect((await node.post('/@backup', '', { method: 'GET' })).verdict).toBe('405 -53');
  });

  test('a restore of something else changes nothing', async () => {
    expect((await restore(Buffer.from('something else'))).verdict).toBe('400 -53');
    expect((await restore(Buffer.alloc(0))).verdict).toBe('400 -53');
    expect((await node.query('//stuff', '1;')).text).toBe('1');
  });

  test('is refused where things or procedures of a collection are, and says which', async () => {
    const own = await RealNode.start();
    const refusal = async (scope: string, code: string): Promise<string> => {
      await own.value(scope, code);
      return (await own.post('/@restore', backup)).error.message;
    };
    expect(await refusal('//stuff', '.x = 1;')).toContain("the property 'x'");
    expect(await refusal('//stuff', ".del('x'); new_procedure('p', || 1);")).toContain("the procedure 'p'");
    await own.stop();
  });

  test('takes what release 0.1.0 backed up, and has it in the present forms after a restart', async () => {
    let own = await RealNode.start();
    expect((await own.post('/@restore', FIRST_RELEASE_BACKUP)).verdict).toBe('200');
    const iris = basic('iris', 'secret');
    own.authorization = iris;
    const look = "[.l.len(), .l[1499], .s.len(), .t.when, .t.nested, run('add', 1, 2), .c.call(4)];";
    const held = [1500, 7, 2, '2020-01-02T00:00:00Z', [[1], [2]], 3, 5];
    expect(await own.value('//stuff', look)).toEqual(held);
    await own.value('//stuff', '.l.push(7); .l.pop(); nil;');
    await own.stop({ keep: true });
    own = await RealNode.start({}, own.folder, iris);
    expect(await own.value('//stuff', look)).toEqual(held);
    await own.stop();
  });

  test('takes place where everything was deleted again, whether that was checkpointed or not', async () => {
    for (const settings of [{}, { checkpoint_interval_ms: 200 }]) {
      let own = await RealNode.start({ ...FAST, garbage_interval_ms: 1000, ...settings });
      await own.value(
        '//stuff',
        '.clients = range(50).map(|i| {i:}); .long = range(3000).map(|i| {i:}); nil;',
      );
      await own.value('//stuff', "new_procedure('move', || 1); a = {}; b = {a:}; a.b = b; .a = a; nil;");
      await own.value('//stuff', ".clear(); del_procedure('move');");
      await pause(settings.checkpoint_interval_ms === undefined ? 0 : 500);
      await until(async () => {
        const answer = await own.post('/@restore', backup);
        if (answer.status !== 200) expect(answer.error.message).toContain('still being cleared away');
        return answer.status === 200;
      }, 'the restore');
      own.authorization = cluster.node(1).authorization;
      const restored = await own.post('/@backup', '');
      expect(await recordsOf(restored.body)).toEqual(await recordsOf(backup));
      await own.stop({ keep: true });
      own = await RealNode.start(FAST, own.folder, own.authorization);
      expect(await own.value('//stuff', '.long == range(60000);')).toBe(true);
      expect(await own.value('//bank', '.accounts.map(|a| a.sum).sum();')).toBe(ACCOUNTS * 100);
      const again = await own.post('/@backup', '');
      expect(await recordsOf(again.body)).toEqual(await recordsOf(backup));
      await own.stop();
    }
  });

  test('a restore that was interrupted leaves the cluster as it was, and can be begun again', async () => {
    await interrupted(node, backup);
    expect((await node.query('//stuff', '.x = 1; .x;')).text).toBe('1');
    await node.value('//stuff', '.clear();');
    await node.stop({ keep: true });
    node = await RealNode.start({}, node.folder, node.authorization);
    expect((await restore(backup)).verdict).toBe('200');

    node.authorization = cluster.node(1).authorization;
    expect(await node.value('//bank', '.accounts.map(|a| a.sum).sum();')).toBe(ACCOUNTS * 100);
    const again = await node.post('/@backup', '');
    expect(await recordsOf(again.body)).toEqual(await recordsOf(backup));
  });
});
