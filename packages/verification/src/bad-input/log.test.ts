/** Texts of clients must not get into the log where they do harm. */

import { basic, RealNode, until } from '@althing/node/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const EVIL = 'x\\r\\n{"level":"fatal","msg":"forged"}\\n\u001b[31m\u009b0m\u2028\u202e';

let node: RealNode;

beforeAll(async () => {
  node = await RealNode.start({ log_level: 'debug', log_format: 'json', login_backoff_ms: 0 });
});

afterAll(() => node.stop());

/** The lines of the log, each of which must be JSON. */
function lines(): Record<string, unknown>[] {
  return node.log
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** Waits until everything that happened so far is logged, or was lost because there was too much of it. */
async function settled(): Promise<void> {
  await until(async () => {
    const mark = `mark ${performance.now()}`;
    await node.value('//stuff', `log('${mark}');`);
    return node.log.includes(mark);
  }, 'the log is up to date');
}

describe('the log of a node', () => {
  test('is one object a line, whatever clients log, name or send', async () => {
    const text = EVIL.replaceAll('\\r', '\r').replaceAll('\\n', '\n');
    await node.value('//stuff', 'log(v);', { v: text });
    await node.value('//stuff', 'log(v);', { v: 'y'.repeat(1_000_000) });
    await node.value('//stuff', 'for (i in range(100)) {log(v);};', { v: text.repeat(100) });
    await node.query('//stuff', 'x;', { x: { [text]: text } });
    await node.post('//stuff', '{"type":"query","code":"1;"}', {
      authorization: basic('admin\u001b[31m', 'x\r\ny'),
      headers: { 'User-Agent': '{"level":"fatal"}\u009b', 'X-Forwarded-For': '"}\t{' },
    });
    const connection = await node.open();
    connection.send(`POST //stuff%0d%0a HTTP/1.1\r\nHost: "}{\r\nAuthorization: Basic "}{\r\n\r\n`);
    await connection.answer();
    connection.close();
    await settled();
    expect(node.log).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/);
    expect(lines().filter(({ level }) => level === 'fatal' || level === 'error')).toEqual([]);
    for (const line of node.log.split('\n')) expect(line.length).toBeLessThan(10_000);
  });

  test('holds no secrets', async () => {
    const secret = 'Very-Secret-1';
    const token = String(
      await node.value('/t', `new_user('user'); set_password('user', '${secret}'); new_token('user');`),
    );
    await node.post('//stuff', '{', { authorization: basic('user', secret) });
    await node.post('//stuff', '{', { authorization: `Bearer ${token}` });
    await node.post('//stuff', '{', { authorization: `Bearer ${token}x` });
    await settled();
    for (const text of [secret, token, Buffer.from(`user:${secret}`).toString('base64')]) {
      expect(node.log).not.toContain(text);
    }
  });

  test('a flood of lines does not hold up the node', async () => {
    const begun = performance.now();
    await node.value('//stuff', "for (i in range(20000)) {log('a line that says little');};");
    expect(performance.now() - begun).toBeLessThan(5000);
    await settled();
    lines();
  });
});

describe('answers', () => {
  test('show nothing of the inside', async () => {
    for (const body of ['{', '[]', '{"type":"query","code":"("}', '{"type":"query","code":"x.y.z();"}']) {
      for (const path of ['//stuff', '/t', '/n', '//nix', '/%zz']) {
        const { text } = await node.post(path, body);
        expect(text).not.toMatch(/node_modules|\.js|\.ts|file:|\/dist|althing-test|at [A-Z]\w+\./);
      }
    }
  });
});
