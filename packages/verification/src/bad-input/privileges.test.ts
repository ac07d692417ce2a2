/** Privileges: every operation with every set of privileges on every scope. */

import { RealNode } from '@althing/node/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const QUERY = 1;
const CHANGE = 2;
const GRANT = 4;
const JOIN = 8;
const RUN = 16;
const FULL = 31;

let node: RealNode;
/** Credentials of `user`, who has what a test grants. */
let authorization: string;

beforeAll(async () => {
  node = await RealNode.start({ login_backoff_ms: 0, login_backoff_limit_ms: 0 });
  authorization = `Bearer ${await node.value('/t', "new_user('other'); new_user('user'); new_token('user');")}`;
  for (const scope of ['/t', '//stuff']) {
    await node.value(
      scope,
      "new_procedure('reads', || 1); new_procedure('writes', || {wse(); 2;}); new_procedure('calls', || writes());",
    );
  }
  await node.value('//stuff', ".x = 0; new_procedure('sets', |v| .x = v); .closure = |v| .x = v;");
  await node.value('/t', "new_procedure('grants', || {grant('//stuff', 'other', 1); nil;});");
});

afterAll(() => node.stop());

/** The privileges that a mask means: GRANT comes with CHANGE. */
const effective = (mask: number) => ((mask & GRANT) === 0 ? mask : mask | CHANGE);

const ALL_MASKS = Array.from({ length: FULL + 1 }, (_, mask) => mask);

async function give(scope: string, mask: number): Promise<void> {
  await node.value('/t', `revoke('${scope}', 'user', ${FULL}); grant('${scope}', 'user', ${mask});`);
}

const query = async (scope: string, code: string) =>
  (await node.query(scope, code, undefined, { authorization })).verdict;

const run = async (scope: string, name: string) =>
  (await node.run(scope, name, undefined, { authorization })).verdict;

describe.each(['/t', '//stuff', '/n'])('requests to %s', (scope) => {
  afterAll(() => give(scope, 0));

  test('every set of privileges allows what it says', async () => {
    for (const mask of ALL_MASKS) {
      await give(scope, mask);
      const has = (needed: number) => (effective(mask) & needed) === needed;
      const allowed = (needed: number) => (has(needed) ? '200' : '403 -55');
      const got: Record<string, string> = {
        read: await query(scope, '1 + 1;'),
        state: await query(scope, 'procedures_info();'),
        change: await query(scope, 'wse();'),
        syntax: await query(scope, '1 +'),
        runs: await run(scope, 'reads'),
        runsChange: await run(scope, 'writes'),
        runsUnknown: await run(scope, 'nix'),
      };
      const inNode = scope === '/n';
      const expected: Record<string, string> = {
        read: allowed(QUERY),
        state: inNode ? (has(QUERY) ? '404 -54' : '403 -55') : allowed(QUERY),
        // In the scope of a node there is nothing to change.
        change: inNode ? allowed(QUERY) : allowed(QUERY | CHANGE),
        // A user who may not query learns nothing about syntax.
        syntax: has(QUERY) ? '400 -52' : '403 -55',
        runs: inNode ? '400 -53' : allowed(RUN),
        runsChange: inNode ? '400 -53' : allowed(RUN | CHANGE),
        // Whether a procedure exists is known to everybody who may do anything there.
        runsUnknown: inNode ? '400 -53' : mask === 0 && scope === '//stuff' ? '403 -55' : '404 -54',
      };
      expect({ mask, ...got }).toEqual({ mask, ...expected });
    }
  });

  test('privileges on the other scopes do not count', async () => {
    const others = ['/t', '//stuff', '/n'].filter((other) => other !== scope);
    await give(scope, 0);
    for (const other of others) await give(other, FULL);
    expect(await query(scope, '1;')).toBe('403 -55');
    for (const other of others) await give(other, 0);
  });
});

describe('what somebody has no privilege on', () => {
  /** The answers to the same about something that is there and something that is not, without the name. */
  async function answers(
    name: string,
    missing: string,
    ask: (name: string) => [string, string],
  ): Promise<string[]> {
    return Promise.all(
      [name, missing].map(async (one) => {
        const [path, code] = ask(one);
        const { status, text } = await node.query(path, code, undefined, { authorization });
        return `${status} ${text.replaceAll(one, 'NAME')}`;
      }),
    );
  }

  test('is not told from what is missing', async () => {
    await give('//stuff', 0);
    await give('/t', 0);
    const asked: ((name: string) => [string, string])[] = [
      (name) => [`//${name}`, '1;'],
      (name) => [`//${name}`, '1 +'],
      (name) => ['/t', `has_collection('${name}');`],
      (name) => ['/t', `collection_info('${name}');`],
    ];
    for (const ask of asked) {
      const [there, missing] = await answers('stuff', 'stufx', ask);
      expect(there).toBe(missing);
    }
    const runs = await Promise.all(
      ['stuff', 'stufx'].map(async (name) => {
        const { status, text } = await node.run(`//${name}`, 'reads', undefined, { authorization });
        return `${status} ${text.replaceAll(name, 'NAME')}`;
      }),
    );
    expect(runs[0]).toBe(runs[1]);
  });

  test.each([QUERY, JOIN | RUN])(
    'is known to exist by who may do something on @thingsdb: %i',
    async (mask) => {
      await give('//stuff', 0);
      await give('/t', mask);
      expect(await query('//stuff', '1;')).toBe('403 -55');
      expect(await query('//stufx', '1;')).toBe('404 -54');
      await give('/t', 0);
    },
  );

  test('users are not told from missing ones without GRANT', async () => {
    await give('/t', QUERY | CHANGE);
    for (const call of [
      "set_password('NAME', nil);",
      "new_token('NAME');",
      "user_info('NAME');",
      "has_user('NAME');",
    ]) {
      const [there, missing] = await answers('admin', 'admix', (name) => ['/t', call.replace('NAME', name)]);
      expect([call, there]).toEqual([call, missing]);
    }
    await give('/t', 0);
  });
});

describe('functions of the root scope', () => {
  /** What each needs on `@thingsdb`, and perhaps on the collection. Nothing of it lasts: each query fails at its end. */
  const OPERATIONS: readonly [code: string, root: number, collection?: number][] = [
    ['user_info();', QUERY],
    ["user_info('user');", QUERY | GRANT],
    ["user_info('admin');", QUERY | GRANT],
    ['users_info();', QUERY | GRANT],
    ["has_user('admin');", QUERY | GRANT],
    ["new_user('more');", QUERY | CHANGE | GRANT],
    ["del_user('other');", QUERY | CHANGE | GRANT],
    ["rename_user('other', 'more');", QUERY | CHANGE | GRANT],
    ["rename_user('user', 'more');", QUERY | CHANGE | GRANT],
    ["set_password('user', nil);", QUERY | CHANGE],
    ["set_password('admin', nil);", QUERY | CHANGE | GRANT],
    ["new_token('user');", QUERY | CHANGE],
    ["new_token('admin');", QUERY | CHANGE | GRANT],
    ['del_expired();', QUERY | CHANGE | GRANT],
    ["has_token('aaaaaaaaaaaaaaaaaaaaaa');", QUERY | GRANT],
    ["grant('/t', 'other', 1);", QUERY | CHANGE | GRANT],
    ["revoke('/t', 'other', 1);", QUERY | CHANGE | GRANT],
    ["grant('//stuff', 'other', 31);", QUERY | CHANGE, GRANT],
    ["revoke('//stuff', 'admin', 31);", QUERY | CHANGE, GRANT],
    ["new_collection('more');", QUERY | CHANGE],
    ["del_collection('stuff');", QUERY | CHANGE],
    ["rename_collection('stuff', 'more');", QUERY | CHANGE],
    ["has_collection('stuff');", QUERY],
    ["set_default_deep('//stuff', 3);", QUERY | CHANGE, CHANGE],
    ["set_default_deep('/t', 3);", QUERY | CHANGE],
    ["set_time_zone('//stuff', 'UTC');", QUERY | CHANGE, CHANGE],
    ["new_procedure('more', || 1);", QUERY | CHANGE],
    ["del_procedure('reads');", QUERY | CHANGE],
    ["rename_procedure('reads', 'more');", QUERY | CHANGE],
    ["mod_procedure('reads', || 2);", QUERY | CHANGE],
  ];

  afterAll(async () => {
    await give('/t', 0);
    await give('//stuff', 0);
  });

  test.each([0, QUERY, CHANGE, GRANT, RUN | JOIN, FULL])(
    'each is allowed to whom it is meant for, with %i on the collection',
    async (onCollection) => {
      await give('//stuff', onCollection);
      for (const mask of [
        0,
        QUERY,
        CHANGE,
        GRANT,
        QUERY | CHANGE,
        QUERY | GRANT,
        JOIN | RUN,
        FULL - GRANT,
        FULL,
      ]) {
        await give('/t', mask);
        const verdicts = await Promise.all(OPERATIONS.map(([code]) => query('/t', `${code} raise('end');`)));
        const expected = OPERATIONS.map(([code, root, collection = 0]) => {
          // GRANT on the root scope stands for GRANT on every other one.
          const stood = effective(onCollection) | (mask & GRANT);
          const has = (effective(mask) & root) === root && (stood & collection) === collection;
          return [code, has ? '422 -100' : '403 -55'];
        });
        expect([mask, ...OPERATIONS.map(([code], i) => [code, verdicts[i]])]).toEqual([mask, ...expected]);
      }
    },
  );

  test('a collection is shown to those who may read it, run something in it, or change the root scope', async () => {
    for (const [root, collection, allowed] of [
      [QUERY, 0, false],
      [QUERY, CHANGE | GRANT | JOIN, false],
      [QUERY, QUERY, true],
      [QUERY, RUN, true],
      [QUERY | CHANGE, 0, true],
    ] as const) {
      await give('/t', root);
      await give('//stuff', collection);
      expect(await query('/t', "collection_info('stuff');")).toBe(allowed ? '200' : '403 -55');
      const answer = await node.query('/t', 'collections_info();', undefined, { authorization });
      expect(answer.text.includes('"stuff"')).toBe(allowed);
    }
  });

  test('tokens of others can neither be deleted nor be told from tokens that there are not', async () => {
    const token = String(await node.value('/t', "new_token('other');"));
    await give('/t', QUERY | CHANGE);
    const theirs = await node.query('/t', `del_token('${token}');`, undefined, { authorization });
    const nobodys = await node.query('/t', `del_token('${token.slice(0, 6)}${'x'.repeat(16)}');`, undefined, {
      authorization,
    });
    expect(theirs.verdict).toBe('404 -54');
    expect(nobodys.verdict).toBe('404 -54');
    const [one, two] = [theirs, nobodys].map(({ text }) => text.replace(/[A-Za-z0-9+/]{22}/, 'KEY'));
    expect(one).toBe(two);
  });

  test('nobody can take QUERY or GRANT from himself, or delete himself', async () => {
    await give('/t', FULL);
    for (const code of ["revoke('/t', 'user', 1);", "revoke('/t', 'user', 4);", "del_user('user');"]) {
      expect(await query('/t', code)).toBe('422 -63');
    }
  });
});

describe('GRANT on the root scope', () => {
  afterAll(async () => {
    await node.value('/t', "del_collection('hers');");
    await give('/t', 0);
  });

  test('is enough for a backup, whoever made collections of his own, and less is not', async () => {
    await node.value('/t', "new_user('owner'); grant('/t', 'owner', QUERY | CHANGE);");
    const owner = `Bearer ${await node.value('/t', "new_token('owner');")}`;
    await node.query('/t', "new_collection('hers');", undefined, { authorization: owner });
    const backup = async () => (await node.post('/@backup', '', { authorization })).verdict;
    await give('/t', GRANT);
    expect(await backup()).toBe('200');
    await give('/t', FULL - GRANT);
    expect(await backup()).toBe('403 -55');
    expect((await node.post('/@backup', '')).verdict).toBe('200');
  });

  test('gives and takes privileges on collections of others', async () => {
    await give('/t', QUERY | GRANT);
    expect(await query('//hers', '1;')).toBe('403 -55');
    expect(await query('/t', "grant('//hers', 'user', QUERY);")).toBe('200');
    expect(await query('//hers', '1;')).toBe('200');
    expect(await query('/t', "revoke('//hers', 'user', RUN); revoke('//hers', 'owner', FULL);")).toBe('200');
    await give('/t', QUERY | CHANGE);
    expect(await query('/t', "grant('//hers', 'user', FULL);")).toBe('403 -55');
  });
});

describe('what runs inside something else', () => {
  afterAll(async () => {
    await give('/t', 0);
    await give('//stuff', 0);
  });

  test('a procedure has the privileges of who calls it', async () => {
    await give('/t', RUN | CHANGE);
    await give('//stuff', QUERY | CHANGE);
    expect(await run('/t', 'grants')).toBe('403 -55');
    await give('//stuff', GRANT);
    expect(await run('/t', 'grants')).toBe('200');
  });

  test('who may only read changes nothing, by whatever detour', async () => {
    await give('//stuff', QUERY | RUN | JOIN);
    for (const code of [
      '.x = 1;',
      'sets(1);',
      '.closure.call(1);',
      "run('sets', 1);",
      '[1].map(|v| sets(v));',
      '[1].each(|v| .x = v);',
      'try(.x = 1);',
      'try(sets(1));',
      'f = |v| sets(v); f(1);',
      'if (false) {.x = 1;};',
      '`{sets(1)}`;',
      'writes();',
      'root().set("x", 1);',
      "thing(.id()).set('x', 1);",
    ]) {
      const verdict = await query('//stuff', code);
      expect([code, verdict === '200' ? 'allowed' : 'refused', await node.value('//stuff', '.x;')]).toEqual([
        code,
        // What is tried is refused inside.
        code === 'try(sets(1));' ? 'allowed' : 'refused',
        0,
      ]);
    }
    expect(await run('//stuff', 'sets')).toBe('403 -55');
    expect(await run('//stuff', 'calls')).not.toBe('200');
  });
});

describe('a change of privileges', () => {
  test('holds for the next request, and for those that are sent already on an open connection', async () => {
    await give('//stuff', QUERY);
    const connection = await node.open();
    const request = node.text('//stuff', '{"type":"query","code":"1;"}', { authorization });
    for (let i = 0; i < 5; i++) {
      await give('//stuff', QUERY);
      connection.send(request);
      expect((await connection.answer())?.status).toBe(200);
      await give('//stuff', RUN);
      connection.send(request);
      expect((await connection.answer())?.status).toBe(403);
    }
    connection.close();
  });
});
