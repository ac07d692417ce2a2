import { ErrorCode, type WireValues } from '@althing/engine';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { ProgramBody, Reply } from '../groups/request.js';
import { MiniCluster } from '../testing/mini-cluster.js';

/** A lone node with the procedures `add` and `apply`, and the user `jobs`, who has RUN alone. */
let cluster: MiniCluster;

beforeAll(async () => {
  cluster = await MiniCluster.begin(1);
  await change('/t', "new_user('jobs'); grant('//stuff', 'jobs', RUN);");
  await change('stuff', ".secret = 'hidden'; new_procedure('add', |a, b| a + b);");
  await change('stuff', "new_procedure('apply', |fun| is_closure(fun) ? fun() : fun.len());");
});

async function change(scope: string, code: string): Promise<void> {
  void cluster.node(1).query(scope, code);
  await cluster.pass(50);
}

interface Asker {
  readonly user?: string;
  readonly collection?: string | undefined;
}

/** Runs a procedure, as the user `jobs` if no other is named: its value, or the code of the error. */
function run(name: string, args: WireValues | null = null, asker: Asker = {}): Promise<unknown> {
  return ask({ type: 'run', name, args }, asker);
}

/** Sends a request: gives the value of the answer, or the code of the error. */
async function ask(
  body: ProgramBody,
  { user: userName = 'jobs', collection = 'stuff' }: Asker,
): Promise<unknown> {
  const node = cluster.node(1);
  const user = node.engine.root.usersByName.get(userName);
  if (user === undefined) throw new Error(`there is no user ${userName}`);
  let reply: Reply | null = null;
  const request = {
    scope: { kind: 'collection', name: collection },
    user,
    body,
    format: 'json',
    client: { gone: false },
  } as const;
  node.router.handle(request, (came) => {
    reply = came;
  });
  await cluster.pass(50);
  const came = reply as Reply | null;
  if (came === null) return 'no answer';
  return came.ok ? JSON.parse(String(came.result)) : came.error.code;
}

/** `[closure]` in MessagePack, the closure by its source, in as many lists as are asked for. */
function closureIn(source: string, lists = 1): WireValues {
  const text = Buffer.from(source);
  const data = [Buffer.alloc(lists, 0x91), Buffer.of(0xc7, text.length, 2), text];
  return { format: 'msgpack', data: Buffer.concat(data) };
}

describe('a closure among the arguments of a run', () => {
  test('is code, and needs QUERY', async () => {
    expect(await run('apply', closureIn("|| 'own'"))).toBe(ErrorCode.FORBIDDEN);
    expect(await run('apply', closureIn('|| .secret'))).toBe(ErrorCode.FORBIDDEN);
    await change('/t', "grant('//stuff', 'jobs', QUERY);");
    expect(await run('apply', closureIn('|| .secret'))).toBe('hidden');
    await change('/t', "revoke('//stuff', 'jobs', QUERY);");
  });

  test('is found wherever it lies, and by name, too', async () => {
    expect(await run('apply', closureIn('|| .secret', 4))).toBe(ErrorCode.FORBIDDEN);
    const { data } = closureIn('|| .secret', 0);
    const named = Buffer.concat([Buffer.of(0x81, 0xa3), Buffer.from('fun'), Buffer.from(data)]);
    expect(await run('apply', { format: 'msgpack', data: named })).toBe(ErrorCode.FORBIDDEN);
    expect(await run('apply', { format: 'json', data: '[[1, 2, 3]]' })).toBe(3);
  });
});

describe('a whitelist of procedures', () => {
  test('does not tell which of those that it does not allow exist', async () => {
    await change(
      '/t',
      "whitelist_add('jobs', 'procedures', 'add'); whitelist_add('jobs', 'procedures', 'lost');",
    );
    const args = { format: 'json', data: '[1, 2]' } as const;
    expect([await run('add', args), await run('lost')]).toEqual([3, ErrorCode.LOOKUP]);
    expect([await run('apply'), await run('nothing')]).toEqual([ErrorCode.FORBIDDEN, ErrorCode.FORBIDDEN]);
    await change('/t', "whitelist_del('jobs', 'procedures');");
  });
});

describe('a user without any privilege on a collection', () => {
  test('gets the same for procedures that are not there as where there is no collection', async () => {
    await change('/t', "new_user('guest');");
    const asGuest = (name: string, collection?: string): Promise<unknown> =>
      run(name, null, { user: 'guest', collection });
    expect(await asGuest('nothing')).toBe(ErrorCode.LOOKUP);
    expect(await asGuest('nothing', 'missing')).toBe(ErrorCode.LOOKUP);
    expect(await asGuest('add', 'missing')).toBe(ErrorCode.LOOKUP);
    expect(await asGuest('add')).toBe(ErrorCode.FORBIDDEN);
  });

  test('learns neither whether there is one nor what is wrong with its values', async () => {
    const vars = { format: 'json', data: '{"no name": 1}' } as const;
    for (const collection of ['stuff', 'missing']) {
      const query = { type: 'query', code: '1;', vars } as const;
      expect(await ask(query, { user: 'guest', collection })).toBe(ErrorCode.FORBIDDEN);
    }
    expect(await run('add', { format: 'json', data: '5' }, { user: 'guest' })).toBe(ErrorCode.FORBIDDEN);
  });
});
