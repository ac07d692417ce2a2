/** The command line of Althing, and the exact form of values on the wire for those who speak to a node. */
export type { Io } from './io.js';
export { main } from './program.js';
export * from './wire/index.js';
