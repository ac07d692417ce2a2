/**
 * Connections of commands to nodes: options, environment variables and profiles that all such commands have.
 */
import {
  type AlthingError,
  ConnectionError,
  type Credentials,
  connect,
  type Database,
  QueryError,
  type TlsOptions,
  type WireValue,
} from '@althing/client';
import { type Command, Option } from 'commander';
import {
  type Identity,
  identityOf,
  isReadOnly,
  type ResolvedSettings,
  resolveSettings,
  timeoutOf,
  urlsOf,
} from './client-settings/resolve.js';
import { Exit } from './exit-codes.js';
import { UsageError } from './input.js';
import { type Io, tell } from './io.js';
import { askPassword } from './password.js';
import { codeOf } from './system-error.js';
import { addTlsOptions, tlsOf } from './tls.js';

/** Some nodes of one database, and who asks them. */
export interface Connection {
  /** Without credentials. */
  readonly urls: readonly URL[];
  readonly tls: TlsOptions;
  readonly credentials: Credentials;
  /** Name of the user; `token` for who logs in with one. */
  readonly who: string;
  readonly timeoutMs: number;
  /** True if the nodes are to refuse what would change something. */
  readonly readOnly: boolean;
  /** Where, when the command names no scope. */
  readonly scope: string;
  readonly db: Database;
}

export function addConnectionOptions(command: Command): Command {
  return addTlsOptions(command)
    .option('--url <urls>', 'the nodes, separated by commas (ALTHING_URL; default http://127.0.0.1:9210)')
    .option('--token <token>', 'token to log in with (better: ALTHING_TOKEN)')
    .option('--token-file <file>', 'file that holds the token (ALTHING_TOKEN_FILE)')
    .option(
      '--user <name[:password]>',
      'user to log in as (ALTHING_USER); without a password: ALTHING_PASSWORD, else it is asked for',
    )
    .option('--password-file <file>', 'file that holds the password (ALTHING_PASSWORD_FILE)')
    .addOption(
      new Option('--timeout <seconds>', 'how long to wait for an answer (ALTHING_TIMEOUT; default 60)'),
    )
    .option('--read-only', 'have the nodes refuse what would change something (ALTHING_READ_ONLY)');
}

/**
 * Does what a command is for, with a connection that is closed afterwards.
 *
 * @throws {UsageError} for settings that are wrong, and what the work throws
 */
export async function withConnection<T>(
  command: Command,
  io: Io,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connectionOf(command, io);
  try {
    return await work(connection);
  } finally {
    await connection.db.$close();
  }
}

/**
 * Runs a query and gives its result.
 *
 * @throws {AlthingError}
 */
export function runQuery(
  { db }: Pick<Connection, 'db'>,
  scope: string,
  code: string,
  vars: Readonly<Record<string, WireValue>> = {},
): Promise<WireValue> {
  return db.$scope(scope).query<WireValue>(code, vars);
}

/** The exit code of a command that ended with an error of the client. */
export function exitCodeOf(error: AlthingError): Exit {
  if (error.outcome === 'unknown' || error.outcome === 'made') return Exit.Unknown;
  const isUnavailable =
    error instanceof ConnectionError || (error instanceof QueryError && error.code === NODE_ERR);
  return isUnavailable ? Exit.Unavailable : Exit.Failed;
}

/** Code of `node_err`: no node could do it now. */
const NODE_ERR = -51;

/** An error in words, with the way out, and with the outcome of a change. */
export function wordsOf(error: AlthingError): string {
  const head = error instanceof QueryError ? `${error.name} (${error.code}): ` : '';
  const way = error instanceof ConnectionError ? wayOut(error.cause) : '';
  const made = error.outcome === 'made' ? ' (the change was made)' : '';
  return `${head}${error.message}${way}${made}`;
}

function wayOut(cause: unknown): string {
  const code = codeOf(cause);
  if (code === 'ECONNREFUSED')
    return ': is the node running, and is this its bind_client_addr and http_api_port? (--url)';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ': the name can not be resolved (--url)';
  if (/CERT|SSL|SIGN|EPROTO/.test(code)) {
    return ': check http or https in --url, and the certificates (--tls-ca-file, --tls-cert-file)';
  }
  return '';
}

async function connectionOf(command: Command, io: Io): Promise<Connection> {
  const settings = resolveSettings(command, io);
  const tls = tlsOf(settings);
  const urls = urlsOf(settings);
  const credentials = await credentialsOf(identityOf(settings), io);
  if (settings.get('token')?.place === 'flag') {
    await tell(
      io,
      'a token on the command line is seen by others on this machine: ALTHING_TOKEN or --token-file hides it',
    );
  }
  for (const url of urls) {
    url.username = '';
    url.password = '';
  }
  const timeoutMs = timeoutOf(settings);
  const readOnly = isReadOnly(settings);
  const db = connect(
    urls.map(({ href }) => href),
    {
      ...credentials,
      tls,
      exact: true,
      readOnly,
      timeoutMs,
      attemptTimeoutMs: timeoutMs,
      // Where there is one node alone, waiting until it comes is for the caller to decide.
      ...(urls.length === 1 ? { attemptsMax: 1 } : {}),
      limits: { answerBytes: ANSWER_BYTES_MAX },
      // The way that every node has where its API is.
      rooms: 'websocket',
    },
  );
  return {
    urls,
    tls,
    credentials,
    who: 'user' in credentials ? credentials.user : 'token',
    timeoutMs,
    readOnly,
    scope: textAt(settings, 'scope'),
    db,
  };
}

/** Largest answer that is read. */
const ANSWER_BYTES_MAX = 1024 ** 3;

async function credentialsOf(identity: Identity, io: Io): Promise<Credentials> {
  if (identity.kind === 'token') return { token: identity.token };
  const { user } = identity;
  const password = identity.password ?? (await askPassword(io, `Password of ${user}: `));
  if (password !== undefined) return { user, password };
  throw new UsageError(`no password for ${user}: set ALTHING_PASSWORD, or write --user ${user}:PASSWORD`);
}

function textAt(settings: ResolvedSettings, key: string): string {
  return settings.get(key)?.value ?? '';
}
