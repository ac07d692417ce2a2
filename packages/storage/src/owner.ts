/**
 * The file `owner` tells people and other processes who works with a folder. It is no lock: LevelDB's is,
 * which the system gives up with the process.
 *
 *   owner = {"pid": number, "start": string}      JSON; start: what `processOf` gives
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

export const OWNER_NAME = 'owner';

export type Owner = { readonly pid: number; readonly start: string };

/** The owner that a folder tells, if it tells one at all. */
export async function readOwner(folder: string): Promise<Owner | undefined> {
  const text = await readFile(path.join(folder, OWNER_NAME), 'utf8').catch(() => '');
  const match = /^\{"pid":(\d{1,10}),"start":"([^"]{0,100})"\}\n?$/.exec(text);
  return match === null ? undefined : { pid: Number(match[1]), start: match[2] ?? '' };
}

export async function writeOwner(folder: string): Promise<void> {
  const owner: Owner = { pid: process.pid, start: (await processOf(process.pid)).start };
  await writeFile(path.join(folder, OWNER_NAME), `${JSON.stringify(owner)}\n`, { mode: 0o600 });
}

export async function removeOwner(folder: string): Promise<void> {
  await rm(path.join(folder, OWNER_NAME), { force: true });
}

/**
 * True if that very process still runs. A number alone does not tell: in a container the next process has the
 * same one. A process that has ended and that nobody has asked for its exit code (a zombie) runs no more.
 */
export async function isAlive({ pid, start }: Owner): Promise<boolean> {
  if (pid === 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code !== 'EPERM') return false;
  }
  const { state, start: now } = await processOf(pid);
  if (state === 'Z' || state === 'X') return false;
  return now === start || now === '' || start === '';
}

/**
 * The state of a process as Linux tells it (proc(5), fields 3 and 22 of /proc/pid/stat): its state, and its
 * start as the boot's identity and the clock ticks since then. Empty where that is not told.
 */
async function processOf(pid: number): Promise<{ readonly state: string; readonly start: string }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields[19];
  const start = ticks === undefined || boot === '' ? '' : `${boot.trim()} ${ticks}`;
  return { state: fields[0] ?? '', start };
}
