/** Input of the caller of a command. */
import type { Command } from 'commander';

/** Something that the caller wrote is wrong; nothing was sent. */
export class UsageError extends Error {}

/** An option as commander has it, if it is a string. */
export function textOption(command: Command, name: string): string | undefined {
  const value: unknown = command.getOptionValue(name);
  return typeof value === 'string' ? value : undefined;
}

/** A text; undefined for an empty one. */
export function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
