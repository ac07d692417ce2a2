/**
 * Attempts to let one request become two, or to hide headers: what a proxy in front could read in another way than a node
 * does. Each is sent whole, cut in two, with another request behind it, and none of these may take effect.
 */

import { RealNode, until } from '@althing/node/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

let node: RealNode;

beforeAll(async () => {
  node = await RealNode.start();
  await node.value('//stuff', '.count = 0;');
});

afterAll(() => node.stop());

const BODY = '{"type":"query","code":"1 + 1;"}';
const COUNTING = '{"type":"query","code":".count += 1;"}';

/** The head of a request without its end. */
function head(target = '//stuff', method = 'POST', host = 'Host: test\r\n'): string {
  return (
    `${method} ${target} HTTP/1.1\r\n${host}Authorization: ${node.authorization}\r\n` +
    'Content-Type: application/json\r\n'
  );
}

const withLength = (body: string): string => `Content-Length: ${body.length}\r\n\r\n${body}`;

const whole = (body: string): string => head() + withLength(body);

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

/** A request that must not be taken for one. */
const hidden = (): string => whole(COUNTING);

const count = async (): Promise<number> => Number(await node.value('//stuff', '.count;'));

/**
 * Sends pieces, each in a segment of its own as far as the system lets it, and then no more. Gives the status of all
 * answers, in their order.
 */
async function answersTo(...pieces: string[]): Promise<number[]> {
  const connection = await node.open();
  try {
    for (const piece of pieces) {
      await connection.sendAll(piece);
      await new Promise(setImmediate);
    }
    connection.finish();
    const text = await connection.rest(15_000);
    return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  } finally {
    connection.close();
  }
}

/** A header without a name hides what stands behind it from the parser. */
const EMPTY_NAMES: [string, () => string][] = [
  ['a length behind an empty name', () => `${head('/', 'GET')}: x\r\n${withLength(hidden())}`],
  ['a length behind an empty name and value', () => `${head('/', 'GET')}:\r\n${withLength(hidden())}`],
  ['a length behind an empty name, POST', () => `${head()}: x\r\n${withLength(hidden())}`],
  [
    'a length of 0 before an empty name',
    () => `${head()}Content-Length: 0\r\n: x\r\n${withLength(hidden())}`,
  ],
  [
    'a coding behind an empty name',
    () => `${head()}: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(hidden())}0\r\n\r\n`,
  ],
  [
    'a coding behind a length and an empty name',
    () =>
      `${head()}Content-Length: 4\r\n: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(hidden())}0\r\n\r\n`,
  ],
  [
    'a coding behind a length and an empty name, without credentials',
    () =>
      'POST //stuff HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n: x\r\n' +
      `Transfer-Encoding: chunked\r\n\r\n${chunk(hidden())}0\r\n\r\n`,
  ],
  [
    'a coding behind a length and an empty name, at a path that is none',
    () =>
      `${head('//a/b')}Content-Length: 4\r\n: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(hidden())}0\r\n\r\n`,
  ],
  ['a length behind an empty name, HEAD', () => `${head('/', 'HEAD')}: x\r\n${withLength(hidden())}`],
  ['a length behind an empty name, OPTIONS', () => `${head('/', 'OPTIONS')}: x\r\n${withLength(hidden())}`],
  ['a length behind an empty name, backup', () => `${head('/@backup')}: x\r\n${withLength(hidden())}`],
];

const OTHERS: [string, () => string][] = [
  ['two Host', () => head('//stuff', 'POST', 'Host: test\r\nHost: test\r\n') + withLength(COUNTING)],
  ['two different Host', () => `${head()}Host: other\r\n${withLength(COUNTING)}`],
  [
    'two lengths, the smaller first',
    () => `${head()}Content-Length: 0\r\nContent-Length: 500\r\n\r\n${hidden()}`,
  ],
  [
    'two lengths, the smaller last',
    () => `${head()}Content-Length: 500\r\nContent-Length: 0\r\n\r\n${hidden()}`,
  ],
  ['two equal lengths', () => `${head()}Content-Length: 0\r\nContent-Length: 0\r\n\r\n${hidden()}`],
  ['two lengths in one', () => `${head()}Content-Length: 0, 500\r\n\r\n${hidden()}`],
  ['an empty length', () => `${head()}Content-Length:\r\n\r\n${hidden()}`],
  ['a length of 0', () => `${head()}Content-Length: 0\r\n\r\n${hidden()}`],
  ['no length', () => `${head()}\r\n${hidden()}`],
  ...['+0', '-0', '0x0', '0.0', '0e1', '00 0', '0;', 'abc', '18446744073709551616'].map(
    (length): [string, () => string] => [
      `a length of ${length}`,
      () => `${head()}Content-Length: ${length}\r\n\r\n${hidden()}`,
    ],
  ),
  ['Content_Length', () => `${head()}Content_Length: 500\r\n\r\n${hidden()}`],
  ['a blank before the colon of a length', () => `${head()}Content-Length : 500\r\n\r\n${hidden()}`],
  ['a tab before the colon of a length', () => `${head()}Content-Length\t: 500\r\n\r\n${hidden()}`],
  ['a blank before the name of a length', () => `${head()}X: y\r\n Content-Length: 500\r\n\r\n${hidden()}`],
  ['a folded length', () => `${head()}Content-Length:\r\n 500\r\n\r\n${hidden()}`],
  ['a folded coding', () => `${head()}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${hidden()}`],
  ['a length behind a bare line feed', () => `${head()}X: y\nContent-Length: 500\r\n\r\n${hidden()}`],
  ['a length behind a bare carriage return', () => `${head()}X: y\rContent-Length: 500\r\n\r\n${hidden()}`],
  ['a length behind a zero', () => `${head()}X: y\0Content-Length: 500\r\n\r\n${hidden()}`],
  ['a zero in a name', () => `${head()}X\0: y\r\nContent-Length: 500\r\n\r\n${hidden()}`],
  ['a head that ends with line feeds', () => `${head()}X: y\n\n${hidden()}`],
  ['a line without a colon', () => `${head()}Content-Length 500\r\n\r\n${hidden()}`],
  ['both', () => `${head()}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden()}`],
  [
    'both, the other way',
    () => `${head()}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden()}`,
  ],
  ['both, the coding empty', () => `${head()}Transfer-Encoding:\r\nContent-Length: 0\r\n\r\n${hidden()}`],
  ...[
    'xchunked',
    'chunked, identity',
    'identity',
    'gzip, chunked',
    '"chunked"',
    'chunked\x0b',
    ' , chunked',
  ].map((coding): [string, () => string] => [
    `the coding ${JSON.stringify(coding)}`,
    () => `${head()}Transfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n${hidden()}`,
  ]),
  [
    'two codings',
    () => `${head()}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${hidden()}`,
  ],
  ['chunks with extensions', () => `${head()}Transfer-Encoding: chunked\r\n\r\n0;a=b\r\n\r\n${hidden()}`],
  ['an extension with a line feed', () => `${head()}Transfer-Encoding: chunked\r\n\r\n0;a\n\r\n${hidden()}`],
  ['chunks with line feeds', () => `${head()}Transfer-Encoding: chunked\r\n\r\n0\n\n${hidden()}`],
  [
    'a chunk that is too long',
    () => `${head()}Transfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n0\r\n\r\n${hidden()}`,
  ],
  ['a chunk of size 0x0', () => `${head()}Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n${hidden()}`],
  ['trailers', () => `${head()}Transfer-Encoding: chunked\r\n\r\n${chunk(BODY)}0\r\nX:${hidden()}`],
  [
    'what is behind chunks',
    () => `${head()}Transfer-Encoding: chunked\r\n\r\n${chunk(BODY)}0\r\n\r\n${hidden()}`,
  ],
  ['an absolute target', () => head('http://test//stuff') + withLength(COUNTING)],
  ['an absolute target of another host', () => head('http://other//stuff') + withLength(COUNTING)],
  ['HTTP/1.0', () => whole(COUNTING).replace('HTTP/1.1', 'HTTP/1.0')],
  ['HTTP/1.19', () => whole(COUNTING).replace('HTTP/1.1', 'HTTP/1.19')],
  ['a method with a body that has none', () => `${head('/', 'GET')}\r\n${hidden()}`],
  ['Upgrade', () => `${head('/', 'GET')}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n${hidden()}`],
];

async function expectRefused(texts: readonly (readonly string[])[]): Promise<void> {
  const before = await count();
  const answers = await Promise.all(texts.map((pieces) => answersTo(...pieces)));
  for (const [at, statuses] of answers.entries()) {
    const what = JSON.stringify(texts[at]);
    if (statuses.length > 1) throw new Error(`${statuses.length} answers (${statuses}) to ${what}`);
  }
  expect(await count()).toBe(before);
}

const PARALLEL = 64;

/** A text cut in two, at every so many bytes. */
function cuts(text: string, step: number, first = 1): string[][] {
  const all: string[][] = [];
  for (let at = first; at < text.length; at += step) all.push([text.slice(0, at), text.slice(at)]);
  return all;
}

async function expectAllRefused(texts: readonly (readonly string[])[]): Promise<void> {
  for (let at = 0; at < texts.length; at += PARALLEL) await expectRefused(texts.slice(at, at + PARALLEL));
}

describe('a header without a name', () => {
  test.each(EMPTY_NAMES)('%s', async (_what, text) => {
    await expectRefused([[text()], [text() + hidden()], [text(), hidden()]]);
  });

  test.each(EMPTY_NAMES)('%s, cut in two at every byte', async (_what, text) => {
    await expectAllRefused(cuts(text(), 1));
  });

  test.each(EMPTY_NAMES)('%s, with the answer in between', async (_what, text) => {
    // The bytes that a proxy takes for the body may come when the answer has left.
    const before = await count();
    const all = text();
    const end = all.indexOf('\r\n\r\n') + 4;
    const connection = await node.open();
    connection.send(all.slice(0, end));
    await until(() => connection.unread > 0 || connection.isClosed, 'an answer').catch(() => {});
    connection.send(all.slice(end));
    connection.send(hidden());
    await connection.closed(15_000);
    connection.close();
    expect(await count()).toBe(before);
  });
});

describe('heads that can be read in two ways', () => {
  test.each(OTHERS)('%s', async (_what, text) => {
    await expectRefused([[text()], [text() + hidden()], [text(), hidden()]]);
  });

  test.each(OTHERS)('%s, cut in two', async (what, text) => {
    await expectAllRefused(cuts(text(), 17, 1 + (what.length % 17)));
  });

  test.each([
    'Host: test\r\nHost: test\r\n',
    'Host: test\r\nHost: other\r\n',
    'Host: test\r\nX: y\r\nHost:\r\n',
  ])('%j gets 400, and the connection ends', async (hosts) => {
    expect(await answersTo(head('//stuff', 'POST', hosts) + withLength(BODY))).toEqual([400]);
  });
});

describe('a head that is clear', () => {
  test('goes on: requests on one connection, one after the other and in one segment', async () => {
    expect(await answersTo(whole(BODY).repeat(5))).toEqual([200, 200, 200, 200, 200]);
    const connection = await node.open();
    for (let i = 0; i < 5; i++) {
      connection.send(whole(BODY));
      expect((await connection.answer())?.status).toBe(200);
    }
    connection.close();
  });

  test('goes on behind a refusal, too', async () => {
    const refused = `POST //stuff HTTP/1.1\r\nHost: test\r\n${withLength(BODY)}`;
    const wrong = `POST //stuff HTTP/1.1\r\nHost: test\r\nContent-Type: text/plain\r\nAuthorization: ${node.authorization}\r\n${withLength(BODY)}`;
    expect(await answersTo(refused + wrong + whole(BODY))).toEqual([401, 415, 200]);
  });

  test('is understood wherever it is cut behind the request line', async () => {
    const text = whole(BODY);
    const texts = cuts(text, 1, text.indexOf('\r\n') + 2);
    for (let at = 0; at < texts.length; at += PARALLEL) {
      const some = texts.slice(at, at + PARALLEL);
      // Not finished at once: an answer that is computed gets lost with the end of the connection.
      const answers = await Promise.all(
        some.map(async ([first = '', second = '']) => {
          const connection = await node.open();
          await connection.sendAll(first);
          await new Promise(setImmediate);
          connection.send(second);
          const answer = await connection.answer();
          connection.close();
          return answer?.status;
        }),
      );
      expect(answers).toEqual(some.map(() => 200));
    }
  });
});
