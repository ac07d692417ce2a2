/** Checks that all nodes hold the same state, record by record. */
import { brokenRules, CollectionGroup } from '@althing/engine';
import { type GroupId, type GroupSession, SharedRecords } from '@althing/node/parts';
import { brokenJobs } from './job-bugs.js';
import type { Process } from './process.js';
import { Violation } from './watcher.js';
import type { World } from './world.js';

/** Time that it may take to write everything, in milliseconds of virtual time. */
const FLUSH_MS = 120_000;

/**
 * Writes a checkpoint of every group on every node, compares what is stored, and looks whether the rules of the state are kept.
 *
 * @returns false if a node found that its data are damaged, and is gone: nobody had looked there before
 * @throws Violation
 */
export async function compareStates(world: World): Promise<boolean> {
  const { processes } = world;
  let texts: Map<GroupId, string>[] | null = null;
  const broken: string[] = [];
  const failed = (process: Process) => (error: unknown) => {
    process.fail('its state can not be read', error);
    return new Map<GroupId, string>();
  };
  Promise.all(processes.map((process) => textsOf(process, broken).catch(failed(process)))).then((done) => {
    texts = done;
  });
  const isOver = (): boolean => texts !== null || processes.some(({ alive }) => !alive);
  await world.run(isOver, FLUSH_MS);
  if (processes.some(({ alive }) => !alive)) return false;
  if (broken[0] !== undefined) throw new Violation('I4', broken[0]);
  const [first, ...others] = (texts ?? []) as Map<GroupId, string>[];
  if (first === undefined) throw new Violation('I16', 'the states are not written in time');
  for (const [at, other] of others.entries()) {
    for (const group of new Set([...first.keys(), ...other.keys()])) {
      if (first.get(group) === other.get(group)) continue;
      const difference = differenceOf(first.get(group) ?? '', other.get(group) ?? '');
      throw new Violation('I4', `group ${group} differs at the first node and node ${at + 1}: ${difference}`);
    }
  }
  return true;
}

/** @param broken gets the rules that are not kept */
async function textsOf(process: Process, broken: string[]): Promise<Map<GroupId, string>> {
  const { side, state } = process;
  const texts = new Map<GroupId, string>();
  if (side === null || state === null) return texts;
  for (const session of side.scopes.sessions.all) {
    await written(process, session);
    const { group } = session;
    if (group instanceof CollectionGroup) {
      for (const rule of [...brokenRules(group), ...brokenJobs(group)])
        broken.push(`${process.machine.name}, group ${session.id}: ${rule}`);
    }
    const records = new RecordLines(session.id);
    for await (const record of state.store.scan(session.id))
      records.add({ ...record, value: Buffer.from(record.value) });
    texts.set(session.id, records.end());
  }
  return texts;
}

/** A line for each record, as far as it is the same on all nodes. */
class RecordLines extends SharedRecords {
  private readonly lines: string[] = [];

  end(): string {
    this.finish();
    return this.lines.sort().join('\n');
  }

  protected override record(
    kind: number,
    id: number,
    part: number,
    content: Iterable<Uint8Array> | null,
  ): void {
    this.lines.push(`${kind} ${id} ${part}: ${Buffer.concat([...(content ?? [])]).toString('hex')}`);
  }

  protected override procedure(digest: Uint8Array): void {
    this.lines.push(`procedure: ${Buffer.from(digest).toString('hex')}`);
  }
}

/** A checkpoint may have to wait until a snapshot that comes in is given up. */
async function written({ side, engineThread }: Process, session: GroupSession): Promise<void> {
  const checkpointer = side?.scopes.checkpointer;
  for (;;) {
    await checkpointer?.flush(session);
    await checkpointer?.ensureStored(session);
    if (checkpointer?.isDirty(session) !== true) return;
    await new Promise<void>((resolve) => engineThread.after(500, resolve));
  }
}

function differenceOf(left: string, right: string): string {
  const leftLines = new Set(left.split('\n'));
  const rightLines = new Set(right.split('\n'));
  const onlyLeft = [...leftLines].filter((line) => !rightLines.has(line)).slice(0, 3);
  const onlyRight = [...rightLines].filter((line) => !leftLines.has(line)).slice(0, 3);
  return `only there: ${onlyLeft.join(', ')}; only here: ${onlyRight.join(', ')}`;
}
