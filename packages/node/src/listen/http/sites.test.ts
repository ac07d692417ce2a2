import { describe, expect, test } from '@jest/globals';
import { Sites, type SitesOptions, servesStatus } from './sites.js';

const sites = (options: Partial<SitesOptions> = {}): Sites =>
  new Sites({
    bindAddress: '127.0.0.1',
    nodeName: 'Node1.example',
    allowedHosts: [],
    allowedOrigins: [],
    ...options,
  });

test('the status port on loopback answers no name but its own, and any address, as orchestrators ask', () => {
  const served = (host: string | undefined, options: Partial<SitesOptions> = {}): boolean =>
    servesStatus(sites(options), { bindAddress: options.bindAddress ?? '127.0.0.1' }, host);
  for (const host of [undefined, 'localhost:9230', 'node1.example', '10.1.2.3:9230', '[2001:db8::1]:9230'])
    expect([host, served(host)]).toEqual([host, true]);
  for (const host of ['', 'evil.example', 'evil.example:9230', '127.0.0.1.evil.example'])
    expect([host, served(host)]).toEqual([host, false]);
  expect(served('althing-0.althing', { bindAddress: '0.0.0.0', allowedHosts: ['api.example.com'] })).toBe(
    true,
  );
});

describe('a host', () => {
  const OWN = [
    'localhost',
    'LocalHost:9210',
    '127.0.0.1',
    '127.8.9.1:80',
    '[::1]',
    '[::1]:9210',
    'node1.example',
    'node1.EXAMPLE.:1',
  ];
  const FOREIGN = [
    '',
    'evil.example',
    'localhost.evil.example',
    '10.0.0.1',
    '[2001:db8::1]',
    'a@localhost',
    'localhost,evil',
    'localhost:',
    'localhost:x',
    'x node1.example',
    '127.0.0.1.evil',
    '::1',
  ];

  test.each(OWN)('%j is one of this machine, or the name of the node', (host) => {
    expect(sites().serves(host)).toBe(true);
  });

  test.each(FOREIGN)('%j is not served on loopback', (host) => {
    const on = sites();
    expect([on.serves('localhost'), on.serves(host), on.serves('localhost')]).toEqual([true, false, true]);
  });

  test('is served when it is listed, and each is with a star', () => {
    const listed = sites({ allowedHosts: ['DB.example', '10.0.0.1', '2001:db8::1'] });
    for (const host of ['db.example:9210', '10.0.0.1', '[2001:DB8::1]:9210', 'localhost', 'node1.example'])
      expect(listed.serves(host)).toBe(true);
    expect(listed.serves('other.example')).toBe(false);
    expect(sites({ allowedHosts: ['*'] }).serves('other.example')).toBe(true);
  });

  test('is not looked at beyond loopback, unless there is a list', () => {
    expect(sites({ bindAddress: '0.0.0.0' }).serves('other.example')).toBe(true);
    expect(sites({ bindAddress: '0.0.0.0', allowedHosts: ['db.example'] }).serves('other.example')).toBe(
      false,
    );
  });
});

describe('an origin', () => {
  test.each([
    ['http://localhost:9210', 'localhost:9210'],
    ['https://DB.example', 'db.example'],
    ['https://db.example', 'db.example:443'],
    ['http://db.example', 'db.example:80'],
    ['http://[::1]:9210', '[::1]:9210'],
  ])('%s is that of %s', (origin, host) => {
    expect(sites().kindOf(origin, host)).toBe('own');
  });

  test.each([
    ['null', 'localhost'],
    ['', ''],
    ['http://localhost:8080', 'localhost:9210'],
    ['http://localhost', 'localhost:443'],
    ['http://evil.example', 'localhost:9210'],
    ['http://localhost:9210@evil.example', 'localhost:9210'],
    ['http://evil.example/localhost:9210', 'localhost:9210'],
    ['file://localhost', 'localhost'],
    ['localhost', 'localhost'],
  ])('%j is not that of %j', (origin, host) => {
    expect(sites({ allowedOrigins: ['https://app.example'] }).kindOf(origin, host)).toBe('foreign');
  });

  test('is listed as it is written', () => {
    const listed = sites({ allowedOrigins: ['https://app.example'] });
    expect(listed.kindOf('https://app.example', 'localhost')).toBe('listed');
    expect(listed.kindOf('http://app.example', 'localhost')).toBe('foreign');
  });
});
