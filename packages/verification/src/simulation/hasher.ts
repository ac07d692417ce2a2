import { PasswordHasher } from '@althing/node/parts';
import type { Thread } from './thread.js';

/** Milliseconds that a hash takes in the thread pool. */
const HASH_MS = 60;
const HASH = Buffer.alloc(32);
const AT_ONCE = 2;
const WAITING_MAX = 64;

/** The hasher of a real node, but for the hashes, which take virtual time beside a thread. */
export function simulatedHasher(thread: Thread): PasswordHasher {
  const derive = (): Promise<Buffer> =>
    new Promise((resolve) => thread.after(HASH_MS, () => resolve(Buffer.from(HASH))));
  return new PasswordHasher(AT_ONCE, WAITING_MAX, derive);
}
