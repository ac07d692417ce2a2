/** The command line of Althing. */
export type { Io } from './io.js';
export { main } from './program.js';
export { thingsdb } from './thingsdb.js';
