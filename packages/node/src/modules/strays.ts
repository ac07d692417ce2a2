/** Processes that a module started and that left its group: they are known by a variable of their environment, which they inherit. */
import { readdir, readFile, stat } from 'node:fs/promises';

/** The variable that each process of a module has; its value is another one for each start of a module. */
export const MARK_VARIABLE = 'ALTHING_MODULE';

/** The beginning of the marks of all modules of the node that works with a data folder: there is one at a time. */
export async function marksOf(folder: string): Promise<string> {
  const { dev, ino } = await stat(folder);
  return `${dev}.${ino}.`;
}

/** A process may start another one while they are looked for: so often at most it is looked again. */
const ROUNDS_MAX = 20;

/**
 * Ends all processes whose environment has a mark that is this or begins so. Finds none where there is no `/proc`, and not one that took the mark out of its
 * environment.
 */
export async function endStrays(mark: string): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const found = await marked(`${MARK_VARIABLE}=${mark}`);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
  }
}

async function marked(entry: string): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  const found: number[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    // Processes of other users can not be read, and others have ended meanwhile.
    const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '');
    if (environment.split('\0').some((one) => one.startsWith(entry))) found.push(Number(name));
  }
  return found;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
