/**
 * Loaded into a node besides, by `--import`: writes how long the longest turns of its first thread were, less the time in which they waited for a processor that
 * others had. Waiting for a lock or a disk counts. It looks 500 times a second, and a look waits for the turn that is under way, so what
 * passes between two looks is some 2 ms more than a turn.
 */
import { appendFileSync, openSync, readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const LOOK_MS = 2;
/** Time between two lines, in milliseconds: the moment, and the longest turn since the last line. */
const LINE_MS = 200;
const NS_PER_MS = 1e6;

const to = new URL(import.meta.url).searchParams.get('to');
if (isMainThread && to !== null) {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const bytes = Buffer.alloc(100);
  // The second number of the text: nanoseconds in which it could have run.
  const queuedMs = (): number =>
    Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0)).split(' ')[1]) / NS_PER_MS;
  const now = (): number => performance.now() - queuedMs();
  let last = now();
  let longest = 0;
  setInterval(() => {
    const moment = now();
    longest = Math.max(longest, moment - last);
    last = moment;
  }, LOOK_MS).unref();
  setInterval(() => {
    appendFileSync(to, `${Date.now()} ${longest}\n`);
    longest = 0;
  }, LINE_MS).unref();
}
