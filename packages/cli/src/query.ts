import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandDefinition } from './command.js';
import { ConnectionError, errorIn, exchange, type Format } from './http.js';
import { type Io, readInput, tell, write } from './io.js';
import { askPassword } from './password.js';
import { scopePath } from './scope.js';
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
} from './wire/index.js';

export const queryCommand: CommandDefinition = {
  name: 'query',
  summary: 'Run a query on a node and print its result',
  configure(command, io, finish) {
    command
      .argument('<scope>', 'where to run: @thingsdb, @node, or //NAME for a collection')
      .argument('<code>', 'the query; "-" reads it from the standard input')
      .option('--url <url>', 'the node (ALTHING_URL; default http://127.0.0.1:9210)')
      .option('--token <token>', 'token to log in with (better: ALTHING_TOKEN)')
      .option(
        '--user <name[:password]>',
        'user to log in as (ALTHING_USER); without a password: ALTHING_PASSWORD, else it is asked for',
      )
      .option('--vars <json>', 'variables of the query, as a JSON object')
      .addOption(
        new Option(
          '--format <format>',
          'json: one line of JSON, as the node sent it; pretty: indented, and with what JSON lacks (bytes, nan)',
        )
          .choices(['json', 'pretty'])
          .default('json'),
      )
      .addOption(
        new Option('--timeout <seconds>', 'how long to wait for the answer').argParser(seconds).default(60),
      )
      .addHelpText('after', examples)
      .action(async (scope: string, code: string, _: unknown, invoked: Command) => {
        finish(await query(scope, code, optionsOf(invoked), io));
      });
  },
};

const examples = `
Examples:
  althing query //stuff '.greetings.choice();' --user admin
  althing query //stuff '.n += step;' --vars '{"step": 2}' --token "$TOKEN"
  althing query @thingsdb 'new_collection("books");' --user admin:pass
  echo '.len();' | althing query //stuff - --user admin:pass --format pretty

Exit codes: 0 done; 1 the query failed, or the node can't be reached; 2 wrong usage.`;

interface QueryOptions {
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly user: string | undefined;
  readonly vars: string | undefined;
  readonly format: 'json' | 'pretty';
  readonly timeoutMs: number;
}

/** Something that the caller wrote is wrong; nothing was sent. */
class UsageError extends Error {}

async function query(scope: string, code: string, options: QueryOptions, io: Io): Promise<number> {
  try {
    const url = urlOf(options, io);
    const vars = varsOf(options);
    const authorization = await authorizationOf(options, io);
    const text = code === '-' ? await readInput(io) : code;
    const format: Format = options.format === 'pretty' ? 'msgpack' : 'json';
    const body = wireMap({ type: 'query', code: text, vars });
    const answer = await exchange({
      url,
      path: scopePath(scope),
      authorization,
      format,
      body: format === 'json' ? Buffer.from(stringifyJson(body)) : encodeMessagePack(body),
      timeoutMs: options.timeoutMs,
    });
    if (answer.status !== 200) {
      const error = errorIn(answer, format);
      const code = error.code === undefined ? '' : ` (${error.code})`;
      await tell(io, `${error.name}${code}: ${error.message}`);
      return 1;
    }
    await write(io.stdout, format === 'json' ? answer.body : showValue(decodeMessagePack(answer.body)));
    await write(io.stdout, '\n');
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      await tell(io, `althing query: ${error.message}`);
      return 2;
    }
    if (error instanceof ConnectionError || error instanceof WireError) {
      await tell(io, `althing query: ${error.message}`);
      return 1;
    }
    throw error;
  }
}

/** The options as commander has them, which are strings or absent. */
function optionsOf(command: Command): QueryOptions {
  const all: Readonly<Record<string, unknown>> = command.opts();
  const text = (name: string): string | undefined => {
    const value = all[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    url: text('url'),
    token: text('token'),
    user: text('user'),
    vars: text('vars'),
    format: text('format') === 'pretty' ? 'pretty' : 'json',
    timeoutMs: Number(all.timeout) * 1000,
  };
}

function seconds(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 86_400)) throw new InvalidArgumentError('It must be a number up to 86400.');
  return value;
}

function urlOf(options: QueryOptions, io: Io): URL {
  const text = options.url ?? nonEmpty(io.environment.ALTHING_URL) ?? 'http://127.0.0.1:9210';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    throw new UsageError(`${JSON.stringify(text)} is no URL; write it like http://127.0.0.1:9210`);
  }
  return url;
}

function varsOf(options: QueryOptions): WireValue | undefined {
  if (options.vars === undefined) return undefined;
  let vars: WireValue;
  try {
    vars = parseJson(options.vars);
  } catch (error) {
    throw new UsageError(`--vars is no JSON: ${error instanceof WireError ? error.message : String(error)}`);
  }
  if (!isWireMap(vars)) throw new UsageError('--vars must be a JSON object, like {"name": 1}');
  return vars;
}

/** What stands on the command line wins over the environment; a token over a user of the same place. */
async function authorizationOf(options: QueryOptions, io: Io): Promise<string> {
  const fromEnvironment = options.token === undefined && options.user === undefined;
  const token = fromEnvironment ? nonEmpty(io.environment.ALTHING_TOKEN) : options.token;
  if (options.token !== undefined && options.user !== undefined) {
    throw new UsageError('give either --token or --user');
  }
  if (token !== undefined) {
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new UsageError('a token has no blanks and only ASCII characters');
    return `Bearer ${token}`;
  }
  const user = options.user ?? nonEmpty(io.environment.ALTHING_USER);
  if (user === undefined) {
    throw new UsageError('who are you? Give --user NAME, --token TOKEN, or set ALTHING_TOKEN');
  }
  const colon = user.indexOf(':');
  const name = colon === -1 ? user : user.slice(0, colon);
  const password = colon === -1 ? await passwordOf(name, io) : user.slice(colon + 1);
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

async function passwordOf(name: string, io: Io): Promise<string> {
  const password =
    nonEmpty(io.environment.ALTHING_PASSWORD) ?? (await askPassword(io, `Password of ${name}: `));
  if (password !== undefined) return password;
  throw new UsageError(`no password for ${name}: set ALTHING_PASSWORD, or write --user ${name}:PASSWORD`);
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
