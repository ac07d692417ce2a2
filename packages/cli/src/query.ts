import { randomUUID } from 'node:crypto';
import {
  decodeMessagePack,
  encodeMessagePack,
  isWireMap,
  parseJson,
  showValue,
  stringifyJson,
  WireError,
  type WireValue,
  wireMap,
} from '@althing/client';
import { type Command, Option } from 'commander';
import type { CommandDefinition } from './command.js';
import { addConnectionOptions, connectionOf } from './connection.js';
import { Exit, exitHelp } from './exit-codes.js';
import { ConnectionError, errorIn, exchange, type Format } from './http.js';
import { textOption, UsageError } from './input.js';
import { type Io, readInput, tell, write } from './io.js';
import { scopePath } from './scope.js';

export const queryCommand: CommandDefinition = {
  name: 'query',
  summary: 'Run a query on a node and print its result',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .argument('<scope>', 'where to run: @thingsdb, @node, or //NAME for a collection')
      .argument('<code>', 'the query; "-" reads it from the standard input')
      .option('--vars <json>', 'variables of the query, as a JSON object')
      .option(
        '--idempotency-key <key>',
        'name of a request whose outcome is unknown: sent again, it takes effect once',
      )
      .addOption(
        new Option(
          '--format <format>',
          'json: one line of JSON, as the node sent it; pretty: indented, and with what JSON lacks (bytes, nan)',
        )
          .choices(['json', 'pretty'])
          .default('json'),
      )
      .addHelpText('after', examples)
      .action(async (scope: string, code: string, _: unknown, invoked: Command) => {
        finish(await query(scope, code, invoked, io));
      });
  },
};

const examples = `
Examples:
  althing query //stuff '.greetings.choice();' --user admin
  althing query //stuff '.n += step;' --vars '{"step": 2}' --token "$TOKEN"
  althing query @thingsdb 'new_collection("books");' --user admin:pass
  echo '.len();' | althing query //stuff - --user admin:pass --format pretty

Exit codes: 0 done; ${exitHelp}.`;

async function query(scope: string, code: string, command: Command, io: Io): Promise<number> {
  const idempotencyKey = textOption(command, 'idempotencyKey') ?? randomUUID();
  const failed = async (message: string, exitCode: Exit): Promise<number> => {
    await tell(io, message);
    if (exitCode === Exit.Unknown)
      await tell(io, `to send it again, so that it takes effect once: --idempotency-key ${idempotencyKey}`);
    return exitCode;
  };
  try {
    const vars = varsOf(textOption(command, 'vars'));
    const connection = await connectionOf(command, io);
    const text = code === '-' ? await readInput(io) : code;
    const format: Format = textOption(command, 'format') === 'pretty' ? 'msgpack' : 'json';
    const body = wireMap({ type: 'query', code: text, vars });
    const answer = await exchange({
      ...connection,
      path: scopePath(scope),
      idempotencyKey,
      format,
      body: format === 'json' ? Buffer.from(stringifyJson(body)) : encodeMessagePack(body),
    });
    if (answer.status !== 200) {
      const error = errorIn(answer, format);
      const code = error.code === undefined ? '' : ` (${error.code})`;
      const made = error.outcome === 'made' ? ' (the change was made)' : '';
      return await failed(`${error.name}${code}: ${error.message}${made}`, error.exitCode);
    }
    await write(io.stdout, format === 'json' ? answer.body : showValue(decodeMessagePack(answer.body)));
    await write(io.stdout, '\n');
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      await tell(io, `althing query: ${error.message}`);
      return 2;
    }
    if (error instanceof ConnectionError) {
      return await failed(`althing query: ${error.message}`, error.exitCode);
    }
    if (error instanceof WireError) {
      await tell(io, `althing query: ${error.message}`);
      return Exit.Failed;
    }
    throw error;
  }
}

function varsOf(text: string | undefined): WireValue | undefined {
  if (text === undefined) return undefined;
  let vars: WireValue;
  try {
    vars = parseJson(text);
  } catch (error) {
    throw new UsageError(`--vars is no JSON: ${error instanceof WireError ? error.message : String(error)}`);
  }
  if (!isWireMap(vars)) throw new UsageError('--vars must be a JSON object, like {"name": 1}');
  return vars;
}
