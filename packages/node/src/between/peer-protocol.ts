/** Versions of the protocol between nodes, which both threads of a node have to know. */

/**
 * The versions that this software speaks:
 *
 *   3   release 0.1.0
 *   4   connections are encrypted with the secret (peers/encryption.ts), requests on their way to the leader say what is
 *       known of earlier attempts and have names (requests/forward-format.ts), short calls travel together
 *       (peers/frames.ts)
 *
 * Versions belong to releases: all that is made between two releases shares one.
 */
export const PROTOCOL_VERSIONS = { min: 3, max: 4 } as const;

/** The version from which on everything may be said that came after release 0.1.0. */
export const PROTOCOL_AFTER_0_1_0 = 4;
