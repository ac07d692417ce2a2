import { Argument } from 'commander';
import type { CommandDefinition } from '../command.js';
import { write } from '../io.js';
import { commandTree } from './command-tree.js';
import { completionScript, SHELLS, type ShellName } from './scripts.js';

export const completionCommand: CommandDefinition = {
  name: 'completion',
  summary: 'Print a script that lets a shell complete althing',
  configure(command, io, finish) {
    command
      .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
      .addHelpText('after', examples)
      .action(async (shell: ShellName) => {
        // It was added to the program that has all commands.
        const nodes = commandTree(command.parent ?? command);
        await write(io.stdout, completionScript(shell, nodes));
        finish(0);
      });
  },
};

const examples = `
Examples:
  source <(althing completion bash)          in ~/.bashrc
  source <(althing completion zsh)           in ~/.zshrc, behind compinit
  althing completion fish | source           in ~/.config/fish/config.fish`;
