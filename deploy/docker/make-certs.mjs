/**
 * Certificates for trials: an authority of one's own, and a certificate for each node. Needs nothing but Node.js.
 *
 *   make-certs.mjs [--keep] FOLDER NAME[,NAME...]...        e.g. make-certs.mjs certs node0 node1,db.example.org
 *
 * makes FOLDER/ca.crt and ca.key (kept when they are there), and for each argument FOLDER/NAME.crt, NAME.key and NAME.pem
 * (both in one, as HAProxy wants them) after the first of its names. A certificate holds for its names (host names or IPv4
 * addresses), localhost and 127.0.0.1, for serving as well as for asking. With --keep one that holds for 30 more days, and
 * for all of these names, stays as it is. Where there is ca.crt without ca.key, somebody else makes the certificates: nothing
 * is made then, and nothing may be missing.
 *
 * DAYS says how long certificates hold (365); the authority's holds ten times that.
 *
 * X.509 version 3 (RFC 5280) in DER, signed with ECDSA over P-256 and SHA-256 (RFC 5758):
 *
 *   certificate = SEQUENCE(body, algorithm, BIT STRING(signature of the body))
 *   body        = SEQUENCE([0](version), serial, algorithm, issuer, validity, subject, public key, [3](extensions))
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';

const DAY_MS = 86_400_000;
const KEPT_MS = 30 * DAY_MS;
/** A clock that is somewhat behind takes a new certificate, too. */
const EARLIER_MS = 3_600_000;
const AUTHORITY = 'Althing trial authority';

const isKeeping = process.argv[2] === '--keep';
const [folder, ...lists] = process.argv.slice(isKeeping ? 3 : 2);
const days = Number(process.env.DAYS ?? 365);
if (folder === undefined || lists.length === 0 || !(days > 0)) {
  console.error('usage: make-certs [--keep] FOLDER NAME[,NAME...]...        DAYS=N: how long they hold');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

if (existsSync(join(folder, 'ca.crt')) && !existsSync(join(folder, 'ca.key'))) {
  const missing = filesOf(lists.map((list) => list.split(',')[0])).filter((path) => !existsSync(path));
  for (const path of missing)
    console.error(`${path} is missing, and can't be made without ${join(folder, 'ca.key')}`);
  process.exit(missing.length > 0 ? 1 : 0);
}
const authority = authorityIn(folder);
for (const list of lists) {
  const names = list.split(',').filter((name) => name !== '');
  const [name] = names;
  if (isKeeping && isGood(name, names)) {
    console.log(`${join(folder, name)}.crt: kept`);
    continue;
  }
  const keys = newKeys();
  const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' });
  const certificate = certificateOf({
    subject: name,
    issuer: AUTHORITY,
    publicKey: keys.publicKey,
    issuerKey: authority.publicKey,
    signer: authority.privateKey,
    days,
    extensions: [
      extension('2.5.29.19', sequence(), { isCritical: true }),
      // digitalSignature
      extension('2.5.29.15', tagged(0x03, Buffer.from([7, 0x80])), { isCritical: true }),
      // serverAuth, clientAuth
      extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'), oid('1.3.6.1.5.5.7.3.2'))),
      extension(
        '2.5.29.17',
        sequence(...[...new Set([...names, 'localhost', '127.0.0.1'])].map(alternative)),
      ),
    ],
  });
  // Keys are for the group, too: the balancer's container reads them as another user.
  write(`${name}.key`, key, 0o640);
  write(`${name}.crt`, certificate, 0o644);
  write(`${name}.pem`, certificate + key, 0o640);
  console.log(`${join(folder, name)}.crt: made`);
}

function authorityIn(folder) {
  const path = join(folder, 'ca.key');
  if (existsSync(path)) {
    const privateKey = createPrivateKey(readFileSync(path, 'utf8'));
    return { privateKey, publicKey: createPublicKey(privateKey) };
  }
  const keys = newKeys();
  const certificate = certificateOf({
    subject: AUTHORITY,
    issuer: AUTHORITY,
    publicKey: keys.publicKey,
    issuerKey: keys.publicKey,
    signer: keys.privateKey,
    days: days * 10,
    extensions: [
      extension('2.5.29.19', sequence(tagged(0x01, Buffer.from([0xff]))), { isCritical: true }),
      // keyCertSign, cRLSign
      extension('2.5.29.15', tagged(0x03, Buffer.from([1, 0x06])), { isCritical: true }),
    ],
  });
  // The key comes last: a folder that has it is whole.
  write('ca.crt', certificate, 0o644);
  write('ca.key', keys.privateKey.export({ type: 'pkcs8', format: 'pem' }), 0o600);
  return keys;
}

function newKeys() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function filesOf(names) {
  return names.flatMap((name) => ['key', 'crt', 'pem'].map((kind) => join(folder, `${name}.${kind}`)));
}

/** Whether there is a certificate of this authority, for these names, that holds long enough. */
function isGood(name, names) {
  if (!filesOf([name]).every((path) => existsSync(path))) return false;
  const certificate = new X509Certificate(readFileSync(join(folder, `${name}.crt`)));
  return (
    Date.parse(certificate.validTo) - Date.now() > KEPT_MS &&
    certificate.verify(authority.publicKey) &&
    names.every(
      (each) => (isIPv4(each) ? certificate.checkIP(each) : certificate.checkHost(each)) !== undefined,
    )
  );
}

function write(name, text, mode) {
  writeFileSync(join(folder, name), text, { mode });
}

function certificateOf({ subject, issuer, publicKey, issuerKey, signer, days, extensions }) {
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'));
  const now = Date.now();
  const serial = randomBytes(16);
  // Positive, and never with a zero in front.
  serial[0] = (serial[0] & 0x3f) | 0x40;
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, serial),
    algorithm,
    nameOf(issuer),
    sequence(time(now - EARLIER_MS), time(now + days * DAY_MS)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(
      0xa3,
      sequence(
        ...extensions,
        extension('2.5.29.14', tagged(0x04, keyId(publicKey))),
        extension('2.5.29.35', sequence(tagged(0x80, keyId(issuerKey)))),
      ),
    ),
  );
  const der = sequence(body, algorithm, tagged(0x03, Buffer.from([0]), sign('sha256', body, signer)));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function nameOf(text) {
  return sequence(tagged(0x31, sequence(oid('2.5.4.3'), tagged(0x0c, Buffer.from(text)))));
}

function alternative(name) {
  if (isIPv4(name)) return tagged(0x87, Buffer.from(name.split('.').map(Number)));
  return tagged(0x82, Buffer.from(name, 'ascii'));
}

function extension(id, value, { isCritical = false } = {}) {
  const critical = isCritical ? [tagged(0x01, Buffer.from([0xff]))] : [];
  return sequence(oid(id), ...critical, tagged(0x04, value));
}

function keyId(publicKey) {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}

/** UTCTime up to 2049, GeneralizedTime from then on. */
function time(ms) {
  const text = `${new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')}`;
  return text < '2050' ? tagged(0x17, Buffer.from(text.slice(2))) : tagged(0x18, Buffer.from(text));
}

function oid(text) {
  const [first, second, ...rest] = text.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const number of rest) {
    const digits = [number & 0x7f];
    for (let left = number >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return tagged(0x06, Buffer.from(bytes));
}

function sequence(...parts) {
  return tagged(0x30, ...parts);
}

function tagged(tag, ...parts) {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}
