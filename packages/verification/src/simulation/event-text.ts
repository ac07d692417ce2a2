/** An event in one short line, with the sizes of bytes in place of the bytes. */
export function eventText(event: { readonly kind: string }): string {
  const shorten = (_key: string, value: unknown): unknown => {
    const bytes = bytesOf(value);
    if (bytes === null) return value;
    // A call that another node refused returns the reason.
    const isRefusal = event.kind === 'returned' && bytes[0] === 1;
    return isRefusal ? Buffer.from(bytes.subarray(1)).toString('utf8') : `${bytes.length} bytes`;
  };
  return JSON.stringify(event, shorten).slice(0, 300);
}

/** The bytes of a value; a buffer has been turned into an object when it comes here. */
function bytesOf(value: unknown): Uint8Array | null {
  if (value instanceof Uint8Array) return value;
  const isBuffer = typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
  return isBuffer && 'data' in value && Array.isArray(value.data) ? Uint8Array.from(value.data) : null;
}
