/**
 * Tokens of users who may end what runs: those with CHANGE on `@node`. The engine thread tells the consensus thread of them, whose status
 * port takes such orders while the engine thread is busy with the very call that is to end.
 */
import { hash as hashOf, timingSafeEqual } from 'node:crypto';
import type { OperatorToken } from '../../between/protocol.js';

const SCHEME = /^(?:bearer|token) +(?<key>\S+)$/i;

/**
 * The user of a header `Authorization` with one of the tokens; null for none.
 *
 * @param now Unix milliseconds
 */
export function operatorOf(
  tokens: readonly OperatorToken[],
  header: string | undefined,
  now: number,
): string | null {
  const key = SCHEME.exec(header ?? '')?.groups?.key;
  if (key === undefined) return null;
  const hash = hashOf('sha256', key, 'buffer');
  const found = tokens.find((token) => timingSafeEqual(token.hash, hash));
  // A token counts to the end of the second in which it expires.
  if (found === undefined || (found.expiresAt !== null && now >= (found.expiresAt + 1) * 1000)) return null;
  return found.user;
}
