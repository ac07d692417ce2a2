/** The hash by which ThingsDB keeps passwords: a text, of which the first characters are the salt. It is weak, and made nowhere else. */

const LENGTH = 63;
const SALT_LENGTH = 10;

/** Bytes of a password at most; ThingsDB takes no longer ones. */
const PASSWORD_BYTES_MAX = 1024;

const ALPHABET = './0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** The primes from 281 to 997. */
const PRIMES = primes(281, 997);

/**
 * The hash of a password.
 *
 * @param salt ten characters
 * @returns null for what is no password: an empty text, or one that is too long
 */
export function thingsdbHash(password: string, salt: string): string | null {
  const bytes = Buffer.from(password, 'utf8');
  if (bytes.length === 0 || bytes.length > PASSWORD_BYTES_MAX) return null;
  const cells = new Uint8Array(LENGTH);
  cells.set(Buffer.from(salt, 'latin1').subarray(0, SALT_LENGTH));
  for (let i = SALT_LENGTH; i < LENGTH; i++) {
    const turn = bytes[(i - SALT_LENGTH) % bytes.length] ?? 0;
    let sum = 0;
    for (const byte of bytes) {
      for (let place = 0; place < SALT_LENGTH; place++)
        sum += PRIMES[((cells[place] ?? 0) + byte + turn + i + sum) % PRIMES.length] ?? 0;
    }
    const put = (at: number): void => {
      cells[at] = ALPHABET.charCodeAt(((cells[at] ?? 0) + sum) % ALPHABET.length);
    };
    put(i);
    for (let at = SALT_LENGTH + (sum % 3); at < LENGTH; at += 1 + (sum % 5)) put(at);
  }
  return Buffer.from(cells).toString('latin1');
}

function primes(from: number, to: number): readonly number[] {
  const found: number[] = [];
  for (let number = from; number <= to; number++) {
    let divisor = 2;
    while (divisor * divisor <= number && number % divisor !== 0) divisor += 1;
    if (divisor * divisor > number) found.push(number);
  }
  return found;
}
