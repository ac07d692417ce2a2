/** Versions of the protocol between nodes, which both threads of a node have to know. */

/**
 * The versions that this software speaks: 4 is all that came after release 0.1.0, which spoke version 3.
 *
 * Versions belong to releases: all that is made between two releases shares one.
 */
export const PROTOCOL_VERSIONS = { min: 4, max: 4 } as const;
