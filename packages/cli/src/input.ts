/** Input of the caller of a command. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { type Io, readInput, utf8Text } from './io.js';

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
 * @throws {UsageError} for a file that can't be read
 */
export async function readText(file: string, io: Io): Promise<string> {
  if (file === '-') return readInput(io);
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch {
    throw new UsageError(`${file} can't be read`);
  }
  const text = utf8Text(bytes);
  if (text === null) throw new UsageError(`${file} is no text in UTF-8`);
  return text;
}
