/** Characters of the beginning of a text that are shown. */
const HEAD_LENGTH = 60;

/** Texts may hold secrets: what follows the first sign of a string, a comment or a regular expression is not shown. */
const SAFE_HEAD = /^[^'"`/]*/;

/** The beginning of a text, as far as it holds no literal text. */
export function headOf(code: string): string {
  const safe = SAFE_HEAD.exec(code.slice(0, HEAD_LENGTH))?.[0] ?? '';
  const line = safe.replaceAll(/\s+/g, ' ').trim();
  return safe.length < code.length ? `${line}...` : line;
}
