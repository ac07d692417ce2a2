/** The credentials in an Authorization header. */
export type Credentials =
  | { readonly kind: 'token'; readonly key: string }
  | { readonly kind: 'password'; readonly name: string; readonly password: string };

/**
 * Reads an Authorization header: `Bearer KEY`, `Token KEY` or `Basic base64(name:password)`. The scheme's
 * case does not matter; exactly one space follows it. Null when it is none of these.
 */
export function parseAuthorization(header: string): Credentials | null {
  const space = header.indexOf(' ');
  if (space < 0) return null;
  const value = header.slice(space + 1);
  switch (header.slice(0, space).toLowerCase()) {
    case 'bearer':
    case 'token':
      return /^[\x21-\x7e]{1,200}$/.test(value) ? { kind: 'token', key: value } : null;
    case 'basic':
      return parseBasic(value);
    default:
      return null;
  }
}

/** Longest base64 text of a name and a password of 127 characters each. */
const BASIC_LENGTH_MAX = 400;

function parseBasic(value: string): Credentials | null {
  if (value.length > BASIC_LENGTH_MAX || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return null;
  const text = Buffer.from(value, 'base64').toString('latin1');
  // The native protocol knows names with a colon; neither a name nor a password has a NUL.
  const nul = text.indexOf('\0');
  const end = nul < 0 ? text.indexOf(':') : nul;
  if (end < 0) return null;
  return { kind: 'password', name: text.slice(0, end), password: text.slice(end + 1) };
}
