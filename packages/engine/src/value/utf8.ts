import { valueError } from '../error.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Bytes as the text that they are in UTF-8.
 *
 * @throws QueryError value_err when they are none
 */
export function bytesToText(data: Uint8Array): string {
  try {
    return UTF8.decode(data);
  } catch {
    throw valueError('the bytes are not valid UTF-8');
  }
}
