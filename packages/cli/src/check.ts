import type { Command } from 'commander';
import type { CommandDefinition } from './command.js';
import { type Io, tell, write } from './io.js';
import type { CollectionCheck } from './node.js';
import { addStorageOptions, described, exitCodeOf, type ServerPackage, storedConfig } from './serve.js';

export const checkCommand: CommandDefinition = {
  name: 'check',
  summary: 'Look whether the data of a node that is stopped are whole and keep their rules',
  async configure(command, io, finish) {
    const node = await import('./node.js');
    addStorageOptions(command)
      .addHelpText('after', help)
      .action(async () => finish(await check(command, io, node)));
  },
};

const help = `
Reads the whole log and state with all checksums, and then each collection into memory: whether references are counted right,
nothing refers to what is gone, and every list, set, enum and room is where it says. Nothing is changed. It looks at the state of
the last checkpoint, and takes as much memory as the largest collection. The node must be stopped.

Example:
  althing check --storage-path /var/lib/althing

Exit codes: 0 all is well; 1 it failed; 2 no data, or wrong usage; 3 data folder in use; 4 data damaged; 5 a rule is broken.`;

async function check(command: Command, io: Io, node: ServerPackage): Promise<number> {
  try {
    const config = storedConfig(command, io, node);
    const checks: CollectionCheck[] = [];
    await node.checkFolder(config, (found) => checks.push(found));
    await write(io.stdout, checks.map(shown).join(''));
    return checks.every(({ broken }) => broken.length === 0)
      ? node.ExitCode.Done
      : node.ExitCode.InvariantBroken;
  } catch (error) {
    await tell(io, described(error));
    return exitCodeOf(error, node.ExitCode.Fatal);
  }
}

function shown({ name, things, broken, isBeingFilled }: CollectionCheck): string {
  if (isBeingFilled)
    return `${name}: an import or a restore has not filled it yet, so its rules were not looked at\n`;
  const head = `${name}: ${things} things, ${broken.length === 0 ? 'all rules are kept' : `${broken.length} rules are broken`}`;
  return [head, ...broken.map((rule) => `! ${rule}`), ''].join('\n');
}
