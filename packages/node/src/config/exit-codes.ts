/**
 * Exit codes of the process: by them restart policies and people tell "restart me" from "do not".
 */
export const ExitCode = {
  /** Drained and closed, or the command did what it was asked for. */
  Done: 0,
  /** Any failure without a code of its own, a port that is in use among them. */
  Fatal: 1,
  /** The configuration, or the command line. */
  Configuration: 2,
  /** Another process holds the data folder. */
  StorageInUse: 3,
  /** The data are damaged, or this node was removed: a person has to look. */
  DataDamaged: 4,
  /** An invariant is broken: the process stopped rather than guess. */
  InvariantBroken: 5,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
