/**
 * Types, enums, relations and wraps, rooms and tasks in a real cluster: on every node, after a kill, as a snapshot, as a
 * backup, and when the states are compared.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, jest, test } from '@jest/globals';
import { freePorts, RealCluster, RealNode, until } from '../testing/index.js';

jest.setTimeout(240_000);

const PROGRAM = fileURLToPath(new URL('../../../cli/bin/althing.js', import.meta.url));

const SCHEMA = [
  "set_enum('Colour', {RED: 'red', BLUE: 'blue', name_of: |this| this.name()});",
  "set_enum('Place', {HOME: {street: 'Home street'}, WORK: {street: 'Work street'}});",
  "set_type('Person', {name: 'str<1:30:nobody>', age: 'int<0:150>', colour: 'Colour', born: 'datetime?', tags: '[str]'});",
  "set_type('Team', {title: 'str', boss: 'Person?', old: 'any', notes: 'thing<str>'});",
  "mod_type('Person', 'add', 'team', 'Team?'); mod_type('Team', 'add', 'members', '{Person}');",
  "mod_type('Person', 'rel', 'team', 'members');",
  "mod_type('Person', 'add', 'greet', |this, other| `{this.name} greets {other}`);",
  "set_type('Card', {name: 'str', team: {title: 'str'}, upper: |this| this.name.upper()}, WPO | HID);",
];

const DATA = [
  ".teams = range(3).map(|i| Team{title: 'team ' + str(i)}); nil;",
  ".people = range(400).map(|i| Person{name: 'person ' + str(i), age: i % 100}); nil;",
  '.people.each(|p| p.age < 30 && .teams[p.age % 3].members.add(p)); nil;',
  '.people[5].colour = Colour{BLUE}; .place = Place{WORK}; .place.value().door = 3; nil;',
  '.teams[0].boss = .people[3]; .teams[1].notes.a = "b"; .people[0].tags.push("x", "y"); nil;',
  ".card = .people[3].wrap('Card'); .cards = .people.map_wrap('Card'); .ano = .people[4].wrap(&{age: 'int'}); nil;",
  ".hall = room(); .hall.set_name('hall'); .halls = [room(), .hall, room()]; nil;",
  ".later = task(datetime(2050, 1, 1), |t, to| to.emit('now', 1), [.halls[0]]); nil;",
  // Nothing but the task refers to this room.
  "task(datetime(2051, 1, 1), |t, to| to.emit('now', 2), [room()]); nil;",
  '.runs = 0; task(datetime(), || .runs += 1); nil;',
];

/** One change of each kind, and some whose instances stay as they are until they are touched. */
const CHANGES = [
  "mod_type('Person', 'add', 'size', 'float<0.5:3.0>?'); mod_type('Person', 'ren', 'age', 'years');",
  "mod_type('Team', 'del', 'old'); mod_type('Person', 'mod', 'years', 'number');",
  "mod_type('Person', 'add', 'initial', 'str', |p| p.name[0]); rename_type('Team', 'Group');",
  "mod_enum('Colour', 'add', 'GREEN', 'green'); mod_enum('Colour', 'ren', 'BLUE', 'NAVY'); mod_enum('Colour', 'def', 'GREEN');",
  '.people[7].years = 7.5; .people[8].team = .teams[2]; .people[9].team = nil; .teams[2].members.remove(.people[11]); nil;',
  ".hall.set_name('lobby'); .halls.pop(); .halls.push(room()); .later.set_args([.hall]); nil;",
  'task(datetime(2052, 1, 1), || 1 / 0); task(datetime(2049, 1, 1), || nil).del(); nil;',
  ".late = Person{}; .late.born = datetime(2024, 5, 6); set_type('Empty', {}); del_type('Empty'); nil;",
];

/** Queries that every node has to answer the same. */
const ASKED = [
  'return [types_info(), enums_info()], 6;',
  "[type_count('Person'), type_count('Group'), type_all('Person').len()];",
  'return [.people, .teams, .late, .place], 3;',
  'return [.card, .cards, .ano], 4;',
  '.people.every(|p| !p.team || p.team.members.has(p)) && .teams.every(|t| t.members.every(|p| p.team == t));',
  ".people[5].greet('all') + .people[5].colour.name_of() + Colour().name();",
  "[room('lobby').id(), room('lobby') == .hall, try(room('hall')).code(), .halls, .halls.map(|r| r.name())];",
  '[.runs, .later, tasks(), tasks().map(|t| [t.id(), t.at(), t.owner(), t.args(), t.err()])];',
  "[try(.people[0].years = 'x').msg(), try(.people[0].tags.push(1)).msg(), try(.teams[0].members.add({})).msg()];",
];

const SECRET = 'what-all-nodes-know';

const started: RealCluster[] = [];
let guest: RealNode | undefined;

afterEach(async () => {
  for (const cluster of started.splice(0)) await cluster.discard();
  await guest?.kill();
  guest?.clear();
});

test('are the same on all nodes, from the log, a checkpoint, a snapshot and a backup, and in what is recovered', async () => {
  const cluster = await clusterOf(3, {
    cluster_secret: SECRET,
    state_check_interval_ms: 1000,
    checkpoint_interval_ms: 300,
    checkpoint_size_mb: 1,
  });
  // Given a node that knows half of the types, and is away for the other half
  for (const code of [...SCHEMA, ...DATA]) await cluster.node(1).value('//stuff', code);
  await until(
    async () => (await cluster.node(1).value('//stuff', '.runs;')) === 1,
    'the task that is due runs',
  );
  await cluster.killNode(3);
  for (const code of CHANGES) await cluster.node(2).value('//stuff', code);
  const expected = await answersOf(cluster.node(1));

  // When it comes back, then it learns of them
  await cluster.restartNode(3);
  for (const node of cluster.nodes) expect(await answersOf(node)).toEqual(expected);

  // When another node comes that the log does not reach back for, then it gets a snapshot
  await cluster.node(1).value('/t', "set_feed('stuff', {keep_mb: 64});");
  const { at } = await changesOf(cluster.node(1), '');
  for (let i = 0; i < 12; i++) {
    await cluster.node(1).value('//stuff', '.fill = text; nil;', { text: 'x'.repeat(1024 * 1024) });
  }
  await cluster.node(1).value('//stuff', ".del('fill');");
  const fourth = await invited(cluster.node(1));
  await until(() => /"snapshot_installed","group":2\b/.test(fourth.log), 'it gets a snapshot');
  await until(async () => (await fourth.probe('/ready')).status === 200, 'it is ready');
  expect(await answersOf(fourth)).toEqual(expected);
  // Earlier changes are asked of the nodes whose logs have them.
  const { changes } = await changesOf(fourth, `?since=${at}`);
  expect(changes[0]).toMatchObject({ changes: [{ op: 'set', key: 'fill' }] });
  await cluster.node(1).value('/t', 'remove_node(3);');
  await fourth.ended();

  // When all are killed at once, and start again from checkpoint and log
  await Promise.all(cluster.nodes.map((node) => node.kill()));
  await Promise.all([1, 2, 3].map((place) => cluster.restartNode(place)));
  for (const node of cluster.nodes) expect(await answersOf(node)).toEqual(expected);

  // Then their states are found to be the same, though some of them wrote instances that others have not
  // touched
  await cluster.node(2).value('//stuff', '.people[1].years += 0;');
  const checks = async (outcome: string): Promise<number> => {
    const pages = await Promise.all(cluster.nodes.map(async (node) => (await node.probe('/metrics')).text));
    const of = new RegExp(`^althing_state_checks_total\\{outcome="${outcome}"\\} (\\d+)`, 'm');
    return Math.max(...pages.map((page) => Number(of.exec(page)?.[1] ?? 0)));
  };
  await until(async () => {
    // Only a state that changes is compared.
    await cluster.node(2).value('//stuff', '.touched = rand(); .del("touched"); nil;');
    return (await checks('ok')) >= 2;
  }, 'states are compared');
  expect(await checks('mismatch')).toBe(0);

  // When a backup is restored into another cluster
  const backup = await cluster.node(2).post('/@backup', '');
  expect(backup.status).toBe(200);
  const other = await clusterOf(1);
  const restored = await other.node(1).post('/@restore', backup.body);
  expect(restored.text).not.toContain('error');
  other.node(1).authorization = cluster.node(1).authorization;
  expect(await answersOf(other.node(1))).toEqual(expected);
  await other.node(1).value('//stuff', "mod_type('Person', 'del', 'size'); Person{years: 3}; nil;");

  // When a majority is lost for ever, and one node is recovered
  await Promise.all(cluster.nodes.map((node) => node.kill()));
  const data = join(cluster.node(3).folder, 'data');
  await promisify(execFile)(process.execPath, [PROGRAM, 'recover', '--storage-path', data, '--yes']);
  const alone = await cluster.restartNode(3);
  expect(await answersOf(alone)).toEqual(expected);
});

async function clusterOf(...start: Parameters<typeof RealCluster.start>): Promise<RealCluster> {
  const cluster = await RealCluster.start(...start);
  started.push(cluster);
  return cluster;
}

/** A node more. */
async function invited(by: RealNode): Promise<RealNode> {
  const [port = 0] = await freePorts(1);
  const host = '127.0.0.9';
  guest = await RealNode.launch({
    node_name: host,
    bind_node_addr: host,
    listen_node_port: port,
    cluster_secret: SECRET,
    wait_for_invitation: 'true',
  });
  guest.authorization = by.authorization;
  const asked = guest;
  await until(() => asked.log.includes('wait'), 'it waits');
  await by.value('/t', 'new_node(secret, host, port);', { secret: SECRET, host, port });
  return guest;
}

async function answersOf(node: RealNode): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const code of ASKED) answers.push(await node.value('//stuff', code));
  return answers;
}

/** The changes of the collection that a node tells, in one answer. */
async function changesOf(
  { url, authorization }: RealNode,
  query: string,
): Promise<{ readonly at: string; readonly changes: readonly unknown[] }> {
  const answer = await fetch(`${url}/@changes/stuff${query}`, {
    headers: { accept: 'application/json', authorization },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { at: string; changes: unknown[] };
}
