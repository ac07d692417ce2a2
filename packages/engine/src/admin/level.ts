/**
 * The level of a cluster: which kinds of log entries, effects and records its nodes may write. Whoever applies what it does
 * not know has to stop, so a new kind gets a level, and is written only from when on the whole cluster works at that level:
 *
 *   if (root.level >= 2) ...        `root` is the `RootGroup` of this node
 *
 * Each node tells the others the highest level that its software knows (`members/hello.ts` in the package `node`). The leader
 * of the root group raises the level when all members know a higher one; it never falls. A node whose software knows
 * less than the level in force can't work in the cluster any more.
 *
 * The level at the leader of a group decides what that one writes; other nodes may not have heard of the same level yet, and
 * read it all the same. So whatever all nodes have to do alike must follow from what is written, never from `root.level`.
 */
import { FormatError } from '../bytes.js';

/** All levels that this software knows, with what may be written from each on. */
export const LEVELS = [
  { level: 1, brings: 'what the first nodes wrote that could be upgraded one by one' },
  { level: 2, brings: 'the level itself, requests that clients name by numbers, answers that are not kept' },
  { level: 3, brings: 'types and enums' },
  {
    level: 4,
    brings:
      'whitelists, futures, tasks, rooms with their events, commit history, modules, log segments of format 2, things of many properties in pieces, snapshots of format 2',
  },
] as const;

/**
 * The level from which on entries of the log have the format in which clients name requests by numbers, and time is told by
 * a clock that does not leap.
 */
export const LEVEL_OF_CLIENTS = 2;

/** The level from which on types and enums may be made. */
export const LEVEL_OF_TYPES = 3;

/**
 * The level from which on whitelists, futures, tasks, rooms, events, commit history, modules, log segments of format 2,
 * things in pieces and snapshots of format 2 may be written.
 */
export const LEVEL_OF_PROGRAMS = 4;

/** The level of a cluster that was never told another. */
export const LEVEL_FIRST = 1;

/** The highest level that this software knows. */
export const LEVEL_NEWEST: number = LEVELS[LEVELS.length - 1]?.level ?? LEVEL_FIRST;

/** The cluster works at a level that this software does not know. */
export class LevelError extends FormatError {
  constructor(level: number, known: number) {
    super(
      `the cluster works at level ${level}, and this version of Althing knows the levels up to ${known} only: start a newer version`,
    );
  }
}
