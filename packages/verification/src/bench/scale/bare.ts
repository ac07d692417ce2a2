import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Child } from '../child.js';
import type { BareDataAnswer, BareDataOrder } from '../yardsticks/bare-data.js';
import type { BareOrder, BareWork } from '../yardsticks/bare-node.js';
import { type Waits, type Work, Writers } from './writers.js';

/** Time for which it is measured, in milliseconds: not as long as a build takes, so its longest wait is rather a smaller one. */
const MEASURED_MS = 20_000;

/**
 * The bound of what writes can notice on this machine: a server without a database that does as much beside its writes as a
 * node did.
 *
 * @param before what the node did while it had writes alone, and `meanwhile` with something besides
 * @returns null where the system does not tell what processes do
 */
export async function besideBareNode(
  storage: string,
  before: Waits,
  meanwhile: Waits,
  perS: number,
  onProblem: (problem: string) => void,
): Promise<{ readonly before: Waits; readonly meanwhile: Waits } | null> {
  if (before.work === null || meanwhile.work === null) return null;
  const folder = mkdtempSync(join(storage, 'althing-bare-'));
  const child = new Child(import.meta.url, '../yardsticks/bare-node.js');
  try {
    const start: BareOrder = { folder };
    const port = await child.ask(start, (message: { readonly port: number }) => message.port);
    const writers = new Writers(`http://127.0.0.1:${port}`, perS, onProblem);
    const calm = await writers.calm(child.pid);
    if (calm.work !== null) child.tell(workOf(before.work, meanwhile.work, calm.work));
    await pause(MEASURED_MS);
    const busy = await writers.since(child.pid);
    await writers.stop();
    return { before: calm, meanwhile: busy };
  } finally {
    await child.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The work that the bare server does: its own for writes, and as much more as the node did meanwhile. */
function workOf(before: Work, meanwhile: Work, own: Work): BareWork {
  const more = (of: (work: Work) => number): number => Math.max(0, of(meanwhile) - of(before));
  return {
    doorMs: more(({ firstMs }) => firstMs),
    allMs: own.allMs + more(({ allMs }) => allMs),
    bytes: own.bytes + more(({ bytes }) => bytes),
  };
}

/** Time that a bare iterator of LevelDB takes over so many records of the size of small instances, none of them read before, in milliseconds. */
export async function bareScanMs(storage: string, records: number): Promise<number> {
  const folder = mkdtempSync(join(storage, 'althing-bare-'));
  try {
    await inProcess({ kind: 'fill', folder, records });
    return await inProcess({ kind: 'scan', folder, records });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Processor time of bare gets of a page of an index and of an instance, from the records that a node which was stopped left in its folder, in
 * milliseconds.
 *
 * @param times pairs of them
 */
export async function bareGetsMs(nodeFolder: string, times: number): Promise<number> {
  return (await inProcess({ kind: 'gets', folder: join(nodeFolder, 'data', 'state'), times })) / times;
}

/** Time of a look-up of a number in bare sorted pages over so many objects in memory, in milliseconds. */
export async function bareLookUpMs(records: number, times: number): Promise<number> {
  return (await inProcess({ kind: 'look up', records, times })) / times;
}

async function inProcess(order: BareDataOrder): Promise<number> {
  const child = new Child(import.meta.url, '../yardsticks/bare-data.js');
  try {
    return await child.ask(order, ({ ms }: BareDataAnswer) => ms);
  } finally {
    await child.close();
  }
}
