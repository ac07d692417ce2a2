/** Procedures and tasks of the scope @thingsdb. */
import { isWireList, isWireMap, type WireValue } from '@althing/client';
import { parseClosure, prettySource } from '@althing/language';
import { type Connection, runQuery } from '../connection.js';
import type { ThingsdbProcedure, ThingsdbRoot, ThingsdbTask } from '../node.js';
import type { Report } from './report.js';
import { maskOf } from './running-source.js';
import { THINGSDB_SCOPE } from './source.js';

const ROOT = '@thingsdb';

/** Makes the procedures whose names are free. */
export async function bringProcedures(
  connection: Connection,
  { procedures }: ThingsdbRoot,
  report: Report,
  isDryRun: boolean,
): Promise<void> {
  const infos = await runQuery(connection, ROOT, 'procedures_info();');
  const known = new Map<string, string>();
  for (const info of isWireList(infos) ? infos : [])
    if (isWireMap(info)) known.set(String(info.get('name')), String(info.get('definition')));
  for (const procedure of procedures.values()) {
    const { name, source } = procedure;
    const there = known.get(name);
    if (!isUsable(procedure)) await report.add('procedure', name, 'left out', 'it is no closure here');
    else if (there === undefined) {
      if (!isDryRun) await runQuery(connection, ROOT, `new_procedure('${name}', ${source});`);
      await report.add('procedure', name, 'made');
    } else if (isSameCode(there, source)) await report.add('procedure', name, 'there');
    else await report.add('procedure', name, 'kept', 'another one of that name is there');
  }
}

/** Makes the tasks that are still to run; each is made once, however often this is done. */
export async function bringTasks(
  connection: Connection,
  root: ThingsdbRoot,
  report: Report,
  isDryRun: boolean,
): Promise<void> {
  const found = await runQuery(connection, ROOT, 'tasks().map(|t| [str(t.closure()), t.owner(), t.args()]);');
  const present = (isWireList(found) ? found : []).map((row) =>
    isWireList(row) ? keyOf(String(row[0]), String(row[1]), row[2] ?? null) : '',
  );
  const now = Date.now() / 1000;
  for (const task of root.tasks.values()) {
    const owner = root.users.get(task.owner)?.name ?? connection.who;
    const why = reasonAgainst(task, now) ?? reasonAgainstOwner(root, task.owner);
    const key = keyOf(task.source, owner, task.args ?? null);
    const place = present.indexOf(key);
    const name = String(task.id);
    if (why !== null) await report.add('task', name, 'left out', why);
    else if (place >= 0) {
      present.splice(place, 1);
      await report.add('task', name, 'there');
    } else {
      if (!isDryRun) {
        const code = `task(datetime(at), ${task.source}, args).set_owner(owner); nil;`;
        await runQuery(connection, ROOT, code, { at: BigInt(task.startAt), args: task.args ?? [], owner });
      }
      await report.add('task', name, 'made', 'under a new id');
    }
  }
}

function reasonAgainst({ startAt, args, source }: ThingsdbTask, now: number): string | null {
  if (startAt === 0) return 'it is not scheduled';
  if (startAt <= now) return 'its time has passed';
  if (args === null) return 'it has arguments that no client can send';
  return isClosure(source) ? null : 'it is no closure here';
}

/** A task runs with the rights of its owner, who must have CHANGE here; one whose owner is gone gets another, who has. */
function reasonAgainstOwner({ users, access }: ThingsdbRoot, id: number): string | null {
  const owner = users.get(id);
  const mask = access.get(THINGSDB_SCOPE)?.get(id) ?? 0;
  return owner === undefined || (mask & maskOf('CHANGE')) !== 0
    ? null
    : `its owner ${owner.name} may change nothing in @thingsdb`;
}

function isUsable({ name, source }: ThingsdbProcedure): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && isClosure(source);
}

/** True if a text is one closure and nothing else, so that it can be a part of code. */
function isClosure(source: string): boolean {
  try {
    parseClosure(source);
    return true;
  } catch {
    return false;
  }
}

function isSameCode(a: string, b: string): boolean {
  return isClosure(a) && isClosure(b) && formatted(a) === formatted(b);
}

function keyOf(source: string, owner: string, args: WireValue): string {
  const plain = JSON.stringify(args, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  return `${isClosure(source) ? formatted(source) : source} ${owner} ${plain}`;
}

function formatted(source: string): string {
  return prettySource(parseClosure(source), source);
}
