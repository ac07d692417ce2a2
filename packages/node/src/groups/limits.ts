/** Bounds on what waits between the two threads. */

const MiB = 1024 * 1024;

/** Bytes of the effects of one change at most: it must fit into one entry of the log. */
export const CHANGE_BYTES_MAX = 64 * MiB;

/** Bytes of changes of one group that may wait for their commit before further ones are refused. */
export const WAITING_BYTES_MAX = 64 * MiB;

/** Changes of one group that may wait for their commit at once. */
export const WAITING_CHANGES_MAX = 20_000;
