/** The forms of MessagePack, told by the first byte of a value. */
export interface Form {
  readonly kind: 'nil' | 'bool' | 'int' | 'float' | 'str' | 'bin' | 'array' | 'map' | 'ext';
  /** Bytes behind the first one that hold the size; 0 where the first one tells it. */
  readonly length: number;
  /** Bytes, items or pairs that follow, where the first byte tells; the kind of an ext stands before them. */
  readonly size: number;
}

/** The form that each byte begins; null for the one that begins none. */
export const FORMS: readonly (Form | null)[] = Array.from({ length: 256 }, (_, code) => formOf(code));

function formOf(code: number): Form | null {
  const fixed = (kind: Form['kind'], size: number): Form => ({ kind, length: 0, size });
  /** The codes of sizes in one, two and four bytes follow each other. */
  const sized = (kind: Form['kind'], length: number): Form => ({ kind, length, size: 0 });
  if (code < 0x80 || code >= 0xe0) return fixed('int', 0);
  if (code < 0x90) return fixed('map', code & 0x0f);
  if (code < 0xa0) return fixed('array', code & 0x0f);
  if (code < 0xc0) return fixed('str', code & 0x1f);
  if (code === 0xc0) return fixed('nil', 0);
  if (code === 0xc1) return null;
  if (code < 0xc4) return fixed('bool', 0);
  if (code < 0xc7) return sized('bin', 1 << (code - 0xc4));
  if (code < 0xca) return sized('ext', 1 << (code - 0xc7));
  if (code < 0xcc) return fixed('float', code === 0xca ? 4 : 8);
  if (code < 0xd4) return fixed('int', 1 << (code & 3));
  if (code < 0xd9) return fixed('ext', 1 << (code - 0xd4));
  if (code < 0xdc) return sized('str', 1 << (code - 0xd9));
  return sized(code < 0xde ? 'array' : 'map', code % 2 === 0 ? 2 : 4);
}
