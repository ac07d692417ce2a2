/**
 * A command of `althing`. A new one is a file like `version.ts` and an entry in `program.ts`.
 */
import type { Command } from 'commander';
import type { Io } from './io.js';

export interface CommandDefinition {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /**
   * Adds the arguments, the options and the action. Called only for the command that is used, so that what one command
   * needs is not loaded for the others.
   *
   * @param finish takes the exit code; the action calls it once
   */
  configure(command: Command, io: Io, finish: (exitCode: number) => void): void | Promise<void>;
}
