/** `althing apply` and `althing diff`: types, enums, relations and procedures of a collection, kept in a file. */
import type { Command } from 'commander';
import { definitionsOf } from './apply/definitions.js';
import { type Plan, planOf } from './apply/plan.js';
import type { CommandDefinition } from './command.js';
import { addConnectionOptions, type Connection, runQuery, withConnection } from './connection.js';
import { Exit, exitHelp } from './exit-codes.js';
import { readText, UsageError } from './input.js';
import { type Io, tell, write } from './io.js';
import { finished } from './work.js';

export const applyCommand: CommandDefinition = {
  name: 'apply',
  summary: 'Make the types and procedures of a collection those of a file',
  configure(command, io, finish) {
    withFile(command)
      .option('--dry-run', 'try it on the node, and take it back')
      .addHelpText('after', APPLY_HELP)
      .action(async (scope: string, file: string, _: unknown, invoked: Command) =>
        finish(await finished('apply', io, () => applyFile(scope, file, invoked, io), true)),
      );
  },
};

export const diffCommand: CommandDefinition = {
  name: 'diff',
  summary: 'Show what apply would do',
  configure(command, io, finish) {
    withFile(command)
      .addHelpText('after', DIFF_HELP)
      .action(async (scope: string, file: string, _: unknown, invoked: Command) => {
        let differs = false;
        const compared = async (): Promise<void> => {
          differs = await diff(scope, file, invoked, io);
        };
        const code = await finished('diff', io, compared);
        if (code === 0) finish(differs ? DIFFERS : 0);
        else finish(code === Exit.Failed ? TROUBLE : code);
      });
  },
};

function withFile(command: Command): Command {
  return addConnectionOptions(command)
    .argument('<scope>', 'the collection, as //NAME')
    .argument('<file>', 'definitions, as export() writes them; "-" reads them from the standard input')
    .option('--delete', 'delete what the file does not have; else it stays, and is told');
}

const APPLY_HELP = `
The file says what there is to be, in the language: new_type, set_type, set_enum, mod_type with 'rel', new_index, new_procedure or set_procedure,
as export() writes them. What differs is changed, all of it or nothing. Where a change needs a value for each instance, the file gives it:
mod_type('User', 'mod', 'age', 'int', |user| int(user.age)); the rest of the time that line does nothing.

Examples:
  althing query //stuff 'export();' --format text > stuff.ti
  althing apply //stuff stuff.ti --dry-run && althing apply //stuff stuff.ti

Exit codes: 0 done, or nothing to do; ${exitHelp}.`;

const DIFF_HELP = `
Exit codes, as of diff(1): 0 nothing differs; 1 something does; 2 wrong usage, a file that can't be read, or the node answered with an error;
6 no node could be reached, or not now: try again.`;

/** Exit codes of `diff`. */
const DIFFERS = 1;
const TROUBLE = 2;

/**
 * Makes the definitions of a collection those of a file.
 *
 * @throws {DefinitionsError}
 */
export async function applyFile(scope: string, file: string, command: Command, io: Io): Promise<void> {
  await withConnection(command, io, async (connection) => {
    const plan = await compare(connection, scope, file, command, io);
    await show(plan, io);
    if (plan.statements.length === 0) return;
    const code = [REASON, ...plan.statements, 'nil;'].join('\n');
    const isDryRun = command.opts().dryRun === true;
    const where = connection.db.$scope(scope);
    if (isDryRun) await where.with({ dryRun: true }).query(code);
    else await where.query(code);
    await tell(io, isDryRun ? 'it would succeed; nothing was changed' : 'applied');
  });
}

/** The reason that the commit history gets, where there is one. */
const REASON = "try(commit('althing apply'));";

/** @returns whether the collection differs from the file */
async function diff(scope: string, file: string, command: Command, io: Io): Promise<boolean> {
  const plan = await withConnection(command, io, (connection) =>
    compare(connection, scope, file, command, io),
  );
  await show(plan, io);
  const differs = plan.statements.length + plan.left.length > 0;
  if (differs) await tell(io, `althing diff: ${scope} differs from ${file}`);
  return differs;
}

async function compare(
  connection: Connection,
  scope: string,
  file: string,
  command: Command,
  io: Io,
): Promise<Plan> {
  const wanted = definitionsOf(await readText(file, io), file);
  const present = await runQuery(connection, scope, 'export();');
  if (typeof present !== 'string') throw new UsageError(`${scope} is no collection; write it like //stuff`);
  return planOf(definitionsOf(present, scope), wanted, command.opts().delete === true);
}

async function show({ statements, left }: Plan, io: Io): Promise<void> {
  await write(io.stdout, statements.map((statement) => `${statement}\n`).join(''));
  for (const what of left)
    await tell(io, `not in the file, and left as it is: ${what} (--delete deletes it)`);
  if (statements.length === 0) await tell(io, 'nothing to do');
}
