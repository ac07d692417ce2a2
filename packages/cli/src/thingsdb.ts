/**
 * The program `thingsdb`: a node, started with the arguments, the file and the defaults that ThingsDB has.
 */
import { Command, CommanderError } from 'commander';
import { type Io, processIo, tell, writeLast } from './io.js';
import type { SettingKey } from './node.js';
import { addOptions, type Manner, type ServerPackage, serve } from './serve.js';
import { compileSooner } from './tiering.js';

/** The options of ThingsDB. They may be shortened as long as it is clear which is meant; those of Althing may not. */
const OPTIONS = [
  '--help',
  '--version',
  '--config',
  '--log-level',
  '--log-colorized',
  '--init',
  '--secret',
  '--force',
  '--rebuild',
  '--auto-rebuild',
  '--forget-nodes',
  '--deploy',
  '--yes',
];

/** Characters of a value at most. */
const VALUE_LENGTH_MAX = 254;

/** The exit code of ThingsDB whenever something is wrong. */
const PROBLEM = 1;

/**
 * Runs a node.
 *
 * @param args what stands behind `thingsdb`
 * @param given the server's package; for tests
 * @returns the exit code: 0, or 1 for all that is wrong with arguments, configuration and data
 */
export async function thingsdb(
  args: readonly string[],
  io: Io = processIo(),
  given?: ServerPackage,
): Promise<number> {
  const node = given ?? (await import('./node.js'));
  const output: string[] = [];
  let exitCode: number = PROBLEM;
  const program = new Command('thingsdb')
    .description('A node of Althing, started as one of ThingsDB')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.push(text),
      writeErr: (text) => output.push(text),
    });
  addOptions(program, node);
  const read = argumentsOf(args, (option) =>
    program.options.some(({ long, short, required }) => required && [long, short].includes(option)),
  );
  if ('problem' in read) {
    await tell(io, `thingsdb: ${read.problem}; see --help`);
    return PROBLEM;
  }
  const manner = mannerIn(io.environment);
  program.action(async () => {
    if (given === undefined) compileSooner();
    exitCode = await serve(program, hangingUp(io), node, manner);
  });
  let stream = io.stderr;
  try {
    await program.parseAsync(read.args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    exitCode = error.exitCode;
    if (exitCode === 0) stream = io.stdout;
  }
  await writeLast(stream, output.join(''));
  const { Configuration, DataDamaged } = node.ExitCode;
  return exitCode >= Configuration && exitCode <= DataDamaged ? PROBLEM : exitCode;
}

/** A world in which SIGHUP asks for a stop. */
function hangingUp(io: Io): Io {
  const { stdin, stdout, stderr, environment } = io;
  return {
    stdin,
    stdout,
    stderr,
    environment,
    hideVariables: (names) => io.hideVariables(names),
    onStopSignal(callback) {
      const ends = [io.onStopSignal(callback), io.onReloadSignal(() => callback('SIGHUP'))];
      return () => {
        for (const end of ends) end();
      };
    },
    onReloadSignal: () => () => {},
  };
}

/**
 * Arguments by the rules of ThingsDB: a value is the next argument, and does not begin with a hyphen.
 *
 * @param takesValue whether an option, in full, has a value
 */
function argumentsOf(
  args: readonly string[],
  takesValue: (option: string) => boolean,
): { readonly args: readonly string[] } | { readonly problem: string } {
  const read: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const option = inFull(args[at] ?? '');
    const problem = problemOf(option);
    if (problem !== null) return { problem };
    read.push(option);
    if (!takesValue(option)) continue;
    at += 1;
    const value = args[at];
    if (value === undefined || value.startsWith('-')) return { problem: `${option} needs a value behind it` };
    if (value.length > VALUE_LENGTH_MAX)
      return { problem: `the value of ${option} has more than ${VALUE_LENGTH_MAX} characters` };
    read.push(value);
  }
  return { args: read };
}

function problemOf(option: string): string | null {
  if (!/^--?[^-]/.test(option)) return `"${option}" is no option`;
  if (option.includes('=')) return `"${option}": the value is the next argument, as in "--secret x"`;
  if (!option.startsWith('--') && option.length > 2)
    return `"${option}": options are given one by one, with the value as the next argument`;
  return null;
}

function inFull(arg: string): string {
  const meant = OPTIONS.includes(arg) ? [] : OPTIONS.filter((option) => option.startsWith(arg));
  return arg.length > 2 && arg.startsWith('--') && meant.length === 1 ? (meant[0] ?? arg) : arg;
}

function mannerIn({ HOME: home, USER: user }: Io['environment']): Manner {
  const isSystem = process.getuid?.() === 0 || !home || !user;
  const always: readonly (readonly [SettingKey, string])[] = [
    ['http_api_port', '0'],
    ['http_status_port', '0'],
    ['log_level', 'warning'],
    ['storage_path', isSystem ? '/var/lib/thingsdb/' : `${home}/.thingsdb/`],
    ['modules_path', isSystem ? '/usr/lib/thingsdb-modules' : `${home}/.thingsdb-modules`],
    ['backup_path', '/'],
    // A node that sees no majority still tells how it is there, to who can log in.
    ['auth_max_stale_ms', '60000'],
    // An empty node takes its place at once there.
    ['replace_after_ms', '3000'],
    // Garbage goes with the storage of every thousandth change there.
    ['garbage_interval_ms', '10000'],
    // There is no limit to these there.
    ['query_duration_limit_ms', '5000'],
    ['request_size_limit', '64MB'],
    ['value_size_limit', '64MB'],
  ];
  return {
    isLenient: true,
    waitsForOrders: true,
    // Clients of ThingsDB give a login up after 5 seconds; whoever is on this machine needs no longer ones.
    defaults: (isLocal) => new Map(isLocal ? [...always, ['login_backoff_limit_ms', '2000']] : always),
  };
}
