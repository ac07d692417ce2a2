/**
 * Asks a node something small again and again until it is told to end: in a thread of its own, so that the work of the process keeps it
 * from nothing. Beside each wait it reads what the node's engine, which is its main thread, had of the machine meanwhile (Linux; elsewhere zeros).
 */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type Asked, postTo, type Waits } from './bystander.js';

const ASK_MS = 20;
/** Longest wait for an answer, in milliseconds. */
const LATE_MS = 60_000;

/** Milliseconds for which the main thread of a process ran so far, and for which it was ready and had no processor. */
function machineTime(pid: number): readonly [ran: number, queued: number] {
  try {
    const [ran, queued] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    return [Number(ran) / 1e6, Number(queued) / 1e6];
  } catch {
    return [0, 0];
  }
}

async function askAgainAndAgain({ url, authorization, pid, body, again }: Asked): Promise<Waits> {
  const waits = { answers: 0, longestMs: 0, heldMs: 0, ranMs: 0 };
  let isOver = false;
  parentPort?.once('message', () => {
    isOver = true;
  });
  while (!isOver || waits.answers === 0) {
    const first = performance.now();
    for (let status = 0; status !== 200; ) {
      const begun = performance.now();
      const [ranBefore, queuedBefore] = machineTime(pid);
      status = await postTo(url, body, authorization);
      const [ran, queued] = machineTime(pid);
      const ms = performance.now() - begun;
      if (status !== 200 && !again.includes(status)) throw new Error(`something small got ${status}`);
      if (performance.now() > first + LATE_MS) throw new Error('something small got no answer');
      waits.longestMs = Math.max(waits.longestMs, ms);
      waits.heldMs = Math.max(waits.heldMs, ms - (queued - queuedBefore));
      waits.ranMs = Math.max(waits.ranMs, ran - ranBefore);
    }
    waits.answers += 1;
    await pause(ASK_MS);
  }
  return waits;
}

parentPort?.postMessage(await askAgainAndAgain(workerData));
