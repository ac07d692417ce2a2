import { overflowError, valueError } from '../error.js';
import { type Entry, func } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { INT_MAX, toIntValue } from '../value/numbers.js';
import { Float } from '../value/scalars.js';

const LENGTH_MAX = 1024;

/** Random values. */
export const RANDOM: readonly Entry[] = [
  func('rand', {
    doc: 'A random float from 0.0 to 1.0.',
    run: (rt) => new Float(rt.environment.random()),
  }),
  func('randint', {
    doc: 'A random int from one int up to, but not including, another.',
    params: [p.int('from'), p.int('to')],
    run: (rt, from, to) => {
      const count = BigInt(to) - BigInt(from);
      if (count <= 0n) throw valueError(`randint() needs a second int above the first: ${from}, ${to}`);
      if (count > INT_MAX) throw overflowError('the range given to randint() is wider than an int');
      if (count <= SMALL_MAX) {
        return toIntValue(BigInt(from) + BigInt(Math.floor(rt.environment.random() * Number(count))));
      }
      return toIntValue(BigInt(from) + below(rt, count));
    },
  }),
  func('randstr', {
    doc: 'A random text of up to 1024 characters out of an alphabet (default: 64 letters, digits, - and _).',
    params: [p.intBetween('length', 0, LENGTH_MAX), p.optional(alphabetParam())],
    run: randomText,
  }),
];

/** Up to here 53 random bits are as good as uniform. */
const SMALL_MAX = 2n ** 32n;

/** Uniform from 0 to below `count`, up to 2^63. */
function below(rt: Runtime, count: bigint): bigint {
  // Numbers beyond the last whole multiple would favour small ones.
  const usable = 2n ** 64n - (2n ** 64n % count);
  for (;;) {
    const bits = Buffer.from(rt.environment.randomBytes(8)).readBigUInt64BE(0);
    if (bits < usable) return bits % count;
  }
}

/** Units charged for each random character. */
const PER_CHARACTER = 64;

const DEFAULT_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_';

/** Each character is uniform, from bytes that are fit for secrets. */
function randomText(rt: Runtime, length: number, alphabet = DEFAULT_ALPHABET): string {
  const usable = 2 ** 32 - (2 ** 32 % alphabet.length);
  let text = '';
  rt.charge(PER_CHARACTER * length);
  while (text.length < length) {
    const data = Buffer.from(rt.environment.randomBytes(4 * (length - text.length)));
    for (let i = 0; i < data.length; i += 4) {
      const bits = data.readUInt32BE(i);
      if (bits < usable) text += alphabet[bits % alphabet.length];
    }
  }
  return text;
}

function alphabetParam(): p.Param<string> {
  return p.checked(p.str('alphabet'), (alphabet) => {
    if (!ASCII.test(alphabet)) throw valueError('an alphabet consists of one or more ASCII characters');
    return alphabet;
  });
}

const ASCII = /^\p{ASCII}+$/u;
