/** The part of the package that is used. The package need not be there: the code compiles without it. */
declare module '@node-rs/crc32' {
  export function crc32c(input: Uint8Array, initialState?: number): number;
}
