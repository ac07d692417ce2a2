/** Requests that are malformed as HTTP, or say where they end in more than one way. */

import { RealNode } from '@althing/node/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const MAX = 100_000;
let node: RealNode;

beforeAll(async () => {
  node = await RealNode.start({
    request_size_limit: MAX,
    code_size_limit: MAX,
    body_timeout_ms: 300,
  });
  await node.value('//stuff', '.count = 0;');
});

afterAll(async () => {
  expect(await node.value('//stuff', '1 + 1;')).toBe(2);
  expect(node.memory.nowMb).toBeLessThan(300);
  await node.stop();
});

const BODY = '{"type":"query","code":"1 + 1;"}';
const COUNTING = '{"type":"query","code":".count += 1;"}';

/** The head of a request without its end: more headers may follow. */
function head(path = '//stuff', method = 'POST'): string {
  return (
    `${method} ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: ${node.authorization}\r\n` +
    'Content-Type: application/json\r\n'
  );
}

const withLength = (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`;

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

/** The answers on a connection on which something was sent, until it is closed or nothing follows an innocent request. */
async function answersTo(...segments: string[]): Promise<string[]> {
  const connection = await node.open();
  try {
    const answers: string[] = [];
    for (const segment of segments) {
      connection.send(segment);
      for (let answer = await connection.answer(); ; answer = await connection.answer()) {
        if (answer === null) return [...answers, 'closed'];
        answers.push(String(answer.status));
        if (connection.unread === 0) break;
      }
    }
    return answers;
  } finally {
    connection.close();
  }
}

/** The one answer to something, and that the connection is closed behind it. */
async function closingAnswerTo(text: string): Promise<string> {
  const connection = await node.open();
  connection.send(text);
  try {
    const answer = await connection.answer();
    await connection.closed();
    expect(connection.unread).toBe(0);
    return answer === null ? 'closed' : String(answer.status);
  } finally {
    connection.close();
  }
}

const count = async () => Number(await node.value('//stuff', '.count;'));

describe('the length of a request', () => {
  test.each(['-1', '+30', '1e3', '0x20', '32, 32', '32 32', 'abc', '3 2', '99999999999999999999'])(
    'Content-Length: %s is refused',
    async (length) => {
      expect(await closingAnswerTo(`${head()}Content-Length: ${length}\r\n\r\n${BODY}`)).toBe('400');
    },
  );

  test('10 GB are refused before they come', async () => {
    expect(await closingAnswerTo(`${head()}Content-Length: 10000000000\r\n\r\n`)).toBe('413');
  });

  test('a request of as many bytes as allowed is taken, and one with one more is not', async () => {
    const body = (size: number) => BODY.padEnd(size, ' ');
    expect(await answersTo(head() + withLength(body(MAX)))).toEqual(['200']);
    expect(await closingAnswerTo(head() + withLength(body(MAX + 1)))).toBe('413');
  });

  test('chunks without end are refused where the limit is', async () => {
    const connection = await node.open();
    connection.send(`${head()}Transfer-Encoding: chunked\r\n\r\n`);
    const piece = chunk(' '.repeat(10_000));
    for (let i = 0; i < 11; i++) await connection.sendAll(piece);
    expect((await connection.answer())?.status).toBe(413);
    await connection.closed();
    connection.close();
  });

  test.each(['', 'Content-Length: 0\r\n'])(
    'a request without a body (%p) is bad data, and the connection ends: its length may be hidden',
    async (header) => {
      expect(await closingAnswerTo(`${head()}${header}\r\n`)).toBe('400');
    },
  );
});

describe('a body that does not come', () => {
  test.each([
    ['at all', 'Content-Length: 50\r\n\r\n'],
    ['whole', `Content-Length: 50\r\n\r\n${BODY}`],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n'],
    ['to its last chunk', `Transfer-Encoding: chunked\r\n\r\n${chunk(BODY)}`],
  ])('%s is given up after body_timeout_ms', async (_what, rest) => {
    const begun = performance.now();
    expect(await closingAnswerTo(head() + rest)).toBe('408');
    expect(performance.now() - begun).toBeGreaterThan(290);
  });

  test('a body that does not come in time is given up all the same when it trickles', async () => {
    const connection = await node.open();
    connection.send(`${head()}Content-Length: 5000\r\n\r\n`);
    const trickle = setInterval(() => connection.send(' '), 20);
    try {
      expect((await connection.answer())?.status).toBe(408);
    } finally {
      clearInterval(trickle);
      connection.close();
    }
  });

  test('because the client went away does no harm', async () => {
    for (let i = 0; i < 50; i++) {
      const connection = await node.open();
      await connection.sendAll(`${head()}Content-Length: 50000\r\n\r\n${' '.repeat(20_000)}`);
      connection.close();
    }
    expect(await answersTo(head() + withLength(BODY))).toEqual(['200']);
  });
});

describe('chunks', () => {
  const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n';

  test('are put together; the connection ends with the answer', async () => {
    const pieces = BODY.match(/.{1,7}/g) ?? [];
    expect(await closingAnswerTo(`${head()}${CHUNKED}${pieces.map(chunk).join('')}0\r\n\r\n`)).toBe('200');
  });

  test.each(['zz', '-1', 'ffffffffffffffff', '1ffffffffffffffff', ''])(
    'a chunk of size %p is refused',
    async (size) => {
      expect(['400', '408', '505', 'closed']).toContain(
        await closingAnswerTo(`${head()}${CHUNKED}${size}\r\n${BODY}\r\n0\r\n\r\n`),
      );
    },
  );

  test('chunks with extensions are not understood', async () => {
    const chunks = `${BODY.length.toString(16)};name=value\r\n${BODY}\r\n0\r\n\r\n`;
    expect(['400', '408']).toContain(await closingAnswerTo(`${head()}${CHUNKED}${chunks}`));
  });
});

describe('one request never becomes two', () => {
  /** A request that counts, hidden somewhere. */
  const hidden = () => head() + withLength(COUNTING);

  test.each<[string, () => string]>([
    [
      'Content-Length and Transfer-Encoding',
      () => `${head()}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden()}`,
    ],
    [
      'Transfer-Encoding and Content-Length',
      () => `${head()}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden()}`,
    ],
    [
      'two lengths, the smaller first',
      () => `${head()}Content-Length: 0\r\nContent-Length: 500\r\n\r\n${hidden()}`,
    ],
    [
      'two lengths, the smaller last',
      () => `${head()}Content-Length: 500\r\nContent-Length: 0\r\n\r\n${hidden()}`,
    ],
    ['an empty length', () => `${head()}Content-Length: \r\n\r\n${hidden()}`],
    ['two equal lengths', () => `${head()}Content-Length: 0\r\nContent-Length: 0\r\n\r\n${hidden()}`],
    ['an unknown coding', () => `${head()}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden()}`],
    ['two codings', () => `${head()}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden()}`],
    [
      'a coding before the chunks',
      () => `${head()}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${hidden()}`,
    ],
    ['no coding', () => `${head()}Transfer-Encoding: identity\r\n\r\n${hidden()}`],
    [
      'a coding that comes twice',
      () => `${head()}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden()}`,
    ],
    [
      'a coding in a method without body',
      () => `${head('//stuff', 'GET')}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden()}`,
    ],
    ['trailers', () => `${head()}Transfer-Encoding: chunked\r\n\r\n${chunk(BODY)}0\r\nX:${hidden()}`],
    [
      'trailers behind an unknown path',
      () => `${head('//..')}Transfer-Encoding: chunked\r\n\r\n${chunk(BODY)}0\r\nX:${hidden()}`,
    ],
    [
      'trailers behind another method',
      () => `${head('/', 'GET')}Transfer-Encoding: chunked\r\n\r\n${chunk(BODY)}0\r\nX:${hidden()}`,
    ],
    [
      'trailers without credentials',
      () =>
        `${head().replace('Authorization', 'X-Authorization')}Transfer-Encoding: chunked\r\n\r\n` +
        `${chunk(BODY)}0\r\nX:${hidden()}`,
    ],
    [
      'what follows a request that is too large',
      () => `${head()}Content-Length: 10000000\r\n\r\n${hidden()}`,
    ],
  ])('%s', async (_what, text) => {
    const before = await count();
    const verdict = await closingAnswerTo(text());
    expect(['400', '408', '413', '505', 'closed']).toContain(verdict);
    expect(await count()).toBe(before);
  });

  test('trailers that come later are not taken for a request either', async () => {
    const before = await count();
    const connection = await node.open();
    connection.send(`${head()}Transfer-Encoding: chunked\r\n\r\n${chunk(BODY)}0\r\nX:`);
    const answer = await connection.answer();
    connection.send(hidden());
    await connection.closed();
    expect(answer?.status).toBe(200);
    expect(connection.unread).toBe(0);
    expect(await count()).toBe(before);
    connection.close();
  });

  test('bytes behind a body are no part of it', async () => {
    const garbage = 'XYZ HTTP/9\r\n\r\n';
    expect(await answersTo(head() + withLength(BODY), garbage)).toEqual(['200', '505']);
  });
});

describe('bytes that are no request', () => {
  test.each([
    ['zeros', '\0\0\0\0\r\n\r\n'],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/1.0', 'POST //stuff HTTP/1.0\r\nHost: x\r\n\r\n'],
    ['no Host', 'POST //stuff HTTP/1.1\r\nContent-Length: 0\r\n\r\n'],
    ['an absolute URL', 'POST http://test//stuff HTTP/1.1\r\nHost: test\r\n\r\n'],
    ['a path without slash', 'POST stuff HTTP/1.1\r\nHost: test\r\n\r\n'],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n'],
    ['line feeds alone', 'POST //stuff HTTP/1.1\nHost: test\n\n'],
  ])('%s: refused and closed', async (_what, text) => {
    expect(['400', '505', 'closed']).toContain(await closingAnswerTo(text));
  });

  test('too many headers, too long ones, and too long a path', async () => {
    const line = (size: number) => `X-A: ${'a'.repeat(size)}\r\n`;
    expect(await answersTo(head() + line(1).repeat(50) + withLength(BODY))).toEqual(['200']);
    // The cookies of other programs on the same host name.
    expect(await answersTo(head() + line(15_000) + withLength(BODY))).toEqual(['200']);
    for (const text of [
      head() + line(1).repeat(200) + withLength(BODY),
      head() + line(65_536) + withLength(BODY),
      head(`/${'a'.repeat(16_384)}`) + withLength(BODY),
    ]) {
      expect(['431', 'closed']).toContain(await closingAnswerTo(text));
    }
  });

  test('bytes that the parser does not accept within a head get no answer, and the connection ends after ten seconds', async () => {
    const heads = [
      'X-A: b\r\n folded\r\n',
      'X-A: a\nX-B: b\r\n',
      'Content-Length : 5\r\n',
      'X-A: a\0b\r\n',
      'X-A: a\rb\r\n',
      'X-A\r\n',
      'X A: b\r\n',
    ].map((line) => head() + line + withLength(COUNTING));
    // And a head that never ends, one of an old time, and a connection that says nothing.
    const texts = [...heads, head(), 'GET /\r\n\r\n', ''];
    const before = await count();
    const begun = performance.now();
    const outcomes = await Promise.all(
      texts.map(async (text) => {
        const connection = await node.open();
        connection.send(text);
        const trickle = setInterval(() => text === head() && connection.send('x'), 1000);
        const answer = await connection.answer(25_000).finally(() => clearInterval(trickle));
        connection.close();
        return answer?.status ?? 'closed';
      }),
    );
    for (const outcome of outcomes) expect(['closed', 400, 505]).toContain(outcome);
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(await count()).toBe(before);
  });
});

describe('methods and headers that ask for something else', () => {
  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT', 'FOO', 'post'])(
    '%s is not allowed',
    async (method) => {
      const connection = await node.open();
      connection.send(`${method} //stuff HTTP/1.1\r\nHost: test\r\n\r\n`);
      const answer = await connection.answer();
      expect(answer?.status).toBe(405);
      expect(answer?.headers.get('allow')).toBe('POST');
      expect(answer?.error.code).toBe(-53);
      connection.close();
    },
  );

  test('the answer to HEAD has no body', async () => {
    const connection = await node.open();
    connection.send('HEAD //stuff HTTP/1.1\r\nHost: test\r\n\r\n');
    expect(await connection.rest()).toMatch(/^HTTP\/1.1 405 [\s\S]*\r\n\r\n$/);
  });

  test('headers that override the method, upgrade, or open a websocket are ignored', async () => {
    for (const extra of [
      'X-HTTP-Method-Override: DELETE\r\n',
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: zz\r\nSec-WebSocket-Version: 13\r\n',
      'X-Forwarded-Host: evil\r\nForwarded: for=evil\r\n',
    ]) {
      expect(await answersTo(head() + extra + withLength(BODY))).toEqual(['200']);
    }
  });

  test('Expect: 100-continue gets its go-ahead', async () => {
    const connection = await node.open();
    connection.send(`${head()}Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n`);
    expect((await connection.answer())?.status).toBe(100);
    connection.send(BODY);
    expect((await connection.answer())?.text).toBe('2');
    connection.close();
  });
});
