import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { describeThatNeeds } from '../testing/needs.js';
import { until } from '../testing/until.js';
import type { PeerTls } from './dial.js';
import { CLUSTER, introduce, TestNode } from './testing.js';

const running: TestNode[] = [];
const folder = mkdtempSync(join(tmpdir(), 'althing-peers-'));
const hasOpenssl = canRun('openssl', ['version']);

afterEach(async () => {
  await Promise.all(running.splice(0).map((node) => node.close()));
});
afterAll(() => rmSync(folder, { recursive: true }));

// Certificates can't be made without the tool.
describeThatNeeds('TLS between nodes', hasOpenssl ? null : 'there is no openssl')('with mutual TLS', () => {
  test('members connect, and what they say is not to be read', async () => {
    const authority = makeAuthority('one');
    const [one, two] = await startTwo(makeCertificate(authority, 'a'), makeCertificate(authority, 'b'));
    await until(() => one.transport.isUp(2) && two.transport.isUp(1), 'both are up');
    one.transport.send(2, 1, [Buffer.from('in '), Buffer.from('secret')]);
    one.transport.send(2, 2, Buffer.alloc(3_000_000, 'b'), true);
    await until(() => two.frames.length === 2, 'the frames are there');
    expect(two.frames.map(({ payload }) => payload.length)).toEqual([9, 3_000_000]);
    const answer = await one.transport.ask('localhost', two.port, Buffer.from('?'), 5000);
    expect(answer.toString()).toBe('echo ?');
  });

  test('a node that ends is down at once', async () => {
    const authority = makeAuthority('two');
    const tls = makeCertificate(authority, 'c');
    const [one, two] = await startTwo(tls, tls);
    await until(() => one.transport.isUp(2), 'it is up');
    await two.close();
    await until(() => one.has('down 2'), 'the end was noticed');
  });

  test('certificates of another authority, or none, are refused on both sides', async () => {
    const authority = makeAuthority('three');
    const [one, two] = await startTwo(
      makeCertificate(authority, 'd'),
      makeCertificate(makeAuthority('four'), 'e'),
    );
    await until(() => one.logged('tls') && two.logged('tls'), 'both have logged it');
    expect([one.changes, two.changes]).toEqual([[], []]);

    const plain = await start(3, null);
    plain.transport.setPeers([one.address], []);
    one.transport.setPeers([plain.address], []);
    await until(() => plain.logged('unreachable') || plain.logged('garbage'), 'nothing comes of it');
    expect(plain.changes).toEqual([]);
  });

  test('a certificate for another name is refused by who dials', async () => {
    const authority = makeAuthority('five');
    const [one] = await startTwo(
      makeCertificate(authority, 'f'),
      makeCertificate(authority, 'g', 'DNS:elsewhere'),
    );
    await until(() => one.logged('tls'), 'it was logged');
    expect(one.transport.isUp(2)).toBe(false);
  });

  test('the right certificate without the secret is not enough', async () => {
    const authority = makeAuthority('six');
    const one = await start(1, makeCertificate(authority, 'h'));
    const two = await start(2, makeCertificate(authority, 'i'), 'another secret here');
    introduce(one, two);
    await until(() => one.logged('wrong_secret') && two.logged('wrong_secret'), 'both have logged it');
  });

  test('certificates are renewed without a restart', async () => {
    const [one, two] = await startTwo(
      makeCertificate(makeAuthority('seven'), 'j'),
      makeCertificate(makeAuthority('eight'), 'k'),
    );
    const authority = makeAuthority('nine');
    one.transport.renewTls(makeCertificate(authority, 'l'));
    two.transport.renewTls(makeCertificate(authority, 'm'));
    await until(() => one.transport.isUp(2) && two.transport.isUp(1), 'both are up');
  });

  test('strangers give their places back, whether they greet or not', async () => {
    const tls = makeCertificate(makeAuthority('ten'), 'n');
    const one = await start(1, tls);
    for (let round = 0; round < 2; round++) {
      const sockets = Array.from({ length: 40 }, () =>
        tlsConnect({ port: one.port, host: '127.0.0.1', ...tls, servername: 'localhost' }),
      );
      let ready = 0;
      for (const socket of sockets) socket.on('error', () => {}).on('secureConnect', () => ready++);
      await until(() => ready === sockets.length, 'all are connected');
      await Promise.all(
        sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve).destroy())),
      );
    }
    const two = await start(2, tls);
    introduce(one, two);
    await until(() => one.transport.isUp(2) && two.transport.isUp(1), 'there is room');
    expect(one.logged('crowded')).toBe(false);
  });
});

async function startTwo(first: PeerTls, second: PeerTls): Promise<[TestNode, TestNode]> {
  const one = await start(1, first);
  const two = await start(2, second);
  introduce(one, two);
  return [one, two];
}

async function start(nodeId: number, tls: PeerTls | null, secret?: string): Promise<TestNode> {
  const node = await TestNode.start(nodeId, { tls, ...(secret === undefined ? {} : { secret }) }, CLUSTER);
  running.push(node);
  return node;
}

interface Authority {
  readonly certPath: string;
  readonly keyPath: string;
}

function makeAuthority(name: string): Authority {
  const authority = { certPath: join(folder, `${name}.ca`), keyPath: join(folder, `${name}.ca.key`) };
  openssl(
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=${name} -keyout ${authority.keyPath} -out ${authority.certPath}`,
  );
  return authority;
}

function makeCertificate(authority: Authority, name: string, names = 'DNS:localhost,IP:127.0.0.1'): PeerTls {
  const path = join(folder, name);
  writeFileSync(`${path}.ext`, `subjectAltName=${names}\nextendedKeyUsage=serverAuth,clientAuth\n`);
  openssl(
    `req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=${name} -keyout ${path}.key -out ${path}.csr`,
  );
  openssl(
    `x509 -req -in ${path}.csr -CA ${authority.certPath} -CAkey ${authority.keyPath} -CAcreateserial -days 2 -extfile ${path}.ext -out ${path}.crt`,
  );
  const read = (file: string): string => readFileSync(file, 'utf8');
  return { cert: read(`${path}.crt`), key: read(`${path}.key`), ca: read(authority.certPath) };
}

function openssl(args: string): void {
  execFileSync('openssl', args.split(' '), { stdio: 'pipe' });
}

function canRun(tool: string, args: readonly string[]): boolean {
  try {
    execFileSync(tool, [...args], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}
