/** Whether all nodes hold the same state, record by record. */
import { CollectionGroup, RecordKind } from '@althing/engine';
import { type GroupId, ROOT_GROUP } from '../consensus/protocol.js';
import type { GroupSession } from '../scopes/group-session.js';
import type { Process } from './process.js';
import { Violation } from './watcher.js';
import type { World } from './world.js';

/** How long it may take to write everything, in milliseconds of virtual time. */
const FLUSH_MS = 120_000;

/**
 * Writes a checkpoint of every group on every node, and compares what is stored.
 *
 * @returns false if a node found that its data are damaged, and is gone: nobody had looked there before
 * @throws Violation
 */
export async function compareStates(world: World): Promise<boolean> {
  const { processes } = world;
  let texts: Map<GroupId, string>[] | null = null;
  const failed = (process: Process) => (error: unknown) => {
    process.fail('its state can not be read', error);
    return new Map<GroupId, string>();
  };
  Promise.all(processes.map((process) => textsOf(process).catch(failed(process)))).then((done) => {
    texts = done;
  });
  const isOver = (): boolean => texts !== null || processes.some(({ alive }) => !alive);
  await world.run(isOver, FLUSH_MS);
  if (processes.some(({ alive }) => !alive)) return false;
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

async function textsOf(process: Process): Promise<Map<GroupId, string>> {
  const { sessions, checkpointer, state } = process;
  const texts = new Map<GroupId, string>();
  if (sessions === null || checkpointer === null || state === null) return texts;
  for (const session of sessions.all) {
    await written(process, session);
    const lines: string[] = [];
    for await (const { kind, id, part, value } of state.store.scan(session.id)) {
      // Each node numbers the records of procedures by itself.
      // Each knows by itself where garbage may be.
      const isShort = kind === RecordKind.META && session.id !== ROOT_GROUP;
      const bytes = isShort ? Buffer.from(CollectionGroup.sharedMeta(value)) : value;
      const name = kind === RecordKind.PROCEDURE ? 'procedure' : `${kind} ${id} ${part}`;
      lines.push(`${name}: ${bytes.toString('hex')}`);
    }
    texts.set(session.id, lines.sort().join('\n'));
  }
  return texts;
}

/** A checkpoint may have to wait until a snapshot that comes in is given up. */
async function written({ checkpointer, engineThread }: Process, session: GroupSession): Promise<void> {
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
