import { PasswordHasher } from '@althing/node/parts';
import type { Draw } from './random.js';
import type { Thread } from './thread.js';

/** Milliseconds that a hash takes in the thread pool. */
const HASH_MS = 60;
const HASH = Buffer.alloc(32);
const AT_ONCE = 2;
const WAITING_MAX = 64;

const SALT_BYTES = 16;

/** The hasher of a real node, but for the hashes, which take virtual time beside a thread, and for salts, which are drawn by the seed. */
export function simulatedHasher(thread: Thread, draw: Draw): Pick<PasswordHasher, 'hash'> {
  const derive = (): Promise<Buffer> =>
    new Promise((resolve) => thread.after(HASH_MS, () => resolve(Buffer.from(HASH))));
  const hasher = new PasswordHasher(AT_ONCE, WAITING_MAX, derive);
  return {
    hash: (password, saltKey = null) =>
      saltKey === null ? hasher.hashWith(password, draw.bytes(SALT_BYTES)) : hasher.hash(password, saltKey),
  };
}
