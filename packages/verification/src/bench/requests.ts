/** Builds that answer the scenarios: this one, and another one in turns with it. */
import { join, resolve } from 'node:path';
import { clientOf } from '../harness/client-of.js';
import { ADMIN } from '../harness/node-client.js';
import { type NodeOptions, startNode } from '../harness/start-node.js';
import { type Contender, type ContestOptions, contest, type Row } from './contest.js';
import { Generator, type Target } from './measure.js';
import { requestOf, requestsOf, type Scenario, titleOf } from './scenarios.js';

export interface RequestsOptions extends ContestOptions {
  /** Folder of another built checkout; undefined for none. */
  readonly against: string | undefined;
  readonly workers: number;
  /** Where nodes keep their files. */
  readonly storage: string;
}

/** Named requests that are made at least, even before the rate is known: a name that comes again much later is refused. */
const NAMED_MIN = 100_000;

/** Longest wait for a query that prepares something, in milliseconds. */
const SETUP_MS = 60_000;

/** Measures scenarios on this build, and on other servers in turns with it. */
export async function benchRequests(
  scenarios: readonly Scenario[],
  options: RequestsOptions,
  onRow: (row: Row) => void = () => {},
): Promise<Row[]> {
  const { against, storage } = options;
  const generator = new Generator(options.workers);
  const servers: Server[] = [];
  try {
    const own = await buildOf('this build', storage);
    servers.push(own);
    if (against !== undefined) servers.push(await buildOf(against, storage, commandOf(against)));
    if (scenarios.some(({ isNamed }) => isNamed === true)) servers.push(withoutNames(own));
    const rows: Row[] = [];
    for (const scenario of scenarios) {
      for (const { prepare } of servers) await prepare(scenario);
      rows.push(...(await contest(generator, servers, scenario, titleOf(scenario), options, onRow)));
    }
    return rows;
  } finally {
    generator.close();
    for (const server of servers) await server.stop();
  }
}

/** The command that runs a node of a built checkout. */
export function commandOf(folder: string): NonNullable<NodeOptions['command']> {
  return [process.execPath, join(resolve(folder), 'packages/cli/bin/althing.js'), 'serve'];
}

interface Server extends Contender<Scenario> {
  /** Gets ready for a scenario. */
  prepare(scenario: Scenario): Promise<void>;
  stop(): Promise<void>;
}

interface Build extends Server {
  readonly loadUnnamed: Server['load'];
}

async function buildOf(name: string, storage: string, command?: NodeOptions['command']): Promise<Build> {
  const node = await startNode({ storage, command });
  const db = clientOf(node.url, ADMIN, SETUP_MS);
  const query = (scope: string, code: string): Promise<unknown> => db.$scope(scope).query(code);
  await query('@thingsdb', "try(del_collection('bench'));");
  await query('@thingsdb', "new_collection('bench');");
  const token = String(await query('@thingsdb', "new_token('admin');"));
  return {
    name,
    load: loader(node, token),
    loadUnnamed: loader(node, token, 'Althing-Nothing'),
    prepare: async ({ scope, setup }) => {
      for (const code of setup) await query(scope, code);
    },
    stop: async () => {
      await db.$close();
      await node.discard();
    },
  };
}

/** The node of a build again: the same bytes under a header that it does not know, in place of the name of each request. */
function withoutNames({ loadUnnamed }: Build): Server {
  return {
    name: 'the same unnamed',
    load: async (scenario, count) => (scenario.isNamed === true ? loadUnnamed(scenario, count) : null),
    prepare: async () => {},
    stop: async () => {},
  };
}

/** Where none of its requests may come twice, a scenario goes on where it was. */
function loader(target: Target, token: string, nameHeader?: 'Althing-Nothing'): Contender<Scenario>['load'] {
  let taken = 0;
  return async (scenario, count) => {
    const as = scenario.auth === 'token' ? { token } : ADMIN;
    const length = scenario.isNamed === true ? Math.max(count, NAMED_MIN) : count;
    const requests =
      scenario.isNew === true
        ? Array.from({ length }, () => requestOf(scenario, as, ++taken, nameHeader))
        : requestsOf(scenario, as);
    return { targets: [target], requests };
  };
}
