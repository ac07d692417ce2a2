/** Parts of errors of Node.js. `instanceof` does not find them: an error of another realm is no instance of this one's `Error`. */

export function messageOf(error: unknown): string {
  return partOf(error, 'message') || String(error);
}

/** Such as `ENOENT`; empty for none. */
export function codeOf(error: unknown): string {
  return partOf(error, 'code');
}

/** A part as text; empty for none. */
export function partOf(error: unknown, part: 'code' | 'message' | 'name' | 'syscall'): string {
  return typeof error === 'object' && error !== null && part in error ? String(Reflect.get(error, part)) : '';
}
