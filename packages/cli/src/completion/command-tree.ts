/** The commands of the command line with their options, as data, for scripts that complete them. */
import type { Command } from 'commander';

/** A command or an option, as a word that can be completed. */
export interface Word {
  readonly text: string;
  /** One line. */
  readonly doc: string;
}

export interface ValueOption {
  /** Its spellings, as `--url`. */
  readonly flags: readonly string[];
  /** The values that there are; empty where it may be any, such as a file. */
  readonly choices: readonly string[];
}

export interface CommandNode {
  /** The words that lead to it, as `althing cluster status`. */
  readonly path: string;
  /** The commands below it, and the arguments that are one of a few. */
  readonly commands: readonly Word[];
  readonly options: readonly Word[];
  readonly valueOptions: readonly ValueOption[];
}

/** A command and all below it, parents first. */
export function commandTree(command: Command, above = ''): CommandNode[] {
  const help = command.createHelp();
  const path = `${above} ${command.name()}`.trim();
  const children = help.visibleCommands(command);
  const options = help.visibleOptions(command);
  const choices = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map((text) => ({ text, doc: description })),
  );
  const node: CommandNode = {
    path,
    commands: [
      ...children.map((child) => ({ text: child.name(), doc: help.subcommandDescription(child) })),
      ...choices,
    ],
    options: options.flatMap((option) => flagsOf(option).map((text) => ({ text, doc: option.description }))),
    valueOptions: options.flatMap((option) =>
      option.required || option.optional
        ? [{ flags: flagsOf(option), choices: option.argChoices ?? [] }]
        : [],
    ),
  };
  const below = children.filter((child) => child.name() !== 'help');
  return [node, ...below.flatMap((child) => commandTree(child, path))];
}

function flagsOf({ short, long }: { readonly short?: string; readonly long?: string }): string[] {
  return [long, short].filter((flag) => flag !== undefined);
}
