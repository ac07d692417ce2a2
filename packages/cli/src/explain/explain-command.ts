/** `althing explain`: what a query or a procedure would read, change and take, by statement. */
import { readFile } from 'node:fs/promises';
import {
  type Database,
  type DryRun,
  isWireList,
  isWireMap,
  parseJson,
  type WireValue,
} from '@althing/client';
import type { Command } from 'commander';
import type { CommandDefinition } from '../command.js';
import { addConnectionOptions, withConnection } from '../connection.js';
import { Exit, exitHelp } from '../exit-codes.js';
import { textOption, UsageError } from '../input.js';
import { type Io, readInput, write } from '../io.js';
import { varsOf } from '../query.js';
import { messageOf } from '../system-error.js';
import { finished } from '../work.js';
import { explainJson, explainText } from './explain-text.js';

export const explainCommand: CommandDefinition = {
  name: 'explain',
  summary: 'Try a query or a procedure out, and show what each statement takes, reads and changes',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .argument('[scope]', 'where to run: @thingsdb, or //NAME for a collection (ALTHING_SCOPE)')
      .argument('[code]', 'the query; "-" reads it from the standard input')
      .option('--file <file>', 'file that holds the query')
      .option('--vars <json>', 'variables of the query, as a JSON object')
      .option('--run <procedure>', 'a procedure, in the place of a query')
      .option('--args <json>', 'its arguments: a JSON list, or an object by their names')
      .option('--json', 'one line of JSON')
      .addHelpText('after', examples)
      .action(async (scope: string | undefined, code: string | undefined, _: unknown, invoked: Command) => {
        finish(await finished('explain', io, () => explain(scope, code, invoked, io), true));
      });
  },
};

const examples = `
The node runs it as a dry run: nothing is changed. Counting takes time of its own, so times are longer than those of a run that is not
explained. The user needs CHANGE besides QUERY or RUN.

Examples:
  althing explain //stuff '.users.filter(|u| u.age > 30);' --user admin
  althing explain //stuff --run checkout --args '[17]' --user admin
  althing explain //stuff --file report.ti --json | jq '.explain.statements[0]'

Exit codes: 0 done; ${exitHelp}.`;

async function explain(
  first: string | undefined,
  second: string | undefined,
  command: Command,
  io: Io,
): Promise<number> {
  return withConnection(command, io, async ({ db, scope }) => {
    const hasCode = !['run', 'file'].some((name) => textOption(command, name) !== undefined);
    const code = hasCode ? (second ?? first) : undefined;
    if (!hasCode && second !== undefined) throw new UsageError('give one of CODE, --file and --run');
    const where = (hasCode && second === undefined ? undefined : first) ?? scope;
    const told = await explained(db, where, code, command, io);
    const isJson = command.getOptionValue('json') === true;
    await write(io.stdout, `${isJson ? explainJson(told) : explainText(told)}\n`);
    return told.error === undefined ? 0 : Exit.Failed;
  });
}

async function explained(
  db: Database,
  scope: string,
  code: string | undefined,
  command: Command,
  io: Io,
): Promise<DryRun<unknown>> {
  const trials = db.$scope(scope).with({ dryRun: 'explain' });
  const procedure = textOption(command, 'run');
  if (procedure !== undefined) {
    const args = argsOf(textOption(command, 'args'));
    if (isWireMap(args)) return trials.call(procedure, Object.fromEntries(args));
    const run = trials.procs[procedure];
    if (run === undefined) throw new UsageError(`${procedure} is no name of a procedure`);
    return run(...args);
  }
  const vars = varsOf(textOption(command, 'vars'));
  return trials.query(await codeOf(code, command, io), vars);
}

async function codeOf(code: string | undefined, command: Command, io: Io): Promise<string> {
  if (code === '-') return readInput(io);
  const path = textOption(command, 'file');
  if (path === undefined) {
    if (code === undefined) throw new UsageError('there is no query: give CODE, --file or --run');
    return code;
  }
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`can't read ${path}: ${messageOf(error)}`);
  }
}

function argsOf(text: string | undefined): readonly WireValue[] | ReadonlyMap<string, WireValue> {
  if (text === undefined) return [];
  let args: WireValue;
  try {
    args = parseJson(text);
  } catch (error) {
    throw new UsageError(`--args is no JSON: ${messageOf(error)}`);
  }
  if (isWireList(args) || isWireMap(args)) return args;
  throw new UsageError('--args must be a JSON list or object, like [1, "x"] or {"name": 1}');
}
