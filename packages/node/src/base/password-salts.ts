/**
 * Salts of passwords that tell a connection whether one of its own requests set the password: only that connection stays logged in when
 * the password of its user changes.
 *
 *   salt := random:8 bytes tag:8 bytes         tag: the beginning of HMAC-SHA-256 of `random` with the connection's key
 *
 * Without the key such a salt is as random as any other.
 */
import { createHmac, randomBytes } from 'node:crypto';

export const SALT_BYTES = 16;

/** Bytes of the key of a connection. */
export const SALT_KEY_BYTES = 16;

const RANDOM_BYTES = 8;

/** A key for one login of one connection. */
export function newSaltKey(): Uint8Array {
  return randomBytes(SALT_KEY_BYTES);
}

/** @param key that of the connection whose request sets the password; null for none */
export function newSalt(key: Uint8Array | null): Uint8Array {
  const salt = randomBytes(SALT_BYTES);
  if (key !== null) salt.set(tagOf(salt, key), RANDOM_BYTES);
  return salt;
}

/** True if a request with this key made the salt. */
export function isSaltOf(salt: Uint8Array, key: Uint8Array): boolean {
  return salt.length === SALT_BYTES && tagOf(salt, key).equals(salt.subarray(RANDOM_BYTES));
}

function tagOf(salt: Uint8Array, key: Uint8Array): Buffer {
  const random = salt.subarray(0, RANDOM_BYTES);
  return createHmac('sha256', key)
    .update(random)
    .digest()
    .subarray(0, SALT_BYTES - RANDOM_BYTES);
}
