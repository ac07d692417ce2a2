/**
 * A rolling upgrade under load: nodes that speak an older version of the protocol beside nodes that speak a newer one, too.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LEVEL_NEWEST } from '@althing/engine';
import { PROTOCOL_VERSIONS } from '@althing/node/parts';
import { freePorts, RealNode, type TestSettings, until } from '@althing/node/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { check } from '../chaos/check.js';
import { Clients, type Place } from '../chaos/clients.js';
import { type Member, readFinals, settle } from '../chaos/members.js';
import { Recorder } from '../chaos/record.js';
import { Requests } from '../chaos/requests.js';
import type { Action } from '../simulation/history.js';
import { Draw } from '../simulation/random.js';

type Versions = readonly [min: number, max: number, level: number];

const { max } = PROTOCOL_VERSIONS;
/** A version of the protocol and a level that software to come will know. */
const NEXT = max + 1;
const LEVEL_NEXT = LEVEL_NEWEST + 1;
const OLD: Versions = [max, max, LEVEL_NEWEST];
const BOTH: Versions = [max, NEXT, LEVEL_NEXT];
const NEW: Versions = [NEXT, NEXT, LEVEL_NEXT];
const PROGRAM = fileURLToPath(new URL('versioned-node.js', import.meta.url));

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
    // The clients wait longer.
    request_timeout_ms: 6000,
  }));
});
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.kill()));
  for (const node of nodes.splice(0)) node.clear();
  away.clear();
  rmSync(folder, { recursive: true });
});

/** True if an action fails on purpose, or by what others did before it. */
function mayFail({ kind }: Action, error: string): boolean {
  return kind === 'append_and_fail' || error.includes('on purpose');
}

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
      // One old node keeps the level down.
      if (versions === BOTH && at < 2) expect(await levels()).toEqual(Array(3).fill(LEVEL_NEWEST));
    }
    await until(async () => (await levels()).every((level) => level === LEVEL_NEXT), 'the level is raised');
  }

  // Then no request has failed, and nothing is lost or doubled
  await clients.stop();
  await settle(members, false);
  await readFinals(members, clients.collections, recorder);
  await recorder.close();
  requests.close();
  const failed = recorder.operations.filter(
    ({ outcome, action, error }) => outcome !== 'ok' && !mayFail(action, error),
  );
  expect(failed.map(({ action: { kind }, error }) => `${kind}: ${error}`)).toEqual([]);
  expect(recorder.operations.length).toBeGreaterThan(100);
  expect(check(recorder)).toEqual({ problems: [], undecided: [] });

  // And one that does not know the level of the cluster does not start with what it has, nor join anew
  await node(2).stop({ keep: true });
  const unknowing = await launched(2, [NEXT, NEXT, LEVEL_NEWEST], node(2).folder);
  expect(await unknowing.ended()).toBe(4);
  expect(unknowing.log).toContain(`the cluster works at level ${LEVEL_NEXT}`);
  const empty = await launched(2, [NEXT, NEXT, LEVEL_NEWEST]);
  await until(
    () => empty.log.includes(`the cluster works at level ${LEVEL_NEXT}`),
    'it knows why it can not join',
  );
  await empty.kill();
  empty.clear();
  await started(2, NEW, node(2).folder);

  // And one that speaks only the old version of the protocol is turned away with a reason, and hurts nobody
  await node(2).stop({ keep: true });
  nodes[2] = await launched(2, [max, max, LEVEL_NEXT], node(2).folder);
  await until(
    () => node(2).log.includes(`speaks the protocol versions ${NEXT} to ${NEXT} only`),
    'it knows why',
  );
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

/** The level of the cluster as each node knows it. */
async function levels(): Promise<unknown[]> {
  return Promise.all(nodes.map(async (each) => JSON.parse(String((await each.probe('/status')).body)).level));
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
