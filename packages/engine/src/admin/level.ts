/**
 * The level of a cluster: which kinds of log entries, effects and records its nodes may write. A node has to stop when it is
 * to apply what it does not know, so a new kind gets a level, and is written only once the whole cluster works at that level:
 *
 *   if (root.level >= LEVEL_OF_THE_KIND) ...       `root` is the `RootGroup` of this node
 *
 * Each node tells the others the highest level that its software knows (`members/hello.ts` in the package `node`). The leader
 * of the root group raises the level when all members know a higher one; it never falls. A node whose software knows
 * less than the level in force can't work in the cluster any more.
 *
 * The level at the leader of a group decides what it writes; other nodes may not have heard of that level yet, and read it
 * all the same. So what all nodes have to do alike must follow from what is written, never from `root.level`.
 *
 * Levels belong to releases: all that is made between two releases shares one, unless clusters that run what was made before are to be
 * upgraded without anybody noticing.
 */
import { FormatError } from '../bytes.js';

/** All levels that this software knows, with what may be written from each on. */
export const LEVELS = [
  {
    level: 2,
    brings:
      'what came after release 0.1.0, whose nodes have no level: levels, requests that clients name by numbers, answers that are not kept, types, enums, whitelists, futures, tasks, rooms, events, commit history, modules, log segments of format 2, things and sets in pages, lists of the second form, snapshots of format 2, sessions, passwords of ThingsDB, loads, jobs, definitions as they were, settings of feeds',
  },
  {
    level: 3,
    brings:
      'quick hashes of the bodies of requests that have a name, ids of types and enums that go on behind the limits, deleted ones that are forgotten',
  },
] as const;

/** The level from which on ids of types and enums may be higher than the limits of their numbers, and deleted ones are forgotten. */
export const LEVEL_OF_HIGH_IDS = 3;

/** The level of a cluster that was never told another. */
export const LEVEL_FIRST = 2;

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
