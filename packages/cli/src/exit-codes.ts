/**
 * Exit codes of commands that ask a node, for what went wrong:
 *
 *   1   the node answered with an error; nothing was changed
 *   2   wrong usage, or a file of definitions or checks that is wrong; nothing was changed
 *   6   no node could be reached, or it could not do it now; nothing was changed: try again
 *   7   the outcome is unknown, or a change was made and only its answer is gone
 */
export const Exit = { Failed: 1, Usage: 2, Unavailable: 6, Unknown: 7 } as const;

export type Exit = (typeof Exit)[keyof typeof Exit];

/** Words for the help of a command. */
export const exitHelp =
  '1 the node answered with an error; 2 wrong usage; 6 no node could be reached, or not now: try again; 7 the outcome is unknown';
