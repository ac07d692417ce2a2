/** What is used of the package, which need not be there: it compiles without. */
declare module '@node-rs/crc32' {
  export function crc32c(input: Uint8Array, initialState?: number): number;
}
