/**
 * The least cost of a name that makes a request take effect once: it is read from its header, the body is hashed, 60 bytes more go
 * into the log's entry, and its answer is kept until a later request says that it arrived. Without a server, a log or limits.
 */
import { hash } from 'node:crypto';

interface KeptAnswer {
  readonly body: string;
  readonly answer: Uint8Array;
}

const NAMES = 200_000;
/** Before them, so that the code has its last form. */
const WARM_UP = 50_000;
/** Numbers of a client whose answers are kept. */
const OPEN = 100;
const CLIENT = '0123456789abcdef01234567';
const BODY = Buffer.from('a body of thirty-two bytes or so');

/** Processor time of a name, in µs. */
export function bareNameUs(): number {
  const kept = new Array<KeptAnswer | undefined>(OPEN * 2);
  const entry = Buffer.allocUnsafe(256);
  for (let n = 1; n <= WARM_UP; n++) takeName(`${CLIENT}.${n}.${Math.max(1, n - OPEN)}`, kept, entry);
  const before = process.cpuUsage();
  for (let n = WARM_UP + 1; n <= WARM_UP + NAMES; n++) takeName(`${CLIENT}.${n}.${n - OPEN}`, kept, entry);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / NAMES;
}

function takeName(header: string, kept: (KeptAnswer | undefined)[], entry: Buffer): void {
  const second = header.lastIndexOf('.');
  const first = header.lastIndexOf('.', second - 1);
  const sequence = Number(header.slice(first + 1, second));
  const low = Number(header.slice(second + 1));
  const body = hash('sha256', BODY, 'binary');
  if (kept[sequence % kept.length] !== undefined) throw new Error('a number came twice');
  let at = entry.write(header, 0, first, 'latin1');
  at = entry.writeUInt32LE(sequence, at);
  at = entry.writeUInt32LE(low, at);
  entry.write(body, at, 16, 'latin1');
  kept[sequence % kept.length] = { body, answer: Uint8Array.of(1, 192) };
  kept[(low + kept.length - 1) % kept.length] = undefined;
}
