/** `althing migrate`: a whole ThingsDB, running or stored, into a cluster. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { CommandDefinition } from '../command.js';
import { addConnectionOptions, type Connection, withConnection } from '../connection.js';
import { exitHelp } from '../exit-codes.js';
import { CommandError, UsageError } from '../input.js';
import { type Io, stoppable, tell } from '../io.js';
import type * as Node from '../node.js';
import { askPassword } from '../password.js';
import { finished } from '../work.js';
import { bringRights, bringUsers } from './accounts.js';
import { CollectionMover } from './collections.js';
import { Report } from './report.js';
import { bringProcedures, bringTasks } from './root-programs.js';
import { openRunningSource, type SourceCredentials } from './running-source.js';
import type { MigrationSource } from './source.js';
import { openStoredSource } from './stored-source.js';

export const migrateCommand: CommandDefinition = {
  name: 'migrate',
  summary: 'Bring a whole ThingsDB over: collections, users, tokens, rights, procedures, tasks',
  async configure(command, io, finish) {
    const node = await import('../node.js');
    addConnectionOptions(command)
      .argument(
        '<source>',
        'thingsdb://USER@HOST[:PORT], a backup archive of ThingsDB, or the folder of its store',
      )
      .option('--only <collections>', 'only these collections, separated by commas, and no users')
      .option('--dry-run', 'read everything, and say what would come and what can not')
      .option('--json', 'the report as lines of JSON')
      .addHelpText('after', HELP)
      .action(async (source: string, options: MigrateOptions, invoked: Command) =>
        finish(await finished('migrate', io, () => migrate(node, source, options, invoked, io), true)),
      );
  },
};

interface MigrateOptions {
  readonly only?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

function assertGoesOn(signal: AbortSignal): void {
  if (signal.aborted) throw new CommandError('interrupted; the same command goes on where this one ended');
}

const HELP = `
Nothing that is in the cluster is overwritten. Each collection comes as a whole or not at all, with the ids of its things, and is
compared with the source when it is there: the number of things, and a digest of everything. Users who are there keep their passwords, and get
the tokens and rights that they lack. An interrupted migration goes on with the same command; what is there already is found and left alone.

From an archive or a folder (of a ThingsDB that is stopped) passwords come, too, and all changes that are newer than the full store. A running
ThingsDB is asked by its own protocol, needs a user with all rights everywhere (THINGSDB_PASSWORD, else it is asked for; or THINGSDB_TOKEN), and
tells no passwords; nobody should change anything there meanwhile. Modules, nodes and commit histories stay behind, and are listed.

The user of the cluster needs all privileges on all scopes. Each collection has to fit into the memory of this machine.

Examples:
  althing migrate /backup/thingsdb.tar.gz --dry-run --user admin
  althing migrate /backup/thingsdb.tar.gz --user admin
  althing migrate thingsdb://admin@thingsdb-1:9200 --url http://node-1:9210 --user admin

Exit codes: 0 all that can come is there; ${exitHelp}.`;

async function migrate(
  node: typeof Node,
  place: string,
  options: MigrateOptions,
  command: Command,
  io: Io,
): Promise<void> {
  await stoppable(io, async (signal) => {
    const source = await openSource(node, place, io);
    try {
      await withConnection(command, io, (connection) =>
        bringAll({ node, io, connection, source, options, signal }),
      );
    } finally {
      source.close();
    }
  });
}

/** @throws UsageError for what is neither a place nor a file */
async function openSource(node: typeof Node, place: string, io: Io): Promise<MigrationSource> {
  if (!place.startsWith('thingsdb://')) {
    if (!existsSync(place)) throw new UsageError(`there is no ${place}`);
    if (!node.isThingsdbStore(place))
      throw new UsageError(
        `${place} is neither a folder nor a backup archive; althing import takes single dumps`,
      );
    return openStoredSource(node, place);
  }
  let url: URL;
  try {
    url = new URL(place.replace(/^thingsdb:/, 'http:'));
  } catch {
    throw new UsageError('write the source as thingsdb://USER@HOST:PORT');
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  // A port of 80 is left out of the address of a page.
  const port = /:80(?:\/|$)/.test(place) ? 80 : Number(url.port || DEFAULT_PORT);
  return openRunningSource(node, { host, port }, await credentialsOf(url, io));
}

const DEFAULT_PORT = 9200;

async function credentialsOf(url: URL, io: Io): Promise<SourceCredentials> {
  const { THINGSDB_TOKEN: token, THINGSDB_PASSWORD: given } = io.environment;
  if (url.username === '' && token) return token;
  const user = decodeURIComponent(url.username);
  if (user === '')
    throw new UsageError('write the user of ThingsDB in front of its host, or set THINGSDB_TOKEN');
  const written = decodeURIComponent(url.password);
  const password =
    written === '' ? (given ?? (await askPassword(io, `Password of ${user} in ThingsDB: `))) : written;
  if (!password) throw new UsageError(`no password for ${user} of ThingsDB: set THINGSDB_PASSWORD`);
  return { user, password };
}

interface Migration {
  readonly node: typeof Node;
  readonly io: Io;
  readonly connection: Connection;
  readonly source: MigrationSource;
  readonly options: MigrateOptions;
  readonly signal: AbortSignal;
}

async function bringAll({ node, io, connection, source, options, signal }: Migration): Promise<void> {
  const { root } = source;
  const isDryRun = options.dryRun === true;
  const report = new Report(io, options.json === true, isDryRun);
  const wanted = wantedOf(root, options.only);
  const isWhole = options.only === undefined;
  if (isWhole) await bringUsers(connection, root, report, isDryRun);
  const mover = new CollectionMover({ node, io, connection, source, report, signal }, isDryRun);
  const came = new Set<number>();
  for (const collection of wanted) {
    assertGoesOn(signal);
    if (await mover.bring(collection)) came.add(collection.id);
  }
  if (isWhole) {
    assertGoesOn(signal);
    if (!isDryRun) await bringRights(connection, root, came, report);
    await bringProcedures(connection, root, report, isDryRun);
    await bringTasks(connection, root, report, isDryRun);
    await tellLeftOut(source, report);
  }
  await tell(io, report.summary());
  if (report.hasConflicts)
    throw new CommandError('not everything came: something else is in the way, see above');
}

function wantedOf(
  { collections }: Node.ThingsdbRoot,
  only: string | undefined,
): Node.ThingsdbCollectionInfo[] {
  const all = [...collections.values()];
  if (only === undefined) return all;
  return only.split(',').map((name) => {
    const found = all.find((one) => one.name === name.trim());
    if (found !== undefined) return found;
    throw new UsageError(
      `there is no collection ${name} in it, but ${all.map((one) => one.name).join(', ')}`,
    );
  });
}

async function tellLeftOut({ root, gaps }: MigrationSource, report: Report): Promise<void> {
  for (const module of root.modules)
    await report.add('module', module, 'left out', 'make it anew: docs/modules.md');
  for (const scope of root.histories) {
    const name = root.collections.get(scope)?.name ?? '@thingsdb';
    await report.add('history', name, 'left out', 'set_history() begins a new one');
  }
  if ([...root.users.values()].some(({ hasPassword }) => hasPassword))
    for (const gap of gaps) await report.add('passwords', 'all', 'left out', gap);
}
