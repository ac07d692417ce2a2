import { randomBytes } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import type { CommandDefinition } from './command.js';
import { addConnectionOptions, type Connection, withConnection } from './connection.js';
import { UsageError } from './input.js';
import { type Io, stoppable } from './io.js';
import type { BackupSummary } from './node.js';
import { Progress } from './progress.js';
import { receive } from './transfer.js';
import { finished } from './work.js';

export const backupCommand: CommandDefinition = {
  name: 'backup',
  summary: 'Take a backup of a whole cluster, or verify one',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .usage('[options] <file>')
      .argument('<file>', 'where to put it; nothing must be there')
      .addHelpText('after', help)
      .action(async (file: string, _: unknown, invoked: Command) =>
        finish(await finished('backup', io, () => receiveFile(invoked, io, file, '/@backup'))),
      );
    command
      .command('verify')
      .summary('Read a backup and check every byte of it')
      .description('Read a backup and check every byte of it. Needs no node.')
      .argument('<file>', 'the backup')
      .action(async (file: string) => finish(await finished('backup verify', io, () => verify(file, io))));
  },
};

const help = `
The backup holds every scope, with users and tokens, as it was at one moment; the cluster serves meanwhile. Any node
can be asked; the user needs GRANT on @thingsdb. The file is written under another name in the same folder, verified on
the way, synced, and only then gets its name. Whoever has it, has everything: keep it like a password.

Examples:
  althing backup althing.backup --user admin
  althing backup verify althing.backup
  ALTHING_TOKEN="$TOKEN" althing backup /backup/today.backup --url http://node-1:9210

Exit codes: 0 done; 1 it failed; 2 wrong usage; 6 no node could be reached, or not now: try again.`;

/**
 * Receives a backup or an export into a file that is whole, or not there.
 *
 * @throws {UsageError} when something is there already
 */
export async function receiveFile(command: Command, io: Io, file: string, path: string): Promise<void> {
  if (existsSync(file)) throw new UsageError(`${file} exists already; give it another name, or remove it`);
  await withConnection(command, io, async (connection) => {
    const progress = new Progress(io, 'received');
    const summary = await writeDurably(file, (handle) => save(connection, io, path, handle, progress));
    await progress.end(`${file}: ${described(summary)}, ${progress.size}`);
  });
}

async function verify(file: string, io: Io): Promise<void> {
  const { verifyBackup } = await import('./node.js');
  const progress = new Progress(io, 'read');
  const summary = await verifyBackup(progress.watch(createReadStream(file)));
  await progress.end(`${file} is whole: ${described(summary)}, ${progress.size}`);
}

/** The contents of a backup, in words. */
export function described({ head, records }: BackupSummary): string {
  const { begunAt, version, groups, collection } = head;
  // A file that was made of another database's data has no time of its own.
  const when = begunAt === 0 ? 'made' : `begun ${new Date(begunAt).toISOString()}`;
  if (collection !== undefined)
    return `${when} by version ${version}, the collection ${collection}, ${records} records`;
  const collections = groups === 2 ? '1 collection' : `${groups - 1} collections`;
  return `${when} by version ${version}, ${collections}, ${records} records`;
}

/** Verifies what comes while it is written. */
async function save(
  connection: Connection,
  io: Io,
  path: string,
  file: FileHandle,
  progress: Progress,
): Promise<BackupSummary> {
  const { verifyBackup } = await import('./node.js');
  return stoppable(io, async (signal) => {
    const bytes = await receive(connection, path, signal);
    return verifyBackup(written(progress.watch(bytes), file));
  });
}

async function* written(
  source: AsyncIterable<Uint8Array>,
  file: FileHandle,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const bytes of source) {
    await file.writeFile(bytes);
    yield bytes;
  }
}

/** Writes a file that is there as a whole, and stays after a power cut, or is not there at all. */
export async function writeDurably<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const partial = `${path}.${randomBytes(4).toString('hex')}.partial`;
  const file = await open(partial, 'wx', 0o600);
  try {
    const result = await work(file);
    await file.sync();
    await file.close();
    await rename(partial, path);
    const folder = await open(dirname(path));
    await folder.sync().finally(() => folder.close());
    return result;
  } catch (error) {
    await file.close();
    await rm(partial, { force: true });
    throw error;
  }
}
