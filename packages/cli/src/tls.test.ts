import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { encodeMessagePack } from '@althing/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { main } from './index.js';
import { FakeIo, portOf } from './testing.js';

const folder = mkdtempSync(join(tmpdir(), 'althing-cli-'));
const file = (name: string): string => join(folder, name);

let server: Server;
let url: string;

/** Answers with the name in the certificate of the client. */
beforeAll(async () => {
  const script = fileURLToPath(new URL('../../../deploy/docker/make-certs.mjs', import.meta.url));
  execFileSync(process.execPath, [script, folder, '127.0.0.1', 'client']);
  const [cert, key, ca] = ['127.0.0.1.crt', '127.0.0.1.key', 'ca.crt'].map((name) =>
    readFileSync(file(name)),
  );
  server = createServer(
    { cert, key, ca, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      request.resume();
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      response.end(encodeMessagePack(String(subject?.CN ?? 'nobody')));
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `https://127.0.0.1:${portOf(server)}`;
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

async function query(environment: Readonly<Record<string, string>>, ...args: string[]) {
  const io = new FakeIo({ ALTHING_URL: url, ALTHING_TOKEN: 'abc', ...environment });
  const code = await main(['query', '//stuff', '.x;', ...args], io);
  return { code, output: io.output.trim(), errors: io.errors.trim() };
}

const trust = ['--tls-ca-file', file('ca.crt')];

test('a node is trusted that has a certificate of a given authority', async () => {
  expect(await query({}, ...trust)).toMatchObject({ code: 0, output: '"nobody"' });
  expect(await query({ ALTHING_TLS_CA_FILE: file('ca.crt') })).toMatchObject({ code: 0 });
  expect(await query({})).toMatchObject({
    code: 6,
    errors: expect.stringContaining('check http or https in --url, and the certificates'),
  });
});

test('a certificate is shown; an option wins over the environment', async () => {
  const [cert, key] = ['--tls-cert-file', '--tls-key-file'];
  const client = [cert, file('client.crt'), key, file('client.key')] as const;
  expect(await query({}, ...trust, ...client)).toMatchObject({ code: 0, output: '"client"' });
  const other = {
    ALTHING_TLS_CERT_FILE: file('127.0.0.1.crt'),
    ALTHING_TLS_KEY_FILE: file('127.0.0.1.key'),
  };
  expect(await query(other, ...trust)).toMatchObject({ code: 0, output: '"127.0.0.1"' });
  expect(await query(other, ...trust, ...client)).toMatchObject({ code: 0, output: '"client"' });
});

test('an unfit certificate is told, and nothing is sent', async () => {
  writeFileSync(file('empty.pem'), '');
  for (const [args, message] of [
    [['--tls-ca-file', file('missing')], `can't read ${file('missing')}`],
    [['--tls-cert-file', file('client.crt')], 'go together'],
    [['--tls-cert-file', file('client.crt'), '--tls-key-file', file('127.0.0.1.key')], 'unfit'],
    [['--tls-cert-file', file('empty.pem'), '--tls-key-file', file('client.key')], 'unfit'],
  ] as const) {
    expect(await query({}, ...trust, ...args)).toEqual({
      code: 2,
      output: '',
      errors: expect.stringContaining(message),
    });
  }
});
