/** The password that everybody knows: nothing that is open to a network has it, whenever it came there. */

import { basic, RealNode, type TestSettings, until } from '@althing/node/testing';
import { afterEach, describe, expect, test } from '@jest/globals';

const ONE = '{"type":"query","code":"1;"}';
const OPEN: TestSettings = { bind_client_addr: '0.0.0.0', admin_password: 'long enough' };
const nodes: RealNode[] = [];

afterEach(async () => {
  for (const node of nodes.splice(0)) {
    await node.kill();
    node.clear();
  }
});

async function start(settings: TestSettings, earlier?: RealNode): Promise<RealNode> {
  const node = await RealNode.start(settings, earlier?.folder, earlier?.authorization);
  nodes.push(node);
  return node;
}

/** The outcome of a start that should fail: the exit code, and the log. */
async function failedStart(settings: TestSettings, earlier?: RealNode) {
  const node = await RealNode.launch(settings, earlier?.folder);
  nodes.push(node);
  return { code: await node.ended(), log: node.log };
}

/** A node that was used on loopback, and has stopped. */
async function usedOnLoopback(...codes: string[]): Promise<RealNode> {
  const node = await start({});
  for (const code of codes) await node.value('/t', code);
  await node.stop({ keep: true });
  return node;
}

describe('a node that is opened to a network', () => {
  test('does not serve while admin has the default password, whatever the settings say', async () => {
    const earlier = await usedOnLoopback();
    const { code, log } = await failedStart(OPEN, earlier);
    expect(code).toBe(2);
    expect(log).toContain("users with privileges have the default password: 'admin'");
    expect(log).toContain('bind_client_addr = 127.0.0.1');
    expect(log).not.toContain(':pass');
  });

  test('nor while another user has it who may do something', async () => {
    const earlier = await usedOnLoopback(
      "set_password('admin', 'another one');",
      "new_user('idle'); set_password('idle', 'pass'); new_user('anna'); set_password('anna', 'pass');",
      "grant('//stuff', 'anna', QUERY);",
    );
    const { code, log } = await failedStart(OPEN, earlier);
    expect([code, log.includes("default password: 'anna'.")]).toEqual([2, true]);
  });

  test('serves when only users have it who may do nothing, and lets nobody in with it', async () => {
    const earlier = await usedOnLoopback(
      "set_password('admin', 'another one'); new_user('idle'); set_password('idle', 'pass');",
    );
    const node = await start({ ...OPEN, login_backoff_ms: 0 }, earlier);
    await node.value('/t', "grant('//stuff', 'idle', QUERY);");
    const statusOf = async (name: string, password: string) =>
      (await node.post('//stuff', ONE, { authorization: basic(name, password) })).status;
    expect(await statusOf('idle', 'pass')).toBe(401);
    expect(await statusOf('admin', 'another one')).toBe(200);
    await node.stop({ keep: true });
  });

  test.each(['pass', 'short', '7 chars'])(
    'does not start with admin_password = %s, also later',
    async (password) => {
      const settings = { bind_client_addr: '0.0.0.0', admin_password: password };
      const fresh = await failedStart(settings);
      expect([fresh.code, fresh.log.includes('admin_password must have 8 characters')]).toEqual([2, true]);
      expect(fresh.log).not.toContain(password === 'pass' ? "'pass'" : password);
      const later = await failedStart(
        settings,
        await usedOnLoopback("set_password('admin', 'another one');"),
      );
      expect(later.code).toBe(2);
    },
  );
});

test('only the first start on loopback tells the default password', async () => {
  const first = await start({});
  await until(() => first.log.includes('"try"'), 'the hint');
  await first.stop({ keep: true });
  const second = await start({}, first);
  await until(() => second.log.includes('default_password'), 'the warning');
  expect(second.log).not.toMatch(/:pass|'pass'|"pass"/);
  await second.stop({ keep: true });
});
