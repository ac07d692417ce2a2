import { execFile, execFileSync } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { SocketClient, WebSocketChannel } from '@althing/client';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { FREE_PORT, freePorts, RealNode, until } from '../../testing/index.js';
import { describeThatNeeds } from '../../testing/needs.js';
import { basic } from '../../testing/real-node.js';
import { readCertificates } from './certificates.js';

const folder = mkdtempSync(join(tmpdir(), 'althing-tls-'));
const hasOpenssl = canRun('openssl');
const running: RealNode[] = [];

const file = (name: string): string => join(folder, name);

beforeAll(() => {
  if (!hasOpenssl) return;
  makeCertificates('127.0.0.1', '127.0.0.2', 'other');
  makeCertificatesIn(file('stranger'), 'client');
});
afterEach(async () => {
  for (const node of running.splice(0)) {
    await node.kill();
    node.clear();
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Certificates can't be made without the tool. */
const describeTls = describeThatNeeds('certificates', hasOpenssl ? null : 'there is no openssl');

describeTls('certificates', () => {
  const settings = (change: object = {}): Parameters<typeof readCertificates>[0] => ({
    tlsCertFile: file('127.0.0.1.crt'),
    tlsKeyFile: file('127.0.0.1.key'),
    tlsClientCaFile: file('ca.crt'),
    tlsApiClientCaFile: undefined,
    ...change,
  });

  test('are read with the time when they end', () => {
    const inADay = Date.now() + 86_400_000;
    const certificates = readCertificates(settings());
    expect(certificates?.ends.node).toBeGreaterThan(inADay);
    expect(certificates?.ends.ca).toBeGreaterThan(inADay);
  });

  test.each([
    ['a file that is missing', { tlsCertFile: 'missing.crt' }, /tls_cert_file = missing.crt: .*ENOENT/],
    ['a key of another certificate', { tlsKeyFile: file('other.key') }, /not the one of the certificate/],
    ['a key where certificates should be', { tlsClientCaFile: file('ca.key') }, /no certificate in it/],
    [
      'no authorities of clients',
      { tlsApiClientCaFile: file('ca.key') },
      /tls_api_client_ca_file = .*no cert/,
    ],
    ['a certificate where the key should be', { tlsKeyFile: file('other.crt') }, /tls_key_file = /],
  ])('are refused with %s', (_what, change, message) => {
    expect(() => readCertificates(settings(change))).toThrow(message);
  });
});

describeTls('a node with certificates', () => {
  test('speaks TLS on the API and the status port, and takes others at SIGHUP, without a failed request', async () => {
    copyFileSync(file('127.0.0.1.crt'), file('own.crt'));
    copyFileSync(file('127.0.0.1.key'), file('own.key'));
    const node = await launch({ tls_cert_file: file('own.crt'), tls_key_file: file('own.key') });
    await serves(node);
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: readFileSync(file('ca.crt')) });
    const before = await query(node, agent);
    expect(before).toMatchObject({ status: 200, text: '2' });
    expect((await get(node.statusPort, '/ready')).text).toBe('OK\n');
    expect((await get(node.statusPort, '/metrics')).text).toMatch(
      /althing_certificate_expiry_timestamp_seconds\{certificate="node"\} 1\d{9}/,
    );

    makeCertificates('127.0.0.1');
    copyFileSync(file('127.0.0.1.crt'), file('own.crt'));
    copyFileSync(file('127.0.0.1.key'), file('own.key'));
    node.signal('SIGHUP');
    await until(() => node.log.includes('"reloaded"'), 'the certificates were read again');

    const renewed = new X509Certificate(readFileSync(file('own.crt'))).serialNumber;
    expect(renewed).not.toBe(before.serial);
    expect(await query(node, agent)).toMatchObject({ status: 200, serial: before.serial });
    expect(await query(node)).toMatchObject({ status: 200, serial: renewed });
    await until(
      async () => (await get(node.statusPort, '/ready')).serial === renewed,
      'the status port has it',
    );
    agent.destroy();
  });

  test('keeps the old ones when the new ones are unfit, and says so', async () => {
    copyFileSync(file('127.0.0.1.crt'), file('kept.crt'));
    const node = await launch({ tls_cert_file: file('kept.crt'), tls_key_file: file('127.0.0.1.key') });
    await serves(node);
    writeFileSync(file('kept.crt'), 'nothing');
    node.signal('SIGHUP');
    await until(() => node.log.includes('reload_failed'), 'it says so');
    expect(await query(node)).toMatchObject({ status: 200 });
  });

  test('takes up files that were replaced, by itself, and only when certificate and key belong together', async () => {
    // As a Secret in a volume of Kubernetes: the files are links into a folder that is another one each time.
    const names = ['tls.crt', 'tls.key'];
    const store = (folder: string): void => {
      mkdirSync(file(folder));
      copyFileSync(file('127.0.0.1.crt'), file(`${folder}/tls.crt`));
      copyFileSync(file('127.0.0.1.key'), file(`${folder}/tls.key`));
    };
    const turnTo = (folder: string): void => {
      symlinkSync(folder, file('next'));
      renameSync(file('next'), file('data'));
    };
    store('first');
    turnTo('first');
    for (const name of names) symlinkSync(`data/${name}`, file(name));
    const node = await launch({ tls_cert_file: file('tls.crt'), tls_key_file: file('tls.key') });
    await serves(node);
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: readFileSync(file('ca.crt')) });
    const before = await query(node, agent);

    makeCertificates('127.0.0.1');
    store('second');
    copyFileSync(file('other.key'), file('second/tls.key'));
    turnTo('second');
    await until(async () => {
      expect(await query(node, agent)).toMatchObject({ status: 200, serial: before.serial });
      return node.log.includes('certificates_refused');
    }, 'it tells of unfit ones');
    expect((await query(node)).serial).toBe(before.serial);

    store('third');
    turnTo('third');
    await until(async () => {
      expect(await query(node, agent)).toMatchObject({ status: 200, serial: before.serial });
      return node.log.includes('certificates_renewed');
    }, 'it takes up good ones');
    const renewed = new X509Certificate(readFileSync(file('third/tls.crt'))).serialNumber;
    expect((await query(node)).serial).toBe(renewed);
    await until(
      async () => (await get(node.statusPort, '/ready')).serial === renewed,
      'the status port has it',
    );
    expect(node.log.match(/certificates_refused/g)).toHaveLength(1);
    agent.destroy();
  });

  test('serves clients with a certificate only, when it is told to', async () => {
    const node = await launch({
      tls_cert_file: file('127.0.0.1.crt'),
      tls_key_file: file('127.0.0.1.key'),
      tls_api_client_ca_file: file('ca.crt'),
    });
    await serves(node);
    const agentOf = (name: string): Agent =>
      new Agent({
        keepAlive: true,
        maxSockets: 1,
        ca: readFileSync(file('ca.crt')),
        cert: readFileSync(file(`${name}.crt`)),
        key: readFileSync(file(`${name}.key`)),
      });
    const agents = [agentOf('127.0.0.2'), agentOf('stranger/client')] as const;
    const [known, stranger] = agents;
    expect(await query(node)).toMatchObject({ status: 403, text: expect.stringContaining('certificate') });
    for (let i = 0; i < 3; i++) expect(await query(node, known)).toMatchObject({ status: 200, text: '2' });
    // As a client that comes back: its session is resumed.
    known.destroy();
    expect(await query(node, known)).toMatchObject({ status: 200 });
    const statusOf = async (path: string, agent?: Agent): Promise<number> =>
      (await get(node.statusPort, path, agent)).status;
    for (const path of ['/healthy', '/ready', '/started']) expect(await statusOf(path)).toBe(200);
    for (const path of ['/', '/status', '/status?verbose', '/metrics']) {
      expect(await statusOf(path)).toBe(403);
      expect(await statusOf(path, stranger)).toBe(403);
      expect(await statusOf(path, known)).toBe(200);
    }
    await expect(query(node, stranger)).rejects.toThrow(/alert|ECONNRESET|EPIPE|hang up/);
    for (const agent of agents) agent.destroy();
  });

  test('speaks the native protocol over TLS, and over wss with a certificate of its own, which is watched', async () => {
    const takesUp = (name: string, what = 'crt'): void => {
      copyFileSync(file(`${name}.${what}`), file('ws.new'));
      renameSync(file('ws.new'), file(`ws.${what}`));
    };
    takesUp('127.0.0.2');
    takesUp('127.0.0.2', 'key');
    const node = await launch({
      listen_client_port: FREE_PORT,
      client_tls: 'true',
      tls_cert_file: file('127.0.0.1.crt'),
      tls_key_file: file('127.0.0.1.key'),
      tls_api_client_ca_file: file('ca.crt'),
      ws_port: FREE_PORT,
      ws_cert_file: file('ws.crt'),
      ws_key_file: file('ws.key'),
    });
    await serves(node);
    const ca = readFileSync(file('ca.crt'));
    const own = { cert: readFileSync(file('other.crt')), key: readFileSync(file('other.key')) };
    const place = { host: '127.0.0.1', port: node.nativePort };
    const ws = {
      host: '127.0.0.1',
      port: node.wsPort,
      tls: { ca, servername: '127.0.0.2', checkServerIdentity: () => undefined },
    };
    const clients = [
      await SocketClient.connect({ ...place, tls: { ca, ...own } }),
      new SocketClient(await WebSocketChannel.open(ws)),
    ];
    for (const client of clients) {
      await client.login({ user: 'admin', password: 'pass' });
      expect(await client.query('//stuff', '1 + 1;')).toBe(2n);
      client.close();
    }
    const nameless = await SocketClient.connect({ ...place, tls: { ca } }).then(
      (client) => client.ended.then(() => 'ended'),
      () => 'refused',
    );
    expect(['ended', 'refused']).toContain(nameless);
    const plain = await SocketClient.connect(place);
    await expect(plain.ping()).rejects.toThrow();

    const shown = async (name: string): Promise<boolean> => {
      const socket = connect({
        host: '127.0.0.1',
        port: node.wsPort,
        ca,
        checkServerIdentity: () => undefined,
      });
      await once(socket, 'secureConnect');
      const { serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      return serialNumber === new X509Certificate(readFileSync(file(`${name}.crt`))).serialNumber;
    };
    expect(await shown('127.0.0.2')).toBe(true);
    takesUp('other');
    await until(
      () => node.log.includes('"certificates_refused","setting":"ws_cert_file"'),
      'the key is missing',
    );
    expect(await shown('127.0.0.2')).toBe(true);
    takesUp('other', 'key');
    await until(() => node.log.includes('"certificates_renewed","setting":"ws_cert_file"'), 'it is taken up');
    expect(await shown('other')).toBe(true);
    const agent = new Agent({ ca, ...own });
    expect((await get(node.statusPort, '/metrics', agent)).text).toMatch(
      /althing_certificate_expiry_timestamp_seconds\{certificate="websocket"\} \d/,
    );
  });

  test('does not start with a certificate for wss that is unfit', async () => {
    const node = await RealNode.launch({
      ws_port: FREE_PORT,
      ws_cert_file: file('ca.key'),
      ws_key_file: file('ca.key'),
    });
    running.push(node);
    expect(await node.ended()).not.toBe(0);
    expect(node.log).toContain('ws_cert_file');
  });

  test('is there for the command `althing` with a certificate, and not without one', async () => {
    const node = await launch({
      tls_cert_file: file('127.0.0.1.crt'),
      tls_key_file: file('127.0.0.1.key'),
      tls_api_client_ca_file: file('ca.crt'),
    });
    await serves(node);
    const trust = { ALTHING_TLS_CA_FILE: file('ca.crt') };
    const own = ['--tls-cert-file', file('127.0.0.2.crt'), '--tls-key-file', file('127.0.0.2.key')];
    const all = { ALTHING_TLS_CERT_FILE: own[1] ?? '', ALTHING_TLS_KEY_FILE: own[3] ?? '', ...trust };
    const backup = file('a.backup');

    expect(await althing(node, trust, 'query', '//stuff', '.x = 1;', ...own)).toMatchObject({
      code: 0,
      output: '1\n',
    });
    expect(await althing(node, all, 'cluster', 'status')).toMatchObject({ code: 0 });
    expect(await althing(node, all, 'backup', backup)).toMatchObject({ code: 0 });
    // It goes over, and is refused there.
    expect(await althing(node, all, 'restore', backup)).toMatchObject({
      code: 1,
      output: expect.stringContaining('takes empty collections only'),
    });
    expect(await althing(node, trust, 'query', '//stuff', '.x;')).toMatchObject({
      code: 1,
      output: expect.stringContaining('certificate'),
    });
    // Nothing was sent to a node that is not trusted.
    expect(await althing(node, {}, 'query', '//stuff', '.x;', ...own)).toMatchObject({
      code: 6,
      output: expect.stringContaining('--tls-ca-file'),
    });
  });

  test('does not start with unfit ones', async () => {
    const node = await launch({ tls_cert_file: file('other.crt'), tls_key_file: file('127.0.0.1.key') });
    expect(await node.ended()).toBe(2);
    expect(node.log).toContain('tls_key_file');
  });

  test('talks to other nodes over TLS, and goes on with renewed certificates', async () => {
    const ports = await freePorts(2);
    const names = ['127.0.0.1', '127.0.0.2'];
    const cluster = names.map((name, i) => `${name}:${ports[i]}`).join(',');
    const secret = randomBytes(16).toString('hex');
    const nodes = await Promise.all(
      names.map((name, i) =>
        launch({
          node_name: name,
          bind_node_addr: name,
          listen_node_port: ports[i] ?? 0,
          cluster,
          cluster_secret: secret,
          tls_cert_file: file(`${name}.crt`),
          tls_key_file: file(`${name}.key`),
          tls_client_ca_file: file('ca.crt'),
        }),
      ),
    );
    for (const node of nodes) await serves(node);
    const [first, second] = nodes as [RealNode, RealNode];
    for (const node of nodes) expect(await query(node, undefined, '.x = 3;')).toMatchObject({ text: '3' });

    makeCertificates(...names);
    for (const node of nodes) node.signal('SIGHUP');
    for (const node of nodes) await until(() => node.log.includes('"reloaded"'), 'it was read again');
    await second.kill();
    const again = await RealNode.launch(settingsOf.get(second) ?? {}, second.folder);
    running.push(again);
    await until(async () => (await connected(first)) === 1, 'they are connected again');
    expect(await query(first, undefined, '.x;')).toMatchObject({ text: '3' });
  });
});

const settingsOf = new WeakMap<RealNode, Parameters<typeof RealNode.launch>[0]>();

async function launch(settings: NonNullable<Parameters<typeof RealNode.launch>[0]>): Promise<RealNode> {
  const node = await RealNode.launch(settings);
  settingsOf.set(node, settings);
  running.push(node);
  return node;
}

function serves(node: RealNode): Promise<void> {
  return until(async () => {
    if (!node.running) throw node.explained('the node did not start');
    return (await get(node.statusPort, '/ready').catch(() => null))?.status === 200;
  }, 'the node serves');
}

async function connected(node: RealNode): Promise<number> {
  const { text } = await get(node.statusPort, '/metrics');
  return Number(/^althing_peer_connected\{.*\} (\d)$/m.exec(text)?.[1]);
}

interface Answer {
  readonly status: number;
  readonly text: string;
  /** The serial number of the server's certificate. */
  readonly serial: string;
}

function query(node: RealNode, agent?: Agent, code = '1 + 1;'): Promise<Answer> {
  const headers = { Authorization: basic('admin', 'pass'), 'Content-Type': 'application/json' };
  return send(node.port, '//stuff', 'POST', headers, JSON.stringify({ type: 'query', code }), agent);
}

function get(port: number, path: string, agent?: Agent): Promise<Answer> {
  return send(port, path, 'GET', {}, '', agent);
}

function send(
  port: number,
  path: string,
  method: string,
  headers: Record<string, string>,
  body: string,
  agent?: Agent,
): Promise<Answer> {
  const ca = readFileSync(file('ca.crt'));
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers, ca, agent: agent ?? false },
      (response) => {
        const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber;
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString(), serial }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Runs the command `althing` as `admin`. */
function althing(
  node: RealNode,
  environment: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<{ readonly code: number | null; readonly output: string }> {
  const program = fileURLToPath(new URL('../../../../cli/bin/althing.js', import.meta.url));
  const { PATH = '' } = process.env;
  const url = `https://127.0.0.1:${node.port}`;
  const env = { PATH, ALTHING_URL: url, ALTHING_USER: 'admin', ALTHING_PASSWORD: 'pass', ...environment };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [program, ...args], { env }, (_, stdout, stderr) => {
      resolve({ code: child.exitCode, output: stdout + stderr });
    });
  });
}

function makeCertificates(...names: string[]): void {
  makeCertificatesIn(folder, ...names);
}

function makeCertificatesIn(where: string, ...names: string[]): void {
  const script = fileURLToPath(new URL('../../../../../scripts/make-certs', import.meta.url));
  execFileSync(script, [where, ...names]);
}

function canRun(program: string): boolean {
  try {
    execFileSync(program, ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
