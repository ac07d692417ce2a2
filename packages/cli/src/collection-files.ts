/**
 * One collection as a file, and back: of any size, while the cluster serves.
 */
import type { Command } from 'commander';
import { receiveFile } from './backup.js';
import type { CommandDefinition } from './command.js';
import { addConnectionOptions } from './connection.js';
import { exitHelp } from './exit-codes.js';
import { UsageError } from './input.js';
import { sendFile } from './restore.js';
import { finished } from './work.js';

export const exportCommand: CommandDefinition = {
  name: 'export',
  summary: 'Write one collection to a file',
  async configure(command, io, finish) {
    const { verifyBackup, BackupError } = await import('./node.js');
    const isExpected = (error: unknown): boolean => error instanceof BackupError;
    addConnectionOptions(command)
      .argument('<collection>', 'its name, as in //stuff or stuff')
      .argument('<file>', 'where to put it; nothing must be there')
      .addHelpText('after', exportHelp)
      .action(async (collection: string, file: string, _: unknown, invoked: Command) => {
        const work = async (): Promise<void> =>
          receiveFile(invoked, io, file, `/@export/${nameOf(collection)}`, verifyBackup);
        finish(await finished('export', io, work, isExpected));
      });
  },
};

export const importCommand: CommandDefinition = {
  name: 'import',
  summary: 'Make a collection of an exported file, or of one in a backup',
  async configure(command, io, finish) {
    const { verifyBackup, BackupError } = await import('./node.js');
    const isExpected = (error: unknown): boolean => error instanceof BackupError;
    addConnectionOptions(command)
      .argument('<collection>', 'its name, as in //stuff or stuff; there must be none of that name')
      .argument('<file>', 'the export, or a backup with a collection of that name')
      .option('--import-tasks', 'take its tasks, too: they belong to who imports them')
      .addHelpText('after', importHelp)
      .action(async (collection: string, file: string, options: ImportOptions, invoked: Command) => {
        const tasks = options.importTasks === true ? '/import_tasks' : '';
        const work = async (): Promise<void> =>
          sendFile(invoked, io, file, `/@import/${nameOf(collection)}${tasks}`, 'imported', verifyBackup);
        finish(await finished('import', io, work, isExpected, true));
      });
  },
};

interface ImportOptions {
  readonly importTasks?: boolean;
}

/** @throws {UsageError} for what can't be the name of a collection */
function nameOf(collection: string): string {
  const name = collection.replace(/^(\/\/|@:|@collection:)/, '');
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(name))
    throw new UsageError(`${JSON.stringify(collection)} is no collection: write its name, as in //stuff`);
  return name;
}

const exportHelp = `
The collection is in the file as it was at one moment, with everything that was acknowledged before; the cluster serves
meanwhile. The user needs all privileges on all scopes. The file gets its name when it is whole.

Example:
  althing export //stuff stuff.export --user admin

Exit codes: 0 done; 1 it failed; 2 wrong usage; 6 no node could be reached, or not now: try again.`;

const importHelp = `
A new collection is made, in a cluster that serves, with the ids of its things. Until all of it is there, there is no
collection of that name; when it fails, nothing is left. History is not taken over, and tasks only with --import-tasks. The
user needs all privileges on @thingsdb, and gets all of them on the collection. Take only files that your nodes wrote.

Examples:
  althing import //stuff stuff.export --user admin
  althing import //stuff /backup/today.backup --user admin

Exit codes: 0 done; ${exitHelp}.`;
