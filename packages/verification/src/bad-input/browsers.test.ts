/** Requests that web pages may send to a node by somebody's browser. */

import { RealNode } from '@althing/node/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const APP = 'https://app.example';
let node: RealNode;

beforeAll(async () => {
  node = await RealNode.start({ http_allowed_hosts: 'test', http_allowed_origins: APP });
  await node.value('//stuff', '.count = 0;');
});

afterAll(() => node.stop());

const COUNTING = '{"type":"query","code":".count += 1;"}';

const count = () => node.value('//stuff', '.count;');

/** A request whose body does not come; what is decided before is answered. */
function headAlone(headers: string, method = 'POST'): string {
  return (
    `${method} //stuff HTTP/1.1\r\n${headers}Authorization: ${node.authorization}\r\n` +
    'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n'
  );
}

async function verdictOf(text: string): Promise<string> {
  const connection = await node.open();
  connection.send(text);
  const answer = await connection.answer();
  await connection.closed();
  connection.close();
  return answer === null ? 'closed' : answer.verdict;
}

describe('a name that points to this machine', () => {
  test.each(['evil.example', 'evil.example:9210', '', '10.0.0.1'])(
    'Host: %s gets 421 before the body',
    async (host) => {
      expect(await verdictOf(headAlone(`Host: ${host}\r\n`))).toBe('421 -55');
    },
  );

  test.each(['localhost', '127.0.0.1:1', '[::1]:9210', 'test'])('Host: %s is served', async (host) => {
    const before = Number(await count());
    expect((await node.post('//stuff', COUNTING, { headers: { Host: host } })).status).toBe(200);
    expect(await count()).toBe(before + 1);
  });

  test('does not get the welcome page either', async () => {
    expect(await verdictOf('GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n')).toBe('421 -55');
  });
});

describe('a page', () => {
  test.each(['https://evil.example', 'null', 'http://test:81'])(
    'a page of %s gets 403 before the body',
    async (origin) => {
      expect(await verdictOf(headAlone(`Host: test\r\nOrigin: ${origin}\r\n`))).toBe('403 -55');
      expect(
        await verdictOf(
          `OPTIONS //stuff HTTP/1.1\r\nHost: test\r\nOrigin: ${origin}\r\nAccess-Control-Request-Method: POST\r\n\r\n`,
        ),
      ).toBe('403 -55');
    },
  );

  test('a page of this node is served, and needs no headers for it', async () => {
    const answer = await node.post('//stuff', COUNTING, { headers: { Host: 'test', Origin: 'http://test' } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, undefined]);
  });

  test('a page of a listed origin is served, and may read the answer, also an error', async () => {
    const good = await node.post('//stuff', COUNTING, { headers: { Origin: APP } });
    const bad = await node.post('//stuff', '{', { headers: { Origin: APP } });
    const none = await node.post('//stuff', COUNTING, { headers: { Origin: APP }, authorization: null });
    const nowhere = await node.post('//a/b', COUNTING, { headers: { Origin: APP } });
    expect([good, bad, none, nowhere].map(({ status }) => status)).toEqual([200, 400, 401, 404]);
    for (const { headers } of [good, bad, none, nowhere]) {
      expect(headers.get('access-control-allow-origin')).toBe(APP);
      expect(headers.get('vary')).toBe('Origin');
      expect(headers.get('access-control-expose-headers')).toContain('Althing-Index');
    }
  });

  test('a page of a listed origin may ask first', async () => {
    const connection = await node.open();
    connection.send(
      `OPTIONS //stuff HTTP/1.1\r\nHost: test\r\nOrigin: ${APP}\r\nAccess-Control-Request-Method: POST\r\n` +
        'Access-Control-Request-Headers: authorization,content-type\r\n\r\n',
    );
    const text = await connection.rest();
    connection.close();
    expect(text).toMatch(/^HTTP\/1\.1 204 /);
    expect(text).toContain(`Access-Control-Allow-Origin: ${APP}\r\n`);
    expect(text).toContain('Access-Control-Allow-Methods: POST, DELETE\r\n');
    expect(text).toMatch(/Access-Control-Allow-Headers: .*Authorization, Content-Type/);
  });
});
