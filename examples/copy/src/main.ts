/** Keeps a copy of instances of a collection in SQLite: a row each, and the position in the same transaction. */
import { rmSync } from 'node:fs';
import { connect } from '@althing/client';
import { type ChangeStep, changes, LostError } from '@althing/client/changes';
import sqlite from 'node-sqlite3-wasm';

const { ALTHING_URL = 'http://127.0.0.1:9210', ALTHING_TOKEN: token = '', COPY = 'copy.db' } = process.env;
const [urls, scope, types] = [ALTHING_URL.split(','), '//theatre', ['Seat']];
// Nobody else uses the file: a lock is that of a program that was killed.
rmSync(`${COPY}.lock`, { recursive: true, force: true });
const copy = new sqlite.Database(COPY);
// Somebody who reads it locks it for a moment.
copy.exec('pragma busy_timeout = 5000');
copy.exec(`create table if not exists thing (id integer primary key, type text, value text);
  create table if not exists place (one integer primary key check (one = 1), at text)`);

/** Changes rows and says where they stand: both, or nothing. */
function keep(at: string, change: () => void): false {
  copy.exec('begin');
  change();
  copy.run('insert or replace into place values (1, ?)', [at]);
  copy.exec('commit');
  return false;
}

function put(id: unknown, type: unknown, values: unknown): void {
  const text = JSON.stringify(values, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
  copy.run('insert or replace into thing values (?, ?, ?)', [Number(id), String(type), text]);
}

/** Copies what is there. What changed behind the position comes again, which does no harm: things come as they are. */
async function begin(at: string): Promise<false> {
  const db = connect(urls, { token });
  const code = 'types.map(|name| type_all(name).map(|thing| thing));';
  const found = await db.$scope(scope).query<{ '#': number }[][]>(code, { types });
  await db.$close();
  return keep(at, () => {
    copy.exec('delete from thing');
    for (const [i, things] of found.entries())
      for (const { '#': id, ...values } of things) put(id, types[i], values);
  });
}

function take({ op, id, type, values, ids }: ChangeStep): void {
  if (op === 'thing' && types.includes(`${type}`)) put(id, type, values);
  // It is gone, or of another type now.
  else if (op === 'thing' || op === 'gone')
    copy.run('delete from thing where id in (select value from json_each(?))', `[${ids ?? id}]`);
  // Instances of a type that changes are not told one by one.
  else if (op === 'schema' && types.includes(`${type}`)) throw new LostError(null);
}

for (let isNew = copy.get('select at from place') === null; ; isNew = true) {
  const since = isNew ? null : String(copy.get('select at from place')?.['at']);
  try {
    for await (const { at, steps } of changes(urls, scope, { token, since, types, things: true }))
      isNew = isNew ? await begin(at) : keep(at, () => steps.forEach(take));
  } catch (error) {
    if (!(error instanceof LostError)) throw error;
    if (copy.inTransaction) copy.exec('rollback');
  }
}
