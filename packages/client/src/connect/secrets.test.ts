/** No secret shows in anything that a program may print: errors with all that hangs on them, databases, and what hooks are told. */
import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type ConnectOptions, connect, type Database } from '../index.js';
import {
  type Answering,
  bytes,
  closedPort,
  FakeNode,
  failure,
  hangUp,
  silent,
} from '../testing/fake-node.js';

const TOKEN = 'never-shown-token';
const PASSWORD = 'never-shown-password';
/** As headers carry them, too. */
const SECRETS = [TOKEN, PASSWORD, Buffer.from(`ann:${PASSWORD}`).toString('base64')];

const nodes: FakeNode[] = [];
const databases: Database[] = [];

afterEach(async () => {
  await Promise.all(databases.splice(0).map((db) => db.$close()));
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

/** Ways to log in, given the URL of a node. */
const LOGINS: readonly (readonly [string, (url: string) => readonly [string, ConnectOptions]])[] = [
  ['a token', (url) => [url, { token: TOKEN }]],
  ['a password', (url) => [url, { user: 'ann', password: PASSWORD }]],
  ['a password in the URL', (url) => [url.replace('//', `//ann:${PASSWORD}@`), {}]],
  ['credentials()', (url) => [url, { credentials: async () => ({ token: TOKEN }) }]],
];

/** Tells all that it was sent. */
const echo: Answering = (response, asked) =>
  failure(403, -55, 'none', { message: JSON.stringify(asked.headers) })(response, asked);

const ANSWERS: readonly (readonly [string, Answering])[] = [
  ['an error that tells all headers', echo],
  ['wrong credentials', failure(401, -56, 'none')],
  ['no time', failure(503, -60, 'none')],
  ['a connection that is cut', hangUp],
  ['silence', silent],
  ['a page', bytes(200, `<html>${SECRETS.join()}`)],
  ['a page with an error', bytes(500, `<html>${SECRETS.join()}`)],
  ['a redirect', bytes(302, '', { Location: `http://ann:${PASSWORD}@127.0.0.1:1/` })],
];

/** All that a program may print of something. */
function textsOf(value: unknown): string {
  const seen: unknown[] = [];
  for (let each = value; each instanceof Error; each = each.cause) seen.push(each.stack, each.message);
  const json = JSON.stringify(value, (_, part) =>
    part instanceof Error ? Object.getOwnPropertyNames(part).map((name) => Reflect.get(part, name)) : part,
  );
  return [inspect(value, { showHidden: true, depth: 12 }), String(value), json, ...seen].join('\n');
}

async function allTextsOf(url: string, options: ConnectOptions): Promise<string> {
  const told: unknown[] = [];
  const hooks = {
    request: (...all: unknown[]) => void told.push(all),
    attempt: (...all: unknown[]) => void told.push(all),
    answer: (...all: unknown[]) => void told.push(all),
  };
  const db = connect(url, {
    ...options,
    hooks,
    attemptsMax: 1,
    timeoutMs: 200,
    nativePort: Number(new URL(url).port),
  });
  databases.push(db);
  const failed: unknown[] = [];
  const note = (error: unknown): void => void failed.push(error);
  await db.$root.query('1;').catch(note);
  await db.$login('ann', PASSWORD, { timeoutMs: 200 }).catch(note);
  await db.$close();
  await db.$root.query('1;').catch(note);
  expect(failed.length).toBeGreaterThanOrEqual(2);
  return [db, db.$root, ...failed, ...told].map(textsOf).join('\n');
}

describe.each(LOGINS)('%s shows in no text', (_, loginAt) => {
  test.each(ANSWERS)('behind %s', async (_name, answer) => {
    const node = await FakeNode.start(answer);
    nodes.push(node);
    const text = await allTextsOf(...loginAt(node.url));
    expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
  });

  test.each([
    ['no node', 'http', {}],
    ['TLS that the other side does not speak', 'https', {}],
    ['another protocol over TCP', 'http', { transport: 'tcp' }],
    ['another protocol over WebSocket', 'http', { transport: 'websocket' }],
  ] as const)('behind %s', async (name, scheme, options) => {
    const node = name === 'no node' ? null : await FakeNode.start(echo);
    if (node !== null) nodes.push(node);
    const [url, login] = loginAt(`${scheme}://127.0.0.1:${node?.port ?? (await closedPort())}`);
    const text = await allTextsOf(url, { ...login, ...options });
    expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
  });
});

test('a fault of the options is told without their values', () => {
  const wrong: readonly (readonly [string, ConnectOptions])[] = [
    [`ftp://ann:${PASSWORD}@host`, {}],
    [`http://ann:${PASSWORD}@host:99999`, {}],
    [`http://ann:${PASSWORD}@a,http://eve:other@b`, {}],
    ['http://host', { token: `${TOKEN} with blanks` }],
    ['http://host', { token: TOKEN, user: 'ann', password: PASSWORD }],
    [`http://ann:${PASSWORD}@host/?a=b#c`, { token: TOKEN }],
  ];
  for (const [url, options] of wrong) {
    let text = '';
    try {
      text = textsOf(connect(url, options));
    } catch (error) {
      text = textsOf(error);
    }
    expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
  }
});
