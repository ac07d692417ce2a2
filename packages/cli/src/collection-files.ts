/**
 * One collection as a file, and back: of any size, while the cluster serves.
 */
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { receiveFile, writeDurably } from './backup.js';
import type { CommandDefinition } from './command.js';
import { addConnectionOptions } from './connection.js';
import { exitHelp } from './exit-codes.js';
import { UsageError } from './input.js';
import { type Io, tell } from './io.js';
import { sendFile } from './restore.js';
import { inTemporaryFolder } from './temporary.js';
import { version } from './version.js';
import { finished } from './work.js';

export const exportCommand: CommandDefinition = {
  name: 'export',
  summary: 'Write one collection to a file',
  async configure(command, io, finish) {
    const node = await import('./node.js');
    addConnectionOptions(command)
      .argument('<collection>', 'its name, as in //stuff or stuff')
      .argument('<file>', 'where to put it; nothing must be there')
      .option('--thingsdb [version]', 'write what import() of ThingsDB takes, from this version on')
      .addHelpText('after', exportHelp)
      .action(async (collection: string, file: string, { thingsdb }: ExportOptions, invoked: Command) => {
        const receive = (to: string): Promise<void> =>
          receiveFile(invoked, io, to, `/@export/${nameOf(collection)}`);
        const work = (): Promise<void> =>
          thingsdb === undefined
            ? receive(file)
            : asDump(node, io, file, thingsdb === true ? THINGSDB_VERSION : thingsdb, receive);
        finish(await finished('export', io, work));
      });
  },
};

export const importCommand: CommandDefinition = {
  name: 'import',
  summary: 'Make a collection of an exported file, or of one in a backup',
  async configure(command, io, finish) {
    const node = await import('./node.js');
    addConnectionOptions(command)
      .argument('<collection>', 'its name, as in //stuff or stuff; there must be none of that name')
      .argument(
        '<file>',
        'the export, a backup with a collection of that name, or a dump, backup archive or store folder of ThingsDB',
      )
      .option('--import-tasks', 'take its tasks, too: they belong to who imports them')
      .addHelpText('after', importHelp)
      .action(async (collection: string, file: string, options: ImportOptions, invoked: Command) => {
        const takesTasks = options.importTasks === true;
        const work = async (): Promise<void> => {
          const name = nameOf(collection);
          const path = `/@import/${name}${takesTasks ? '/import_tasks' : ''}`;
          const send = (from: string): Promise<void> =>
            sendFile(invoked, io, from, path, { done: 'imported', isResumable: true });
          if (node.isThingsdbStore(file))
            await asExport(node, name, await node.readStoredCollection(file, name, takesTasks), send);
          else if (node.isThingsdbDump(file))
            await asExport(node, name, node.readDumpFile(file, takesTasks), send);
          else await send(file);
        };
        finish(await finished('import', io, work, true));
      });
  },
};

interface ExportOptions {
  readonly thingsdb?: string | true;
}

/** The version of ThingsDB that dumps are written for when none is named. */
const THINGSDB_VERSION = '1.9.3-alpha1';

/** Writes a dump of ThingsDB of the export that some work puts at a path. */
async function asDump(
  node: ThingsdbReader,
  io: Io,
  file: string,
  version: string,
  work: (path: string) => Promise<void>,
): Promise<void> {
  if (existsSync(file)) throw new UsageError(`${file} exists already; give it another name, or remove it`);
  await inTemporaryFolder(async (folder) => {
    const path = join(folder, 'collection.export');
    await work(path);
    const { bytes, problems } = await node.dumpOfExport(createReadStream(path), version);
    await writeDurably(file, (handle) => handle.writeFile(bytes));
    for (const problem of problems) await tell(io, `ThingsDB can not hold this: ${problem}`);
    await tell(io, `${file}: a dump for ThingsDB ${version}, ${bytes.length} bytes`);
  });
}

/** Has a collection of ThingsDB as an export of ours for as long as some work takes. */
async function asExport(
  node: ThingsdbReader,
  name: string,
  group: ReturnType<ThingsdbReader['readDumpFile']>,
  work: (path: string) => Promise<void>,
): Promise<void> {
  await inTemporaryFolder(async (folder) => {
    const path = join(folder, `${name}.export`);
    // The same collection makes the same file, whenever: so an import goes on where it was interrupted.
    const made = { name, version: version(), begunAt: 0 };
    await pipeline(node.exportOfCollection(group, made), createWriteStream(path, { mode: 0o600 }));
    await work(path);
  });
}

type ThingsdbReader = Pick<
  typeof import('./node.js'),
  'readDumpFile' | 'exportOfCollection' | 'dumpOfExport'
>;

interface ImportOptions {
  readonly importTasks?: boolean;
}

/** @throws {UsageError} for what can't be the name of a collection */
export function nameOf(collection: string): string {
  const name = collection.replace(/^(\/\/|@:|@collection:)/, '');
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(name))
    throw new UsageError(`${JSON.stringify(collection)} is no collection: write its name, as in //stuff`);
  return name;
}

const exportHelp = `
The collection is in the file as it was at one moment, with everything that was acknowledged before; the cluster serves
meanwhile. The user needs GRANT on @thingsdb. The file gets its name when it is whole.

With --thingsdb it is a dump that import() of ThingsDB takes, in a version that is not older than the one named (1.9.3 by
default; name 1.8.4 for any from there on). What ThingsDB can't hold is named. The collection has to fit into memory.

Examples:
  althing export //stuff stuff.export --user admin
  althing export //stuff stuff.dump --thingsdb --user admin

Exit codes: 0 done; 1 it failed; 2 wrong usage; 6 no node could be reached, or not now: try again.`;

const importHelp = `
A new collection is made, in a cluster that serves, with the ids of its things. Until all of it is there, there is no
collection of that name; when it fails, nothing is left. When it is interrupted (this command, the node, the network), the same
command goes on where it ended, through any node, and says at which part; what nobody goes on with is deleted after a day. History is not taken over, and tasks only with --import-tasks. The
user needs all privileges on @thingsdb, and gets all of them on the collection. Take only files that your nodes wrote, or
data of ThingsDB, which are checked throughout: a dump (export({dump: true}) there), a backup archive (new_backup there), or
the folder of a ThingsDB that is stopped, of which the collection of that name is taken.

Examples:
  althing import //stuff stuff.export --user admin
  althing import //stuff /backup/today.backup --user admin
  althing import //stuff stuff.dump --import-tasks --user admin
  althing import //stuff backup.tar.gz --import-tasks --user admin

Exit codes: 0 done; ${exitHelp}.`;
