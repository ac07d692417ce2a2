/** `althing changes`: the committed changes of a collection, one a line, as they come. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { changeLines, LostError, lostIn } from '@althing/client/changes';
import type { Command } from 'commander';
import { writeDurably } from '../backup.js';
import { nameOf } from '../collection-files.js';
import type { CommandDefinition } from '../command.js';
import { addConnectionOptions, type Connection, withConnection, wordsOf } from '../connection.js';
import { exitHelp } from '../exit-codes.js';
import { CommandError, UsageError } from '../input.js';
import { type Io, tell } from '../io.js';
import { GoneError, receive } from '../transfer.js';
import { finished } from '../work.js';

interface ChangesOptions {
  readonly types?: string;
  readonly ids?: string;
  readonly since?: string;
  readonly state?: string;
}

export const changesCommand: CommandDefinition = {
  name: 'changes',
  summary: 'Follow the changes of a collection: JSON a line, from any position on',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .argument('<scope>', 'the collection, as //NAME')
      .option('--types <names>', 'only things of these types, separated by commas')
      .option('--ids <ids>', 'only these things, separated by commas')
      .option('--since <position>', 'begin behind this position; else with what comes from now on')
      .option('--state <file>', 'keep the position in this file, and begin with it when it is there')
      .addHelpText('after', HELP)
      .action(async (scope: string, options: ChangesOptions, invoked: Command) =>
        finish(await finished('changes', io, () => follow(scope, options, invoked, io))),
      );
  },
};

const HELP = `
A line is a change as docs/feed.md tells, written once it is committed. When a node goes the next of --url is asked from the last position on. With
--state the position is kept each second, behind what was written: a run that is killed begins there, so nothing is left out, and the last lines may come
again. Ctrl-C ends it.

When the position is lost begin anew: althing dump writes what is there now, and says the position behind it for --since; the file of --state is to be
removed.

Examples:
  althing changes //stuff --user admin
  althing changes //stuff --types Order,User --state position.txt --user admin >> changes.jsonl

Exit codes: 0 interrupted, or nobody reads the output any more; ${exitHelp}.`;

/** Time between two times that the position is kept, in milliseconds. */
const KEEP_MS = 1000;

async function follow(scope: string, options: ChangesOptions, command: Command, io: Io): Promise<void> {
  const name = nameOf(scope);
  const since = await positionOf(options);
  const stop = new AbortController();
  const unsubscribe = io.onStopSignal(() => stop.abort());
  const { signal } = stop;
  let position: string | null = null;
  let keptAt = 0;
  const keep = async (): Promise<void> => {
    const { state } = options;
    keptAt = performance.now();
    if (state !== undefined && position !== null)
      await writeDurably(state, (file) => file.writeFile(`${position}\n`));
  };
  try {
    await withConnection(command, io, async (connection) => {
      const lines = changeLines({
        urls: connection.urls,
        open: (node, from) => opened({ ...connection, urls: [node] }, pathOf(name, options, from), signal),
        since,
        signal,
        onFailure: async (error, failures) => {
          if (position === null && failures >= connection.urls.length) throw error;
          if (failures === 1) await tell(io, `${wordsOf(error)}; going on as soon as a node answers`);
        },
      });
      for await (const { text, at, isAlive } of lines) {
        if (!isAlive && !(await isTaken(io, `${text}\n`))) return;
        position = at;
        if (performance.now() - keptAt >= KEEP_MS) await keep();
      }
    });
  } catch (error) {
    throw error instanceof LostError ? new CommandError(error.message) : error;
  } finally {
    unsubscribe();
    await keep();
  }
}

async function* opened(
  connection: Connection,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* await receive(connection, path, signal, { method: 'GET' });
  } catch (error) {
    throw error instanceof GoneError ? lostIn(error.message) : error;
  }
}

function pathOf(name: string, { types, ids }: ChangesOptions, since: string | null): string {
  const query = new URLSearchParams({
    ...(since === null ? {} : { since }),
    ...(types === undefined ? {} : { types }),
    ...(ids === undefined ? {} : { ids }),
  });
  return `/@changes/${name}?${query}`;
}

async function positionOf({ since, state }: ChangesOptions): Promise<string | null> {
  if (since !== undefined && !POSITION.test(since)) throw new UsageError(`--since: ${since} is no position`);
  if (state === undefined || !existsSync(state)) return since ?? null;
  if (since !== undefined)
    throw new UsageError(`${state} has a position already: leave --since out, or remove the file`);
  const kept = (await readFile(state, 'utf8')).trim();
  if (!POSITION.test(kept)) throw new UsageError(`${state} holds no position, but "${kept.slice(0, 40)}"`);
  return kept;
}

/** An index of the log, and a hash over all that lies before. */
const POSITION = /^\d+-[0-9a-f]{8}$/;

/** Writes, and waits until it was taken; false when nobody reads any more. */
function isTaken({ stdout }: Io, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    stdout.write(text, (error) => resolve(error === undefined || error === null));
  });
}
