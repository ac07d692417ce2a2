import { randomUUID } from 'node:crypto';
import {
  AlthingError,
  type CallOptions,
  isWireMap,
  parseJson,
  showValue,
  type WireValue,
} from '@althing/client';
import { type Command, Option } from 'commander';
import type { CommandDefinition } from './command.js';
import { addConnectionOptions, withConnection } from './connection.js';
import { tryOut } from './dry-run.js';
import { Exit, exitHelp } from './exit-codes.js';
import { textOption, UsageError } from './input.js';
import { type Io, readInput, tell, write } from './io.js';
import { failureOf } from './shell/failure.js';
import { jsonLine } from './shell/output.js';
import { messageOf } from './system-error.js';

export const queryCommand: CommandDefinition = {
  name: 'query',
  summary: 'Run a query on a node and print its result',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .argument('<scope>', 'where to run: @thingsdb, @node, or //NAME for a collection')
      .argument('<code>', 'the query; "-" reads it from the standard input')
      .option('--vars <json>', 'variables of the query, as a JSON object')
      .option('--dry-run', 'try it out: print its result and what it would change, and change nothing')
      .option(
        '--snapshot',
        'read a snapshot, in a thread of its own: for queries that take up to ten minutes',
      )
      .option(
        '--idempotency-key <key>',
        'name of a request whose outcome is unknown: sent again, it takes effect once',
      )
      .addOption(
        new Option(
          '--format <format>',
          'json: one line of JSON (bytes as base64, nan and inf as texts); pretty: indented, and with what JSON lacks; text: a text as it is, without quotes',
        )
          .choices(['json', 'pretty', 'text'])
          .default('json'),
      )
      .addHelpText('after', examples)
      .action(async (scope: string, code: string, _: unknown, invoked: Command) => {
        finish(await query(scope, code, invoked, io));
      });
  },
};

/** Time that a snapshot read may wait and run, in milliseconds: longer than nodes let it by default. */
const SNAPSHOT_MS = 15 * 60_000;

const SNAPSHOT: CallOptions = {
  consistency: 'snapshot',
  timeoutMs: SNAPSHOT_MS,
  attemptTimeoutMs: SNAPSHOT_MS,
};

const examples = `
Examples:
  althing query //stuff '.greetings.choice();' --user admin
  althing query //stuff '.n += step;' --vars '{"step": 2}' --token-file token
  althing query //stuff '.orders.map(|o| o.amount).sum();' --snapshot --user admin
  althing query @thingsdb 'new_collection("books");' --user admin:pass
  echo '.len();' | althing query //stuff - --user admin:pass --format pretty

Exit codes: 0 done; ${exitHelp}.`;

async function query(scope: string, code: string, command: Command, io: Io): Promise<number> {
  const idempotencyKey = textOption(command, 'idempotencyKey') ?? randomUUID();
  let source = code;
  try {
    const vars = varsOf(textOption(command, 'vars'));
    return await withConnection(command, io, async ({ db }) => {
      if (code === '-') source = await readInput(io);
      const value =
        command.getOptionValue('dryRun') === true
          ? await tryOut(db, scope, source, vars, {})
          : await db
              .$scope(scope)
              .with({ idempotencyKey, ...(command.getOptionValue('snapshot') === true && SNAPSHOT) })
              .query<WireValue>(source, vars);
      await write(io.stdout, `${shown(value, textOption(command, 'format'))}\n`);
      return 0;
    });
  } catch (error) {
    if (error instanceof UsageError) {
      await tell(io, `althing query: ${error.message}`);
      return 2;
    }
    if (!(error instanceof AlthingError)) throw error;
    const failure = failureOf(error, source);
    await tell(io, failure.text);
    if (failure.exitCode === Exit.Unknown)
      await tell(io, `to send it again, so that it takes effect once: --idempotency-key ${idempotencyKey}`);
    return failure.exitCode;
  }
}

/** @returns a value in a format; what is no text is a line of JSON in the format `text`, too */
function shown(value: WireValue, format: string | undefined): string {
  if (format === 'text' && typeof value === 'string') return value;
  return format === 'pretty' ? showValue(value) : jsonLine(value);
}

/** @throws {UsageError} for what is no JSON object */
export function varsOf(text: string | undefined): ReadonlyMap<string, WireValue> {
  if (text === undefined) return new Map();
  let vars: WireValue;
  try {
    vars = parseJson(text);
  } catch (error) {
    throw new UsageError(`--vars is no JSON: ${messageOf(error)}`);
  }
  if (!isWireMap(vars)) throw new UsageError('--vars must be a JSON object, like {"name": 1}');
  return vars;
}
