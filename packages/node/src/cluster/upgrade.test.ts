/**
 * A rolling upgrade under load: nodes that speak an older version of the protocol beside nodes that speak a newer one, too.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { check } from '../chaos/check.js';
import { Clients, type Place } from '../chaos/clients.js';
import { type Member, readFinals, settle } from '../chaos/members.js';
import { Recorder } from '../chaos/record.js';
import { Requests } from '../chaos/requests.js';
import { Draw } from '../simulation/random.js';
import { freePorts, RealNode, type TestSettings, until } from '../testing/index.js';

jest.setTimeout(120_000);

type Versions = readonly [min: number, max: number];

const OLD: Versions = [1, 1];
const BOTH: Versions = [1, 2];
const NEW: Versions = [2, 2];
const PROGRAM = fileURLToPath(new URL('../testing/versioned-node.js', import.meta.url));

let folder: string;
let settings: readonly TestSettings[];
const nodes: RealNode[] = [];
/** Places of nodes to which nothing is sent, as a balancer would. */
const away = new Set<number>();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'althing-upgrade-'));
  const ports = await freePorts(3);
  const cluster = ports.map((port, at) => `127.0.0.${at + 1}:${port}`).join(',');
  settings = ports.map((port, at) => ({
    node_name: `127.0.0.${at + 1}`,
    bind_node_addr: `127.0.0.${at + 1}`,
    listen_node_port: port,
    cluster,
    cluster_secret: 'what all the nodes know',
    election_timeout_ms: 500,
    heartbeat_ms: 50,
    drain_delay_ms: 0,
  }));
});
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.kill()));
  for (const node of nodes.splice(0)) node.clear();
  away.clear();
  rmSync(folder, { recursive: true });
});

test('nodes are upgraded one by one without a failed request or a lost change', async () => {
  // Given three nodes of the old version, and clients
  await Promise.all([0, 1, 2].map((at) => started(at, OLD)));
  await node(0).login();
  const requests = new Requests(node(0).authorization);
  const recorder = new Recorder(join(folder, 'record'), { seed: 1, nodes: 3, network: '', version: '' });
  const members = [0, 1, 2].map((at) => memberOf(at, requests));
  const draw = new Draw(1, 'clients');
  const place = (): Place => draw.pick(members.filter((_, at) => !away.has(at)));
  const access = { place, any: place };
  const clients = new Clients({ access, recorder, draw, keyed: () => false, attempts: 1 });
  await clients.start(3);

  // When each of them is upgraded, to one that speaks both, and then to one that has forgotten the old version
  for (const versions of [BOTH, NEW]) {
    for (const at of [0, 1, 2]) {
      await replaced(at, versions);
      await settle(members, true);
    }
  }

  // Then no request has failed, and nothing is lost or doubled
  await clients.stop();
  await settle(members, false);
  await readFinals(members, clients.collections, recorder);
  await recorder.close();
  requests.close();
  const failed = recorder.operations.filter(
    ({ outcome, action }) => outcome !== 'ok' && action.kind !== 'append_and_fail',
  );
  expect(failed.map(({ error }) => error)).toEqual([]);
  expect(recorder.operations.length).toBeGreaterThan(100);
  expect(check(recorder)).toEqual({ problems: [], undecided: [] });

  // And one of the old version is turned away with a reason, and hurts nobody
  await node(2).stop({ keep: true });
  nodes[2] = await launched(2, OLD, node(2).folder);
  await until(() => node(2).log.includes('speaks the protocol versions 2 to 2 only'), 'it knows why');
  expect((await node(2).probe('/ready')).status).toBe(503);
  expect(await node(0).value('//stuff', '.x = 1;')).toBe(1);
});

function node(at: number): RealNode {
  const found = nodes[at];
  if (found === undefined) throw new Error(`there is no node ${at}`);
  return found;
}

function launched(at: number, versions: Versions, data?: string): Promise<RealNode> {
  return RealNode.launch(settings[at], data, [PROGRAM, ...versions.map(String)]);
}

async function started(at: number, versions: Versions, data?: string): Promise<void> {
  const authorization = nodes[at]?.authorization ?? '';
  const started = await launched(at, versions, data);
  nodes[at] = started;
  await started.whenReady();
  started.authorization = authorization;
}

async function replaced(at: number, versions: Versions): Promise<void> {
  away.add(at);
  await node(at).stop({ keep: true });
  await started(at, versions, node(at).folder);
  away.delete(at);
}

function memberOf(at: number, requests: Requests): Member {
  return {
    get name() {
      return `node ${at}`;
    },
    get isRunning() {
      return node(at).running;
    },
    ask: (scope, code, headers = {}) =>
      requests.ask({ host: '127.0.0.1', port: node(at).port }, { scope, code, headers }),
  };
}
