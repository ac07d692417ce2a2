/** Input of the caller of a command. */
import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { type Io, readInput, readStream } from './io.js';
import { codeOf, messageOf } from './system-error.js';

/** An error that a command ends with, and whose message says all. */
export class CommandError extends Error {}

/** Something that the caller wrote is wrong; nothing was sent. */
export class UsageError extends CommandError {}

/** An option as commander has it, if it is a string. */
export function textOption(command: Command, name: string): string | undefined {
  const value: unknown = command.getOptionValue(name);
  return typeof value === 'string' ? value : undefined;
}

/** A text; undefined for an empty one. */
export function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/**
 * The text of a file, or the standard input for `-`.
 *
 * @throws {UsageError} for a file that can't be read, or is too large
 */
export async function readText(file: string, io: Io): Promise<string> {
  if (file === '-') return readInput(io);
  try {
    return await readStream(createReadStream(file), file);
  } catch (error) {
    // Errors of the system have codes.
    throw new UsageError(codeOf(error) === '' ? messageOf(error) : `${file} can't be read`);
  }
}
