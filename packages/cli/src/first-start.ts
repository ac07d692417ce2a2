/**
 * The options of `serve` that say how a node begins, as ThingsDB has them, and the variables that stand for them:
 * what they exclude, what they ask before they touch data, and what they come to here.
 */

import { type Command, Option } from 'commander';
import { type Io, tell, write } from './io.js';
import type { Config, FirstStart } from './node.js';
import type { ServerPackage } from './serve.js';
import { messageOf } from './system-error.js';

/** The wishes for a start. */
export interface Wanted {
  readonly init: boolean;
  /** The one-time secret to wait with. */
  readonly secret: string | undefined;
  readonly deploy: boolean;
  readonly force: boolean;
  readonly rebuild: boolean;
  readonly autoRebuild: boolean;
  readonly forgetNodes: boolean;
  /** Questions are answered with yes. */
  readonly yes: boolean;
}

/** The result of a start: how an empty node begins; or nothing is started, and the process ends with this code. */
export type Beginning = { readonly first: FirstStart | undefined } | { readonly exitCode: number };

const GROUP = 'As ThingsDB has it:';

const FLAGS: readonly (readonly [string, string])[] = [
  ['--init', 'without data: a new cluster, with a secret of its own, to which new_node() calls others'],
  ['--secret <text>', 'without data: wait for new_node(text, ...), which is of use once'],
  ['--deploy', 'without data: --init on the node whose name is 0 or ends with -0, else --secret'],
  ['--force', 'with --init or --secret: begin without the data that there are (asks; they are set aside)'],
  ['--rebuild', 'begin without data, and get them from the other nodes (asks; they are set aside)'],
  ['--auto-rebuild', 'do so without a question when the data turn out to be damaged'],
  ['--forget-nodes', 'load the data as a cluster of this node alone: "althing recover" (asks)'],
  ['-y, --yes', 'answer all that is asked with yes'],
  ['--log-colorized', 'accepted, and of no effect: the log has no colours; see --log-format'],
];

export function addStartOptions(command: Command): void {
  for (const [flags, doc] of FLAGS) command.addOption(new Option(flags, doc).helpGroup(GROUP));
}

/**
 * Reads the options and, where no option says how to begin, the variables.
 *
 * @throws StartError about options that exclude each other
 */
export function wantedOf(command: Command, io: Io, node: ServerPackage): Wanted {
  const refuse = (why: string): Error => new node.StartError(why, node.ExitCode.Configuration);
  const given = (name: string): boolean => command.getOptionValue(name) === true;
  const isOn = (variable: string): boolean => {
    const text = io.environment[variable]?.trim() ?? '';
    if (!['', '0', '1'].includes(text)) throw refuse(`${variable} must be 1 or 0`);
    return text === '1';
  };
  const secret: unknown = command.getOptionValue('secret');
  const option = typeof secret === 'string' ? secret : undefined;
  const saysHow = ['init', 'deploy', 'rebuild', 'forgetNodes'].some(given) || option !== undefined;
  const variable = saysHow ? undefined : io.environment.THINGSDB_SECRET?.trim() || undefined;
  const wanted: Wanted = {
    init: given('init') || (!saysHow && isOn('THINGSDB_INIT')),
    secret: option ?? variable,
    deploy: given('deploy') || (!saysHow && isOn('THINGSDB_DEPLOY')),
    force: given('force'),
    rebuild: given('rebuild'),
    autoRebuild: given('autoRebuild') || isOn('THINGSDB_AUTO_REBUILD'),
    forgetNodes: given('forgetNodes'),
    yes: given('yes'),
  };
  const problem = problemOf(wanted);
  if (problem !== null) throw refuse(problem);
  return wanted;
}

function problemOf({ init, secret, deploy, force, rebuild, forgetNodes }: Wanted): string | null {
  const waits = secret !== undefined;
  const ways: readonly (readonly [string, boolean])[] = [
    ['--init', init],
    ['--secret', waits],
    ['--deploy', deploy],
    ['--rebuild', rebuild],
    ['--forget-nodes', forgetNodes],
  ];
  const [first, second] = ways.filter(([, isGiven]) => isGiven).map(([name]) => name);
  if (second !== undefined) return `${first} and ${second} exclude each other: give one of them`;
  if (force && !init && !waits) return '--force goes with --init or --secret only';
  if (waits && !isPrintable(secret)) return SECRET_RULE;
  return null;
}

const SECRET_RULE = 'the secret has one or more printable ASCII characters, and no blanks';

function isPrintable(secret: string): boolean {
  return /^[\x21-\x7e]+$/.test(secret);
}

/**
 * Does what is to be done before the node is started.
 *
 * @param waitsForOrders whether a node without data is started only when it is said how it begins
 * @throws StartError and others with an `exitCode`
 */
export async function begin(
  wanted: Wanted,
  config: Config,
  io: Io,
  node: ServerPackage,
  waitsForOrders: boolean,
): Promise<Beginning> {
  const path = config.storagePath;
  const hasData = node.holdsData(path);
  if (wanted.forgetNodes) return forgetNodes(wanted, config, io, node);
  if (wanted.rebuild) return rebuild(wanted, config, io, node);
  const first = firstOf(wanted, config, io, node);
  if (first?.kind === 'wait' && config.cluster.length > 0 && (!hasData || wanted.force)) {
    const why = 'a node that waits with a secret is called by its cluster: "cluster" must be empty then';
    throw new node.StartError(why, node.ExitCode.Configuration);
  }
  if (!hasData && first === undefined && waitsForOrders && !isCalled(config)) {
    await write(io.stdout, hintFor(path));
    return { exitCode: node.ExitCode.Done };
  }
  if (!hasData || first === undefined) return { first };
  const option = first.kind === 'init' ? '--init' : '--secret';
  if (!wanted.force) {
    if (!wanted.deploy)
      await tell(io, `althing: warning: ${path} holds data: they are loaded, and ${option} is ignored`);
    return { first: undefined };
  }
  if (!(await isSure(wanted, `${option} --force begins without the data in ${path}`, io)))
    return refused(node);
  await tell(
    io,
    `althing: the former data are in ${await node.emptyFolder(config)}: delete them when nobody needs them`,
  );
  return { first };
}

/**
 * Lets a node whose data can't be loaded begin without them, if `--auto-rebuild` says so and others have them.
 *
 * @returns whether it is to be started again
 */
export async function mend(
  wanted: Wanted,
  config: Config,
  error: unknown,
  io: Io,
  node: ServerPackage,
): Promise<boolean> {
  if (!wanted.autoRebuild || !node.isMendedByOthers(error)) return false;
  const others = await node.othersOf(config);
  if (others.length === 0) return false;
  await tell(io, `althing: the data can not be loaded: ${messageOf(error)}`);
  await giveUp(config, others, io, node);
  return true;
}

/** True if the settings say where an empty node belongs. */
function isCalled({ cluster, waitForInvitation }: Config): boolean {
  return cluster.length > 0 || waitForInvitation;
}

function hintFor(path: string): string {
  return `althing: there are no data in ${path}, and nothing was started. Start it
  with --init            for a new cluster, with the user "admin", the password "pass" and the collection "stuff"
  with --secret SECRET   to wait until new_node(SECRET, ...) in @thingsdb takes this node into a cluster
`;
}

function firstOf(wanted: Wanted, config: Config, io: Io, node: ServerPackage): FirstStart | undefined {
  if (wanted.secret !== undefined) return { kind: 'wait', secret: wanted.secret };
  if (wanted.init) return { kind: 'init' };
  if (!wanted.deploy) return undefined;
  if (/(^|-)0(\.|$)/.test(config.nodeName)) return { kind: 'init' };
  const secret = io.environment.THINGSDB_NODE_SECRET?.trim() || config.nodeName;
  if (isPrintable(secret)) return { kind: 'wait', secret };
  throw new node.StartError(`THINGSDB_NODE_SECRET: ${SECRET_RULE}`, node.ExitCode.Configuration);
}

async function forgetNodes(wanted: Wanted, config: Config, io: Io, node: ServerPackage): Promise<Beginning> {
  // Throws where there are no data.
  const { others } = await node.inspectFolder(config);
  if (others === 0) {
    await tell(io, 'althing: warning: this node is a cluster of its own: --forget-nodes is ignored');
    return { first: undefined };
  }
  const what = `--forget-nodes makes a cluster of this node alone, which its ${others} other nodes can not join with their data`;
  if (!(await isSure(wanted, what, io))) return refused(node);
  await tell(
    io,
    `althing: the other nodes are forgotten; what was there is kept in ${await node.recoverFolder(config)}`,
  );
  return { first: undefined };
}

async function rebuild(wanted: Wanted, config: Config, io: Io, node: ServerPackage): Promise<Beginning> {
  const others = node.holdsData(config.storagePath) ? await node.othersOf(config) : [];
  if (others.length === 0) {
    await tell(
      io,
      'althing: there are no other nodes to get data from: nothing was changed, and nothing is started',
    );
    return { exitCode: node.ExitCode.Done };
  }
  const what = `--rebuild begins without the data in ${config.storagePath}, and gets them from ${others.join(', ')}`;
  if (!(await isSure(wanted, what, io))) return refused(node);
  await giveUp(config, others, io, node);
  return { first: undefined };
}

async function giveUp(config: Config, others: readonly string[], io: Io, node: ServerPackage): Promise<void> {
  const kept = await node.giveUpData(config, others);
  await tell(
    io,
    `althing: the former data are in ${kept}; this node joins again, once the others have missed it for replace_after_ms (${config.replaceAfterMs} ms)`,
  );
}

function refused(node: ServerPackage): Beginning {
  return { exitCode: node.ExitCode.Configuration };
}

/** Asks, unless the answer was given before. */
async function isSure({ yes }: Wanted, what: string, io: Io): Promise<boolean> {
  if (yes) return true;
  await write(io.stderr, `althing: ${what}. Type "yes" to go on: `);
  if ((await firstLine(io)) === 'yes') return true;
  await tell(io, '\nalthing: nothing was changed: give --yes, or answer yes');
  return false;
}

/** Longest answer. */
const ANSWER_LENGTH_MAX = 80;

async function firstLine(io: Io): Promise<string> {
  let text = '';
  for await (const part of io.stdin) {
    text += String(part);
    if (text.includes('\n') || text.length > ANSWER_LENGTH_MAX) break;
  }
  return (text.split('\n')[0] ?? '').trim();
}
