import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { AbortError, OutcomeUnknownError, type WireValue } from '@althing/client';
import type { Command } from 'commander';
import { described } from './backup.js';
import type { CommandDefinition } from './command.js';
import { addConnectionOptions, withConnection } from './connection.js';
import { exitHelp } from './exit-codes.js';
import { type Io, stoppable } from './io.js';
import { Progress } from './progress.js';
import { send } from './transfer.js';
import { finished } from './work.js';

export const restoreCommand: CommandDefinition = {
  name: 'restore',
  summary: 'Put a backup into a cluster with empty collections',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .argument('<file>', 'the backup')
      .addHelpText('after', help)
      .action(async (file: string, _: unknown, invoked: Command) => {
        const work = (): Promise<void> => sendFile(invoked, io, file, '/@restore', { done: 'restored' });
        finish(await finished('restore', io, work, true));
      });
  },
};

const help = `
The collections of the cluster must be empty. The file is verified first. The cluster serves meanwhile, and has either
all of the backup or all that it had: an interrupted restore changes nothing.

Users, passwords and tokens are then those of the backup, also for the user who restores it. The nodes stay what they are.

Examples:
  althing restore althing.backup --user admin
  althing restore /backup/today.backup --url http://new-0:9210 --user admin

Exit codes: 0 done; ${exitHelp}.`;

interface Sending {
  /** The word for a file that was taken. */
  readonly done: string;
  /** True if the node is to go on where it was interrupted with this file. */
  readonly isResumable?: boolean;
}

/** Sends a file that is whole, and waits until the node has taken it. */
export async function sendFile(
  command: Command,
  io: Io,
  file: string,
  path: string,
  { done, isResumable = false }: Sending,
): Promise<void> {
  const { verifyBackup } = await import('./node.js');
  const { size } = await stat(file);
  const reading = new Progress(io, 'verified', size);
  const summary = await verifyBackup(reading.watch(createReadStream(file)));
  await reading.end(`${file} is whole: ${described(summary)}`);
  const sending = new Progress(io, 'sent', size);
  try {
    const to = isResumable ? `${path}/${summary.digest}` : path;
    const answer = await withConnection(command, io, (connection) =>
      stoppable(io, (signal) => send(connection, to, size, sending.watch(createReadStream(file)), signal)),
    );
    await sending.end(`${done}: ${described(summary)}${resumedAt(answer)}`);
  } catch (error) {
    const isCut = error instanceof OutcomeUnknownError || error instanceof AbortError;
    if (isResumable && isCut) await sending.end('the same command goes on where this one ended');
    throw error;
  }
}

/** Where an import went on that was interrupted before, in words. */
export function resumedAt(answer: ReadonlyMap<string, WireValue>): string {
  const [resumed, parts] = ['resumed', 'parts'].map((name) => Number(answer.get(name) ?? 0));
  return resumed ? `; resumed at part ${resumed.toLocaleString('en')} of ${parts?.toLocaleString('en')}` : '';
}
