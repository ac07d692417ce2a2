/** `althing copy`: a second collection with everything that is in one. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { receiveFile } from './backup.js';
import { nameOf } from './collection-files.js';
import type { CommandDefinition } from './command.js';
import { addConnectionOptions } from './connection.js';
import { exitHelp } from './exit-codes.js';
import type { Io } from './io.js';
import { sendFile } from './restore.js';
import { inTemporaryFolder } from './temporary.js';
import { finished } from './work.js';

export const copyCommand: CommandDefinition = {
  name: 'copy',
  summary: 'Make a collection that has what another one has',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .argument('<from>', 'a collection, as in //stuff or stuff')
      .argument('<to>', 'the name of the new one; there must be none of that name')
      .option('--import-tasks', 'copy its tasks, too: they belong to who copies them')
      .addHelpText('after', HELP)
      .action(async (from: string, to: string, { importTasks }: CopyOptions, invoked: Command) => {
        const work = (): Promise<void> =>
          copyCollection(invoked, io, nameOf(from), nameOf(to), importTasks === true);
        finish(await finished('copy', io, work, true));
      });
  },
};

interface CopyOptions {
  readonly importTasks?: boolean;
}

/** Makes a collection by what another one has at one moment: an export, and its import. */
export async function copyCollection(
  command: Command,
  io: Io,
  from: string,
  to: string,
  takesTasks: boolean,
): Promise<void> {
  await inTemporaryFolder(async (folder) => {
    const file = join(folder, 'collection.export');
    await receiveFile(command, io, file, `/@export/${from}`);
    const path = `/@import/${to}${takesTasks ? '/import_tasks' : ''}`;
    await sendFile(command, io, file, path, { done: 'copied' });
  });
}

const HELP = `
The copy has the collection as it was at one moment, with the ids of its things, its types, indexes and procedures; the cluster serves
meanwhile. History is not copied, and tasks only with --import-tasks. Until all of it is there, there is no collection of the
new name. What is copied lies in a temporary file of this machine meanwhile. The user needs all privileges on @thingsdb.

Example:
  althing copy //stuff //stuff_today --user admin

Exit codes: 0 done; ${exitHelp}.`;
