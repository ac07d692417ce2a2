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
        // A missing name is told before a missing privilege, to everybody whom no whitelist narrows.
        runsUnknown: inNode ? '400 -53' : '404 -54',
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

describe('a scope or user without privileges on it', () => {
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
        const { status, text } = await node.run(`//${name}`, 'nix', undefined, { authorization });
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

  test('users are not told from missing ones without GRANT by what looks at them', async () => {
    await give('/t', QUERY | CHANGE);
    for (const call of ["user_info('NAME');", "has_user('NAME');"]) {
      const [there, missing] = await answers('admin', 'admix', (name) => ['/t', call.replace('NAME', name)]);
      expect([call, there]).toEqual([call, missing]);
    }
    await give('/t', 0);
  });

  test.each(["set_password('NAME', nil);", "new_token('NAME');"])(
    'a user that is there gets 403, one that is missing 404: %s',
    async (call) => {
      await give('/t', QUERY | CHANGE);
      const [there, missing] = await answers('admin', 'admix', (name) => ['/t', call.replace('NAME', name)]);
      expect([there?.slice(0, 3), missing?.slice(0, 3)]).toEqual(['403', '404']);
      await give('/t', 0);
    },
  );
});
