/**
 * A rolling upgrade under load: nodes that speak an older version of the protocol beside nodes that speak a newer one, too.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LEVEL_FIRST, LEVEL_NEWEST } from '@althing/engine';
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

const { min, max } = PROTOCOL_VERSIONS;
/** As release 0.1.0. */
const OLD: Versions = [min, min, LEVEL_FIRST];
const BOTH: Versions = [min, max, LEVEL_NEWEST];
const NEW: Versions = [max, max, LEVEL_NEWEST];
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

const TOO_EARLY = 'can be made when all nodes of the cluster have been upgraded';

/** How actions are refused as long as a node may not know them, by their kinds. */
const REFUSALS = {
  task: `422 none tasks ${TOO_EARLY}`,
  recalled_task: `422 none tasks ${TOO_EARLY}`,
  future: `422 none futures ${TOO_EARLY}`,
  dry_run:
    '503 none read-only requests and dry runs can be carried out when all nodes of the cluster run a version that knows what they are',
};

function isNew(kind: string): kind is keyof typeof REFUSALS {
  return Object.hasOwn(REFUSALS, kind);
}

/** Whether an action fails on purpose, or by what others did before it. */
function mayFail({ kind }: Action, error: string): boolean {
  return kind === 'append_and_fail' || ((kind === 'other' || isNew(kind)) && error.includes('on purpose'));
}

/**
 * The error of an action without its code, when it is one that is expected. Who asks a leader of an old version again,
 * since an earlier one was lost, can't tell what its refusal means: such a version says nothing of earlier attempts.
 */
function earlyError(kind: keyof typeof REFUSALS, error: string): string {
  return error === REFUSALS[kind] || error.startsWith('504 unknown ') ? TOO_EARLY : error;
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
      if (versions === BOTH && at < 2) expect(await levels()).toEqual(Array(3).fill(LEVEL_FIRST));
    }
    await until(async () => (await levels()).every((level) => level === LEVEL_NEWEST), 'the level is raised');
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
  // There are no tasks, futures and dry runs before the level is raised: each is refused, and nothing of it is made.
  const errors = failed.map(({ action: { kind }, error }) => (isNew(kind) ? earlyError(kind, error) : error));
  expect(errors.filter((error) => error !== TOO_EARLY)).toEqual([]);
  expect(recorder.operations.length).toBeGreaterThan(100);
  expect(check(recorder)).toEqual({ problems: [], undecided: [] });

  // And one that does not know the level of the cluster does not start with what it has, nor join anew
  await node(2).stop({ keep: true });
  const unknowing = await launched(2, [max, max, LEVEL_FIRST], node(2).folder);
  expect(await unknowing.ended()).toBe(4);
  expect(unknowing.log).toContain(`the cluster works at level ${LEVEL_NEWEST}`);
  const empty = await launched(2, [max, max, LEVEL_FIRST]);
  await until(
    () => empty.log.includes(`the cluster works at level ${LEVEL_NEWEST}`),
    'it knows why it can not join',
  );
  await empty.kill();
  empty.clear();
  await started(2, NEW, node(2).folder);

  // And one that speaks only the old version of the protocol is turned away with a reason, and hurts nobody
  await node(2).stop({ keep: true });
  nodes[2] = await launched(2, [min, min, LEVEL_NEWEST], node(2).folder);
  await until(
    () => node(2).log.includes(`speaks the protocol versions ${max} to ${max} only`),
    'it knows why',
  );
  expect((await node(2).probe('/ready')).status).toBe(503);
  expect(await node(0).value('//stuff', '.x = 1;')).toBe(1);
});

test('types, rooms, tasks and futures are made by nobody before all nodes know them', async () => {
  // Given three nodes of the old version, two of which are upgraded
  await Promise.all([0, 1, 2].map((at) => started(at, OLD)));
  await node(0).login();
  for (const each of nodes) each.authorization = node(0).authorization;
  await node(0).value('//stuff', ".guest = {name: 'Ann'};");
  for (const at of [0, 1]) await replaced(at, BOTH);

  // When any of them is told to make one, then it is refused, nothing is changed, and the old node lives
  await until(async () => (await levels()).every((level) => level === LEVEL_FIRST), 'all tell the level');
  const made = [
    "new_type('Guest');",
    "set_type('Guest', {name: 'str'});",
    "try(set_type('Guest', {name: 'str'})); .x = try(set_enum('Colour', {RED: 1})); raise('over');",
    "set_enum('Colour', {RED: 1});",
    ".wrapped = .guest.wrap(&{name: 'str'});",
    ".list = []; .list.push(&{name: 'str'});",
    '.hall = room();',
    '.late = 1; task(datetime(), || .x = 1);',
    '.early = 1; future(|| .late = 1);',
  ];
  for (const each of nodes) {
    for (const code of made) {
      const { json } = await each.query('//stuff', code);
      expect(json).toMatchObject({ error: { outcome: 'none' } });
    }
    expect(await each.value('//stuff', '.keys();')).toEqual(['guest']);
  }

  expect(await node(2).value('//stuff', '.guest.name;')).toBe('Ann');

  // When the last one is upgraded, then they can be made, and all have them
  await replaced(2, BOTH);
  await until(async () => (await levels()).every((level) => level === LEVEL_NEWEST), 'the level is raised');
  await node(2).value('//stuff', "set_type('Guest', {name: 'str'}); .guest.to_type('Guest');");
  await node(2).value('//stuff', ".hall = room(); .hall.set_name('hall'); .late = 0; nil;");
  await node(2).value('//stuff', "task(datetime(), |t, to| { .late += 1; to.emit('late'); }, [.hall]); nil;");
  expect(await node(2).value('//stuff', '.early = 1; future(|| .early += 1);')).toBe(2);
  for (const each of nodes) {
    expect(await each.value('//stuff', "[type(.guest), room('hall') == .hall, .early];")).toEqual([
      'Guest',
      true,
      2,
    ]);
    await until(async () => (await each.value('//stuff', '.late;')) === 1, 'the task has run');
  }
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
