/** Input of the caller of a command. */
import { createReadStream } from 'node:fs';
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

/** Bytes of a file of code or definitions at most: a node takes less in one request, and a device has no end. */
const FILE_BYTES_MAX = 64 * 1024 ** 2;

/**
 * The text of a file, or the standard input for `-`.
 *
 * @throws {UsageError} for a file that can't be read, or is too large
 */
export async function readText(file: string, io: Io): Promise<string> {
  if (file === '-') return readInput(io);
  const chunks: Buffer[] = [];
  let left = FILE_BYTES_MAX;
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      left -= chunk.length;
      if (left < 0) break;
    }
  } catch {
    throw new UsageError(`${file} can't be read`);
  }
  if (left < 0) throw new UsageError(`${file} has more than ${FILE_BYTES_MAX / 1024 ** 2} MB`);
  const text = utf8Text(Buffer.concat(chunks));
  if (text === null) throw new UsageError(`${file} is no text in UTF-8`);
  return text;
}
