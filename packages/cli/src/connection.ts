/**
 * How a command reaches a node, and as whom: options and environment variables that all such commands have.
 */

import { decodeMessagePack, encodeMessagePack, type WireValue, wireMap } from '@althing/client';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { Exit } from './exit-codes.js';
import { type ClientTls, errorIn, exchange } from './http.js';
import { nonEmpty, textOption, UsageError } from './input.js';
import type { Io } from './io.js';
import { askPassword } from './password.js';
import { scopePath } from './scope.js';
import { addTlsOptions, tlsOf } from './tls.js';

/** A node, and who asks it. */
export interface Connection {
  readonly url: URL;
  readonly tls: ClientTls;
  readonly authorization: string;
  readonly timeoutMs: number;
}

/** A node answered with an error. */
export class QueryFailed extends Error {
  readonly exitCode: Exit;

  constructor(message: string, exitCode: Exit = Exit.Failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function addConnectionOptions(command: Command): Command {
  return addTlsOptions(command)
    .option('--url <url>', 'the node (ALTHING_URL; default http://127.0.0.1:9210)')
    .option('--token <token>', 'token to log in with (better: ALTHING_TOKEN)')
    .option(
      '--user <name[:password]>',
      'user to log in as (ALTHING_USER); without a password: ALTHING_PASSWORD, else it is asked for',
    )
    .addOption(
      new Option('--timeout <seconds>', 'how long to wait for an answer').argParser(seconds).default(60),
    );
}

/**
 * What the options say, and else the environment. May ask for a password.
 *
 * @throws {UsageError}
 */
export async function connectionOf(command: Command, io: Io): Promise<Connection> {
  const url = urlOf(textOption(command, 'url'), io);
  const tls = tlsOf(command, io);
  const authorization = await authorizationOf(textOption(command, 'token'), textOption(command, 'user'), io);
  return { url, tls, authorization, timeoutMs: Number(command.getOptionValue('timeout')) * 1000 };
}

/**
 * Runs a query and gives its result.
 *
 * @throws {QueryFailed} with what the node has to say
 * @throws {ConnectionError}
 */
export async function runQuery(
  connection: Connection,
  scope: string,
  code: string,
  vars: Readonly<Record<string, WireValue>> = {},
): Promise<WireValue> {
  const body = wireMap({ type: 'query', code, vars: wireMap(vars) });
  const path = scopePath(scope);
  const answer = await exchange({ ...connection, path, format: 'msgpack', body: encodeMessagePack(body) });
  if (answer.status === 200) return decodeMessagePack(answer.body);
  const error = errorIn(answer, 'msgpack');
  const number = error.code === undefined ? '' : ` (${error.code})`;
  throw new QueryFailed(`${error.name}${number}: ${error.message}`, error.exitCode);
}

function seconds(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 86_400)) throw new InvalidArgumentError('It must be a number up to 86400.');
  return value;
}

function urlOf(option: string | undefined, io: Io): URL {
  const text = option ?? nonEmpty(io.environment.ALTHING_URL) ?? 'http://127.0.0.1:9210';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    throw new UsageError(`${JSON.stringify(text)} is no URL; write it like http://127.0.0.1:9210`);
  }
  return url;
}

/** What stands on the command line wins over the environment; a token over a user of the same place. */
async function authorizationOf(
  tokenOption: string | undefined,
  userOption: string | undefined,
  io: Io,
): Promise<string> {
  const fromEnvironment = tokenOption === undefined && userOption === undefined;
  const token = fromEnvironment ? nonEmpty(io.environment.ALTHING_TOKEN) : tokenOption;
  if (tokenOption !== undefined && userOption !== undefined) {
    throw new UsageError('give either --token or --user');
  }
  if (token !== undefined) {
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new UsageError('a token has no blanks and only ASCII characters');
    return `Bearer ${token}`;
  }
  const user = userOption ?? nonEmpty(io.environment.ALTHING_USER);
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
