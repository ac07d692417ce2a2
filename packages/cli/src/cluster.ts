import { setTimeout as pause } from 'node:timers/promises';
import { ConnectionError, OutcomeUnknownError } from '@althing/client';
import { type Command, Option } from 'commander';
import {
  type ClusterStatus,
  groupTable,
  levelLine,
  nodeTable,
  readLevel,
  readStatus,
} from './cluster-status.js';
import type { CommandDefinition } from './command.js';
import { addConnectionOptions, type Connection, runQuery, withConnection } from './connection.js';
import { exitHelp } from './exit-codes.js';
import { CommandError, nonEmpty, textOption, UsageError } from './input.js';
import { type Io, tell, write } from './io.js';
import { askPassword } from './password.js';
import { finished } from './work.js';

export const clusterCommand: CommandDefinition = {
  name: 'cluster',
  summary: 'Look at the nodes of a cluster, add and remove some, move leaderships',
  configure(command, io, finish) {
    const add = (name: string, summary: string): Command =>
      addConnectionOptions(command.command(name).summary(summary).description(summary));
    const run = async (work: Work, invoked: Command): Promise<void> => {
      const connected = (): Promise<number> =>
        withConnection(invoked, io, (connection) => work(connection, invoked, io));
      finish(await finished('cluster', io, connected, true));
    };
    const act = (work: Work) => (_: unknown, __: unknown, invoked: Command) => run(work, invoked);
    add('status', 'Show the nodes and who leads')
      .option('--groups', 'show every group: who leads it, and who votes')
      .addOption(
        new Option('--format <format>', 'table, or json for programs')
          .choices(['table', 'json'])
          .default('table'),
      )
      .action((_: unknown, invoked: Command) => run(status, invoked));
    add('add', 'Take in a node that waits for it')
      .argument('<host[:port]>', 'where the other nodes reach it; port 9220 by default')
      .addHelpText('after', addHelp)
      .action(act(addNode));
    add('remove', 'Remove a node for good, and wait until it is gone')
      .argument('<node>', 'its number or name')
      .action(act(removeNode));
    add('transfer', 'Let a node give what it leads to others')
      .option('--from <node>', 'number or name of the node; default: the one that is asked')
      .option('--to <node>', 'who gets it; default: whoever is furthest, group by group')
      .action((_: unknown, invoked: Command) => run(transfer, invoked));
    command.addHelpText('after', examples);
  },
};

const addHelp = `
The new node must be empty, and have the cluster_secret of this cluster, or wait with a secret of its own ("althing serve
--secret"). That secret is read from SERVICE_CLUSTER_SECRET, or asked for.`;

const examples = `
Examples:
  althing cluster status --user admin
  althing cluster add node-3.example:9220 --user admin
  althing cluster transfer --from node-0 --user admin
  althing cluster remove 3 --user admin

Exit codes: 0 done, all is well; ${exitHelp}; 3 not all is well (status).`;

/** Does what a command is for; gives the exit code. */
type Work = (connection: Connection, command: Command, io: Io) => Promise<number>;

/** Time between two looks at something that is waited for, in milliseconds. */
const POLL_MS = 200;

/** Exit code of a status that is not all well. */
const NOT_WELL = 3;

async function status(connection: Connection, command: Command, io: Io): Promise<number> {
  const found = await readStatus(connection);
  const level = await readLevel(connection);
  if (textOption(command, 'format') === 'json') {
    await write(io.stdout, `${JSON.stringify({ ...found, level })}\n`);
  } else {
    await write(io.stdout, nodeTable(found));
    await write(io.stdout, levelLine(level));
    if (command.getOptionValue('groups') === true) await write(io.stdout, groupTable(found));
    for (const problem of [...found.problems, ...(level?.warnings ?? [])])
      await write(io.stdout, `! ${problem}\n`);
  }
  return found.problems.length === 0 ? 0 : NOT_WELL;
}

async function addNode(connection: Connection, command: Command, io: Io): Promise<number> {
  const { host, port } = placeOf(command.args[0] ?? '');
  const secret =
    nonEmpty(io.environment.SERVICE_CLUSTER_SECRET) ??
    (await askPassword(io, 'cluster_secret of the cluster: '));
  if (secret === undefined) throw new UsageError('no secret: set SERVICE_CLUSTER_SECRET');
  const code = 'new_node(secret, host, port);';
  const number = Number(await runQuery(connection, '@thingsdb', code, { secret, host, port: BigInt(port) }));
  await tell(io, `node ${number} is invited; waiting for it to come (it needs not be waited for)`);
  const end = performance.now() + connection.timeoutMs;
  for (;;) {
    const found = await readStatus(connection);
    const node = found.nodes.find((each) => each.number === number);
    if (node === undefined) throw new CommandError(`the invitation of node ${number} was taken back`);
    if (node.status === 'READY') {
      await write(io.stdout, `node ${number} (${node.name}) is in\n`);
      return 0;
    }
    if (performance.now() > end) {
      await tell(
        io,
        `node ${number} is not here yet (${node.status}); it is asked again and again. The log of the leader`,
      );
      await tell(
        io,
        `says why it does not come; "althing cluster remove ${number}" takes the invitation back.`,
      );
      return 1;
    }
    await pause(POLL_MS);
  }
}

async function removeNode(connection: Connection, command: Command, io: Io): Promise<number> {
  const number = numberOf(command.args[0] ?? '', await readStatus(connection));
  await runQuery(connection, '@thingsdb', 'remove_node(number);', { number: BigInt(number) });
  await tell(io, `node ${number} is being removed`);
  const end = performance.now() + connection.timeoutMs;
  try {
    while (await runQuery(connection, '@thingsdb', 'has_node(number);', { number: BigInt(number) })) {
      if (performance.now() > end) {
        await tell(io, `node ${number} is still there; the removal goes on: see "althing cluster status"`);
        return 1;
      }
      await pause(POLL_MS);
    }
  } catch (error) {
    if (!(error instanceof ConnectionError || error instanceof OutcomeUnknownError)) throw error;
    await tell(
      io,
      `the node that was asked is gone, perhaps because it is node ${number}: ask another one how far it is`,
    );
    return 0;
  }
  await write(io.stdout, `node ${number} is removed\n`);
  return 0;
}

async function transfer(connection: Connection, command: Command, io: Io): Promise<number> {
  const found = await readStatus(connection);
  const [from, to] = ['from', 'to'].map((name) => textOption(command, name));
  const scope = from === undefined ? '@node' : `@node:${numberOf(from, found)}`;
  const code = to === undefined ? 'transfer_leadership();' : 'transfer_leadership(to);';
  const before = await leads(connection, scope);
  await runQuery(connection, scope, code, to === undefined ? {} : { to: BigInt(numberOf(to, found)) });
  const end = performance.now() + connection.timeoutMs;
  let left = before;
  while (left > 0 && performance.now() < end) {
    await pause(POLL_MS);
    left = await leads(connection, scope);
  }
  await write(io.stdout, `${before - left} of ${before} leaderships were given away\n`);
  return left === 0 ? 0 : 1;
}

/** The number of groups that a node leads and another one could lead. */
async function leads(connection: Connection, scope: string): Promise<number> {
  const code = "groups_info().map(|g| g.load()).filter(|g| g.role == 'leader' && g.voters.len() > 1).len();";
  return Number(await runQuery(connection, scope, code));
}

function placeOf(text: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]]+))(?::(\d{1,5}))?$/.exec(text);
  const port = Number(match?.[3] ?? 9220);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined || port < 1 || port > 65_535) {
    throw new UsageError(`${JSON.stringify(text)} is no address; write it like node-3.example:9220`);
  }
  return { host, port };
}

/** The number of a node that is given by number or name. */
function numberOf(text: string, { nodes }: ClusterStatus): number {
  const found = nodes.find(({ number, name }) => String(number) === text || name === text);
  if (found !== undefined) return found.number;
  const all = nodes.map(({ number, name }) => `${number} (${name})`).join(', ');
  throw new UsageError(`there is no node ${JSON.stringify(text)}; there are ${all}`);
}
