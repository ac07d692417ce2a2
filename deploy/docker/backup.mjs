/**
 * A backup in a folder: takes one, verifies it, and only then gives it its name; keeps the newest of each of the last 7
 * days and of each of the last 4 weeks, and removes other backups of its own making.
 *
 *   node backup.mjs [FOLDER]     (default /backup)
 *
 * Speaks to a node with `althing backup`, which takes ALTHING_URL, ALTHING_USER and the like; with
 * ALTHING_PASSWORD_FILE the password is read from a file. Exit code 0 when there is a new, verified backup.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const DAILY = 7;
const WEEKLY = 4;
const DAY_MS = 86_400_000;
/** `althing-20260131T023000Z.backup` */
const NAME = /^althing-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/;

const folder = process.argv[2] ?? '/backup';
const program = process.env.ALTHING_PROGRAM ?? 'althing';
const environment = { ...process.env };
if (environment.ALTHING_PASSWORD_FILE) {
  environment.ALTHING_PASSWORD ??= readFileSync(environment.ALTHING_PASSWORD_FILE, 'utf8').trim();
}

const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
const path = join(folder, `althing-${stamp}.backup`);
const partial = `${path}.partial`;

// What a run left that was ended midway.
for (const name of readdirSync(folder)) {
  if (NAME.test(name.replace(/\.partial$/, '')) && name.endsWith('.partial')) rmSync(join(folder, name));
}
run('backup', partial);
run('backup', 'verify', partial);
renameSync(partial, path);
console.log(`${path}: taken and verified`);
for (const name of superfluous(readdirSync(folder))) {
  rmSync(join(folder, name));
  console.log(`${join(folder, name)}: removed`);
}

function run(...parameters) {
  const { status, error } = spawnSync(program, parameters, { stdio: 'inherit', env: environment });
  if (status === 0) return;
  rmSync(partial, { force: true });
  console.error(`althing ${parameters.join(' ')}: ${error?.message ?? `exit code ${status}`}`);
  process.exit(1);
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
