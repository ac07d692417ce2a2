import { afterEach, describe, expect, test } from '@jest/globals';
import { basic, type RawConnection, RealNode, until } from '../../testing/index.js';
import { ClientAddresses, plainAddress } from './client-addresses.js';

let node: RealNode | null = null;

afterEach(async () => {
  await node?.stop();
  node = null;
});

describe('the address of a client', () => {
  const clients = new ClientAddresses(['10.0.0.0/8', '192.0.2.1', 'fd00::/8']);

  test.each([
    ['nobody in between', '198.51.100.7', '', '', '198.51.100.7'],
    ['a stranger who says something', '198.51.100.7', '203.0.113.9', '203.0.113.9', '198.51.100.7'],
    ['a proxy', '10.1.2.3', '', '203.0.113.9', '203.0.113.9'],
    ['a proxy that says nothing', '10.1.2.3', '', '', '10.1.2.3'],
    ['two proxies', '192.0.2.1', '', '203.0.113.9, 10.7.7.7', '203.0.113.9'],
    ['what the client wrote itself', '10.1.2.3', '', '127.0.0.1, 203.0.113.9', '203.0.113.9'],
    ['what the client wrote itself, a proxy', '10.1.2.3', '', '10.0.0.1, 203.0.113.9', '203.0.113.9'],
    ['a client that is a proxy', '10.1.2.3', '', '10.9.9.9', '10.9.9.9'],
    ['words', '10.1.2.3', '', '203.0.113.9, unknown', '10.1.2.3'],
    ['ports', '10.1.2.3', '', '203.0.113.9:4711', '203.0.113.9'],
    ['ports behind brackets', '10.1.2.3', '', '[2001:db8::1]:4711', '2001:db8::1'],
    ['IPv6', 'fd00::5', '', '2001:DB8:0:0::1', '2001:db8::1'],
    ['the PROXY protocol', '10.1.2.3', '203.0.113.9', '', '203.0.113.9'],
    ["the PROXY protocol of a stranger's stranger", '10.1.2.3', '203.0.113.9', '198.51.100.7', '203.0.113.9'],
    ['the PROXY protocol of a proxy', '10.1.2.3', '10.4.4.4', '198.51.100.7', '198.51.100.7'],
    ['another network', '11.1.2.3', '', '203.0.113.9', '11.1.2.3'],
  ])('the address of a client is found with %s', (_what, peer, proxied, forwardedFor, expected) => {
    expect(clients.behind(peer, proxied, forwardedFor)).toBe(expected);
  });

  test('is written in one way', () => {
    expect(plainAddress('0000:0000:0000:0000:0000:ffff:0a01:0203')).toBe('10.1.2.3');
    expect(plainAddress('2001:0DB8:0000:0000:0000:0000:0000:0001')).toBe('2001:db8::1');
    expect(plainAddress('nobody')).toBe(null);
    expect(plainAddress('fe80::1%eth0')).toBe(null);
  });
});

describe('a node behind proxies', () => {
  const ONE = '{"type":"query","code":"1;"}';
  const wrong = (headers: Record<string, string> = {}) => ({
    authorization: basic('admin', 'wrong'),
    headers,
  });

  const failures = (): unknown[] =>
    (node?.log ?? '')
      .split('\n')
      .filter((line) => line.includes('"login"') && line.includes('"failed"'))
      .map((line) => (JSON.parse(line) as { address: unknown }).address);

  async function tells(address: string): Promise<void> {
    await until(() => failures().length > 0, 'the failed login is told');
    expect(failures()).toEqual([address]);
  }

  test('takes the address from X-Forwarded-For', async () => {
    node = await RealNode.start({ trusted_proxies: '127.0.0.0/8' });
    const headers = { 'X-Forwarded-For': '192.0.2.66, 203.0.113.9' };
    expect((await node.post('/n', ONE, wrong(headers))).status).toBe(401);
    await tells('203.0.113.9');
  });

  test('does not believe others', async () => {
    node = await RealNode.start({ trusted_proxies: '10.0.0.0/8' });
    const connection = await node.open();
    connection.send(proxyHeader(203)).send(node.text('/n', ONE, wrong({ 'X-Forwarded-For': '203.0.113.9' })));
    expect((await connection.answer())?.status).toBe(401);
    await tells('127.0.0.1');
  });

  test('slows the failed logins of each client down, and not those of others behind the same proxy', async () => {
    node = await RealNode.start({
      trusted_proxies: '127.0.0.1',
      login_backoff_ms: 60_000,
      login_backoff_limit_ms: 60_000,
    });
    const served = node;
    const ask = async (address: string, name: string): Promise<RawConnection> => {
      const headers = { 'X-Forwarded-For': address };
      const options = { authorization: basic(name, 'wrong'), headers };
      return (await served.open()).send(served.text('/n', ONE, options));
    };
    // As many as may wait for their answer.
    const waiting = await Promise.all(Array.from({ length: 8 }, (_, i) => ask('203.0.113.9', `user${i}`)));
    let more = 0;
    await until(async () => {
      more += 1;
      const connection = await ask('203.0.113.9', `another${more}`);
      const answer = await connection.answer(500).catch(() => null);
      connection.close();
      return answer?.status === 429;
    }, 'no more of them are taken');
    const other = await ask('203.0.113.10', 'user0');
    await expect(other.answer(300)).rejects.toThrow('in vain');
    for (const connection of [...waiting, other]) connection.close();
  });

  test('takes the address from the PROXY protocol, for one request of each connection', async () => {
    node = await RealNode.start({ trusted_proxies: '127.0.0.1' });
    const connection = await node.open();
    // Addresses behind it could be the client's own.
    const second = Buffer.concat([proxyHeader(66), Buffer.from(node.text('/n', ONE, wrong()))]);
    connection.send(Buffer.concat([proxyHeader(203), Buffer.from(node.text('/n', ONE, wrong()))]));
    const answer = await connection.answer();
    expect(answer?.status).toBe(401);
    expect(answer?.headers.get('connection')).toBe('close');
    connection.send(second);
    await connection.closed();
    await tells('203.0.113.9');
  });

  test('does not count the connections of a proxy', async () => {
    node = await RealNode.start({ trusted_proxies: '127.0.0.1', max_connections_per_address: 8 });
    const connections = await Promise.all(Array.from({ length: 20 }, () => node?.open()));
    for (const connection of connections) {
      connection?.send(node.text('/n', ONE));
      expect((await connection?.answer())?.status).toBe(200);
      connection?.close();
    }
  });
});

/** The header of the PROXY protocol, for a client at N.0.113.9. */
function proxyHeader(first: number): Buffer {
  const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
  const kind = Buffer.from([0x21, 0x11, 0, 12]);
  const addresses = Buffer.from([first, 0, 113, 9, 127, 0, 0, 1, 0x12, 0x34, 0x23, 0xfa]);
  return Buffer.concat([signature, kind, addresses]);
}
