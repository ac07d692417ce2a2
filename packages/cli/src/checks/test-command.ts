/** `althing test`: checks of a collection, run against a copy of it. */
import { randomBytes } from 'node:crypto';
import { AlthingError, QueryError } from '@althing/client';
import type { Command } from 'commander';
import { applyFile } from '../apply.js';
import { nameOf } from '../collection-files.js';
import type { CommandDefinition } from '../command.js';
import { addConnectionOptions, type Connection, withConnection, wordsOf } from '../connection.js';
import { copyCollection } from '../copy.js';
import { exitHelp } from '../exit-codes.js';
import { CommandError, readText } from '../input.js';
import { type Io, tell, write } from '../io.js';
import { finished } from '../work.js';
import { type CheckStatement, checkStatements } from './check-file.js';
import { tapLines } from './tap.js';

export const testCommand: CommandDefinition = {
  name: 'test',
  summary: 'Run checks against a copy of a collection',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .argument('<collection>', 'as in //stuff or stuff')
      .argument('<file>', 'checks; "-" reads them from the standard input')
      .option('--apply <file>', 'give the copy the definitions of a file before, as apply does')
      .option('--keep', 'leave the copy, and tell its name')
      .addHelpText('after', HELP)
      .action(async (collection: string, file: string, options: TestOptions, invoked: Command) => {
        const work = (): Promise<void> => check(nameOf(collection), file, options, invoked, io);
        finish(await finished('test', io, work));
      });
  },
};

interface TestOptions {
  readonly apply?: string;
  readonly keep?: boolean;
}

async function check(
  collection: string,
  file: string,
  options: TestOptions,
  command: Command,
  io: Io,
): Promise<void> {
  const statements = checkStatements(await readText(file, io), file);
  const copy = `${collection.slice(0, 200)}_test_${randomBytes(4).toString('hex')}`;
  await copyCollection(command, io, collection, copy, false);
  try {
    // The results alone go to the standard output.
    if (options.apply !== undefined)
      await applyFile(`//${copy}`, options.apply, command, { ...io, stdout: io.stderr });
    const failed = await withConnection(command, io, (connection) => run(connection, copy, statements, io));
    if (failed > 0) throw new CommandError(`${failed} checks failed`);
  } finally {
    if (options.keep === true) await tell(io, `the copy is //${copy}`);
    else
      await withConnection(command, io, ({ db }) =>
        db.$scope('/t').query('del_collection(name);', { name: copy }),
      );
  }
}

/** Runs statements in their order, and tells of checks in the form of the Test Anything Protocol; gives how many failed. */
async function run(
  { db }: Connection,
  copy: string,
  statements: readonly CheckStatement[],
  io: Io,
): Promise<number> {
  const scope = db.$scope(`//${copy}`);
  const checks = scope.with({ dryRun: true });
  let number = 0;
  let failed = 0;
  await write(io.stdout, `1..${statements.filter(({ name }) => name !== null).length}\n`);
  for (const { name, code } of statements) {
    if (name === null) {
      await scope.query(code);
      continue;
    }
    number += 1;
    const problem = await problemOf(() => checks.query(code));
    if (problem !== null) failed += 1;
    await write(io.stdout, tapLines(number, name, problem));
  }
  return failed;
}

/** Why a check failed; null when it did not. Whatever is no error of the check ends all. */
async function problemOf(work: () => Promise<unknown>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!(error instanceof QueryError) || !(error instanceof AlthingError)) throw error;
    const place = error.at === null ? '' : ` (line ${error.at.line}, column ${error.at.column})`;
    return wordsOf(error) + place;
  }
}

const HELP = `
A file of checks has statements of the language. Closures are checks, named by the text that they begin with: one fails when it
raises an error, as assert() does. What a check changes is taken back, so each finds what the statements before it made. Other
statements stay, as changes of the copy. The copy is deleted in the end; the collection itself is never changed.

  .stock = {tea: 10};
  || { "An order takes from the stock."; order('tea', 2); assert(.stock.tea == 8); };
  || { "More than there is can not be ordered."; assert(is_err(try(order('tea', 11)))); };

With --apply the copy has the definitions of a file before: whether a deployment works with the data that are there. The user needs
all privileges on @thingsdb. The output is in the form of the Test Anything Protocol.

Examples:
  althing test //stuff checks.ti --user admin
  althing test //stuff checks.ti --apply shop.ti --user admin

Exit codes: 0 all checks passed; 1 some failed; ${exitHelp}.`;
