/**
 * A backup in a folder: takes one, verifies it, restores it into a node of its own that is thrown away, and only then gives
 * it its name; keeps the newest of each of the last 7 days and of each of the last 4 weeks, and removes other backups of its
 * own making.
 *
 *   node backup.mjs [FOLDER] [WORK]     (default: /backup, and the same)
 *
 * WORK is where the node for the trial has its data, and wants room for all of them. The node listens on loopback only. It
 * must have the collections that the cluster had, and they must answer and hold as many things; see `problemsOf`.
 *
 * Speaks to a node with `althing`, which takes ALTHING_URL, ALTHING_USER, ALTHING_PASSWORD_FILE and the like. Exit code 0 when there is a new backup that was restored.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const DAILY = 7;
const WEEKLY = 4;
const DAY_MS = 86_400_000;
const READY_MS = 60_000;
/** Starts of the node for the trial, each on other ports: between their choice and their use somebody else may take one. */
const STARTS_MAX = 3;
/** The exit code of a node whose port is in use; of a configuration that is wrong, too. */
const PORT_IN_USE = 2;
/** `althing-20260131T023000Z.backup` */
const NAME = /^althing-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/;

const folder = process.argv[2] ?? '/backup';
const work = join(process.argv[3] ?? folder, '.restored');
const program = process.env.ALTHING_PROGRAM ?? 'althing';
const environment = { ...process.env };

const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
const path = join(folder, `althing-${stamp}.backup`);
const partial = `${path}.partial`;
const running = new Set();
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(1));
// What is left of a run that was ended hard is removed by the next one.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

try {
  // What a run left that was ended midway.
  for (const name of readdirSync(folder)) {
    if (/^althing-\d{8}T\d{6}Z\.backup\..*partial$/.test(name)) rmSync(join(folder, name));
  }
  rmSync(work, { recursive: true, force: true });
  const before = await collectionsOf(environment);
  await run(environment, 'backup', partial);
  const after = await collectionsOf(environment);
  await run(environment, 'backup', 'verify', partial);
  await tryIt(partial, before, after);
  renameSync(partial, path);
  console.log(`${path}: taken, verified and restored`);
  for (const name of superfluous(readdirSync(folder))) {
    rmSync(join(folder, name));
    console.log(`${join(folder, name)}: removed`);
  }
} catch (error) {
  rmSync(partial, { force: true });
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** Restores a backup into a node that is thrown away, and insists on what must be in it. */
async function tryIt(file, before, after) {
  mkdirSync(work);
  const password = randomBytes(15).toString('base64url');
  try {
    const { node, url } = await startTrial(password);
    try {
      const asNew = {
        ...without(environment, /^ALTHING_/),
        ALTHING_USER: 'admin',
        ALTHING_PASSWORD: password,
      };
      await run({ ...asNew, ALTHING_URL: url }, 'restore', file);
      // From here on users and passwords are those of the backup.
      const asBefore = { ...environment, ALTHING_URL: url };
      const restored = await collectionsOf(asBefore);
      for (const { name } of restored.values()) await ask(asBefore, `//${name}`, '.len();');
      const problems = problemsOf(restored, before, after);
      if (problems.length > 0) throw new Error(`${file}, restored: ${problems.join('; ')}`);
      const things = [...restored.values()].reduce((sum, { things }) => sum + things, 0);
      console.log(`${file}: restored, ${restored.size} collections, ${things} things`);
    } finally {
      await end(node);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Starts the node for the trial, and waits until it is ready. */
async function startTrial(password) {
  for (let attempt = 1; ; attempt++) {
    const [apiPort, statusPort, nodePort] = await freePorts(3);
    const node = start(
      {
        ...without(environment, /^(?:SERVICE|THINGSDB|ALTHING)_/),
        SERVICE_STORAGE_PATH: join(work, 'data'),
        SERVICE_BACKUP_PATH: join(work, 'backups'),
        SERVICE_ADMIN_PASSWORD: password,
        SERVICE_HTTP_API_PORT: String(apiPort),
        SERVICE_HTTP_STATUS_PORT: String(statusPort),
        // The node that is backed up may listen there on the same machine.
        SERVICE_LISTEN_CLIENT_PORT: '0',
        SERVICE_LISTEN_NODE_PORT: String(nodePort),
        SERVICE_LOG_LEVEL: 'warning',
        // It has little to do, and little memory.
        SERVICE_CACHE_SIZE_MB: '64',
        SERVICE_LOG_SEGMENT_MB: '16',
        SERVICE_DISK_RESERVE_MB: '1',
      },
      ['serve'],
    );
    try {
      await ready(`http://127.0.0.1:${statusPort}/ready`, node.child);
      return { node, url: `http://127.0.0.1:${apiPort}` };
    } catch (error) {
      await end(node);
      if (node.child.exitCode !== PORT_IN_USE || attempt === STARTS_MAX) throw error;
      rmSync(join(work, 'data'), { recursive: true, force: true });
    }
  }
}

async function end({ child, ended }) {
  child.kill('SIGTERM');
  await ended;
}

/**
 * What a restored node lacks, given the collections that the cluster had before and after the backup, while it was in use. The
 * ids of things are given away one after the other, so those of the backup lie between; where none was given away, things
 * can only have become fewer meanwhile.
 */
function problemsOf(restored, before, after) {
  const problems = [];
  for (const [id, first] of before) {
    const last = after.get(id);
    if (last === undefined) continue;
    // A restore makes collections anew, under other ids. One that was renamed meanwhile has either name.
    const found = [...restored.values()].find(({ name }) => name === first.name || name === last.name);
    if (found === undefined) {
      problems.push(`the collection ${first.name} is missing`);
      continue;
    }
    const expect = (field, low, high) => {
      if (found[field] >= low && found[field] <= high) return;
      problems.push(`${first.name} has ${field} ${found[field]}, and had ${low} to ${high}`);
    };
    expect('next_free_id', first.next_free_id, last.next_free_id);
    if (first.next_free_id === last.next_free_id) expect('things', last.things, first.things);
  }
  return problems;
}

/** The collections of a cluster by their ids. */
async function collectionsOf(environment) {
  const collections = await ask(environment, '@thingsdb', 'collections_info().map(|c| c.load());');
  return new Map(collections.map((collection) => [collection.collection_id, collection]));
}

async function ask(environment, scope, code) {
  return JSON.parse(await run(environment, 'query', scope, code));
}

async function ready(url, child) {
  const end = Date.now() + READY_MS;
  while (Date.now() < end) {
    if (child.exitCode !== null) throw new Error(`the node for the trial ended with code ${child.exitCode}`);
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await pause(50);
  }
  throw new Error(`the node for the trial was not ready within ${READY_MS} ms`);
}

/** Ports of loopback that nobody has. */
async function freePorts(count) {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise((resolve, reject) => {
          const server = createServer().on('error', reject);
          server.listen(0, '127.0.0.1', () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Runs the program to its end; gives what it printed. */
async function run(environment, ...parameters) {
  const { output, ended } = start(environment, parameters);
  const code = await ended;
  if (code === 0) return output.text;
  throw new Error(`althing ${parameters.join(' ')}: ${code}`);
}

/** Starts the program. `ended` settles with its exit code, or with why it has none. */
function start(environment, parameters) {
  const child = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'inherit'], env: environment });
  const output = { text: '' };
  running.add(child);
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.text += text;
  });
  const ended = new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code ?? signal));
  }).finally(() => running.delete(child));
  return { child, output, ended };
}

function without(variables, names) {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !names.test(name)));
}

/** Names of backups that neither their day nor their week keeps. */
function superfluous(names) {
  const newestFirst = names
    .filter((name) => NAME.test(name))
    .sort()
    .reverse();
  const keep = new Set([...newestOf(newestFirst, DAILY, dayOf), ...newestOf(newestFirst, WEEKLY, weekOf)]);
  return newestFirst.filter((name) => !keep.has(name));
}

/** The newest of each of the first `count` periods that have one. */
function newestOf(newestFirst, count, periodOf) {
  const found = new Map();
  for (const name of newestFirst) if (!found.has(periodOf(name))) found.set(periodOf(name), name);
  return [...found.values()].slice(0, count);
}

/** Days since 1970, in UTC. */
function dayOf(name) {
  const [, year, month, day] = NAME.exec(name);
  return Math.floor(Date.UTC(Number(year), Number(month) - 1, Number(day)) / DAY_MS);
}

/** Weeks since 1970, from Monday on; 1 January 1970 was a Thursday. */
function weekOf(name) {
  return Math.floor((dayOf(name) + 3) / 7);
}
