import type { Command } from 'commander';
import type { CommandDefinition } from './command.js';
import { type Io, tell, write } from './io.js';
import type { Survey } from './node.js';
import { addStorageOptions, described, exitCodeOf, type ServerPackage, storedConfig } from './serve.js';

export const recoverCommand: CommandDefinition = {
  name: 'recover',
  summary: 'Make a cluster of one node that is left, when the majority is lost for ever',
  async configure(command, io, finish) {
    const node = await import('./node.js');
    addStorageOptions(command)
      .option('--inspect', 'only tell what the folder holds, to compare it with other copies')
      .option('--yes', 'do it: this copy is the newest one, and no node of the old cluster is started again')
      .addHelpText('after', help)
      .action(async () => finish(await recover(command, io, node)));
  },
};

const help = `
Use this only when more than half of the nodes have lost their data, so that they can never be started again; a
majority that is merely away needs no command. The node must be stopped, and so must all others that are left.

Inspect every copy that is left. The one to recover has, in each group, the highest TERM, and among equal ones the
highest INDEX. What the lost nodes had acknowledged without this one is gone; entries behind COMMIT are kept, though they
may never have been acknowledged. The cluster gets a new id: nodes of the old one are refused. What was in the folder
is kept in "removed" below it.

Then start the node as usual: it is a cluster of its own. Empty the folders of the others and start them: they join.
It is always one node that goes on; there is no way to make a cluster of several copies at once.

Examples:
  althing recover --storage-path /var/lib/althing --inspect
  althing recover --storage-path /var/lib/althing --yes

Exit codes: 0 done; 1 it failed; 2 it was refused, or not confirmed; 3 data folder in use; 4 data damaged.`;

async function recover(command: Command, io: Io, node: ServerPackage): Promise<number> {
  try {
    const config = storedConfig(command, io, node);
    const isConfirmed = command.getOptionValue('yes') === true;
    if (!isConfirmed || command.getOptionValue('inspect') === true) {
      await write(io.stdout, shown(await node.inspectFolder(config)));
      if (command.getOptionValue('inspect') === true) return node.ExitCode.Done;
      await tell(io, 'althing: nothing was changed: read "althing recover --help", then give --yes');
      return node.ExitCode.Configuration;
    }
    const kept = await node.recoverFolder(config);
    await write(io.stdout, shown(await node.inspectFolder(config)));
    await tell(io, `althing: recovered; what was there is kept in ${kept}`);
    await tell(io, 'althing: start this node, then the others, each with an empty data folder');
    return node.ExitCode.Done;
  } catch (error) {
    await tell(io, described(error));
    return exitCodeOf(error, node.ExitCode.Fatal);
  }
}

function shown({ nodeId, clusterId, members, groups }: Survey): string {
  const lines = [
    `node     ${nodeId} of cluster ${clusterId}`,
    ...members.map((each) => `member   ${each}`),
    '',
  ];
  const rows = [
    ['TERM', 'INDEX', 'COMMIT', 'GROUP'],
    ...groups.map(({ term, index, commit, name }) => [term, index, commit, name].map(String)),
  ];
  for (const [term = '', index = '', commit = '', name = ''] of rows) {
    lines.push(`${term.padStart(8)}  ${index.padStart(10)}  ${commit.padStart(10)}  ${name}`);
  }
  const open = groups.filter(({ index, commit }) => index > commit);
  for (const { name, index, commit } of open) {
    lines.push(
      `! ${name}: it is not known whether the last ${index - commit} entries were ever acknowledged`,
    );
  }
  return `${lines.join('\n')}\n`;
}
