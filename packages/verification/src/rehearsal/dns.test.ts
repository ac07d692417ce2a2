import { promises } from 'node:dns';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { answer, NameServer } from './dns.js';

let server: NameServer;
let resolver: promises.Resolver;

beforeEach(async () => {
  server = await NameServer.open('127.0.0.1');
  server.lookup = (name) => ({ node0: ['127.0.0.5'], more: ['127.0.0.6', '127.0.0.7'] })[name] ?? [];
  resolver = new promises.Resolver({ timeout: 2000, tries: 1 });
  resolver.setServers([`127.0.0.1:${server.port}`]);
});
afterEach(() => server.close());

describe('the name server', () => {
  test('tells the addresses of a name, whatever the case of its letters', async () => {
    expect(await resolver.resolve4('node0')).toEqual(['127.0.0.5']);
    expect((await resolver.resolve4('MORE')).sort()).toEqual(['127.0.0.6', '127.0.0.7']);
  });

  test('knows no other names, and no other kinds of addresses', async () => {
    await expect(resolver.resolve4('node1')).rejects.toThrow('ENOTFOUND');
    await expect(resolver.resolve6('node0')).rejects.toThrow('ENODATA');
  });

  test('answers nothing to what is no question', () => {
    const cut = Buffer.from('0001010000010000000000000561', 'hex');
    for (const packet of [Buffer.alloc(0), Buffer.alloc(12), cut])
      expect(answer(packet, () => [])).toBeNull();
  });
});
