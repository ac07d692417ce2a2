import { encodeMessagePack } from '@althing/client';
import { describe, expect, test } from '@jest/globals';
import { FREE_PORT, RawLine, RealNode, until } from '../../testing/index.js';
import { readProxyHeader } from './proxy-header.js';

const SIGNATURE = '0d0a0d0a000d0a515549540a';
const IPV4 = Buffer.from(`${SIGNATURE}2111000cc6336401c0000201d43123f0`, 'hex');
const IPV6 = Buffer.from(
  `${SIGNATURE}21210024${'20010db8000000000000000000000001'}${'20010db8000000000000000000000002'}d43123f0`,
  'hex',
);
const LINE = Buffer.from('PROXY TCP4 198.51.100.1 192.0.2.1 54321 9200\r\n');

describe('the header of the PROXY protocol', () => {
  test.each<[string, Buffer, string | null]>([
    ['version 1', LINE, '198.51.100.1'],
    ['version 1, IPv6', Buffer.from('PROXY TCP6 2001:db8:0::1 ::1 1 65535\r\n'), '2001:db8::1'],
    ['version 1, unknown', Buffer.from('PROXY UNKNOWN ffff:: whatever\r\n'), null],
    ['version 2', IPV4, '198.51.100.1'],
    ['version 2, IPv6', IPV6, '2001:db8::1'],
    [
      'version 2, with more than addresses',
      Buffer.from(`${SIGNATURE}2111000fc6336401c0000201d43123f0040000`, 'hex'),
      '198.51.100.1',
    ],
    ['version 2, of the balancer', Buffer.from(`${SIGNATURE}20000000`, 'hex'), null],
    ['version 2, a Unix socket', Buffer.from(`${SIGNATURE}21310002abcd`, 'hex'), null],
  ])('%s is read as soon as all of it is there, and no byte more', (_, header, address) => {
    for (let end = 0; end < header.length; end++)
      expect(readProxyHeader(header.subarray(0, end))).toBe('more');
    const expected = { bytes: header.length, address };
    expect(readProxyHeader(header)).toEqual(expected);
    expect(readProxyHeader(Buffer.concat([header, LINE]))).toEqual(expected);
  });

  test.each<[string, Buffer]>([
    ['a package', Buffer.from('00000000010020df', 'hex')],
    ['another word', Buffer.from('PROXX TCP4')],
    ['an address that is none', Buffer.from('PROXY TCP4 198.51.100.256 192.0.2.1 1 2\r\n')],
    ['an address of the other family', Buffer.from('PROXY TCP6 198.51.100.1 192.0.2.1 1 2\r\n')],
    ['a line without ports', Buffer.from('PROXY TCP4 198.51.100.1 192.0.2.1\r\n')],
    ['a line that does not end', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(100)}`)],
    ['a line that is too long', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(100)}\r\n`)],
    ['an unknown command', Buffer.from(`${SIGNATURE}22110000`, 'hex')],
    ['another version', Buffer.from(`${SIGNATURE}31110000`, 'hex')],
    ['addresses that are cut', Buffer.from(`${SIGNATURE}21110004c6336401`, 'hex')],
    ['more data than there can be', Buffer.from(`${SIGNATURE}2111ffff`, 'hex')],
  ])('%s is none', (_, bytes) => {
    expect(readProxyHeader(bytes)).toBe('bad');
  });
});

test('a node believes it of trusted proxies where a setting says so, and of nobody else', async () => {
  const settings = { listen_client_port: FREE_PORT, client_proxy_protocol: 'true', login_backoff_ms: 10 };
  const node = await RealNode.start({ ...settings, trusted_proxies: '127.0.0.1' });
  try {
    const open = (localAddress: string): Promise<RawLine> =>
      RawLine.open({ host: '127.0.0.1', port: node.nativePort, localAddress });
    const ping = Buffer.from('00000000010020df', 'hex');
    // A header in pieces, with the first package in the last of them
    const proxied = await open('127.0.0.1');
    proxied.sendBytes(IPV4.subarray(0, 9));
    proxied.sendBytes(Buffer.concat([IPV4.subarray(9), ping]));
    expect(await proxied.next()).toBe('00000000010010ef');
    proxied.send(33, 2, encodeMessagePack(['admin', 'wrong']));
    await proxied.next();
    await until(() => node.log.includes('198.51.100.1'), 'the audit log has the address of the client');
    proxied.close();

    const silent = await open('127.0.0.1');
    silent.sendBytes(ping);
    expect(await silent.ended()).toBe('');
    const direct = await open('127.0.0.2');
    direct.sendBytes(ping);
    expect(await direct.next()).toBe('00000000010010ef');
    const liar = await open('127.0.0.2');
    liar.sendBytes(LINE);
    expect(await liar.ended()).toBe('');
    direct.close();
  } finally {
    await node.stop();
  }
});
