/**
 * The yardstick of `bench -- data`: the path of a small write and nothing else, as a process of its own. A door of uWebSockets.js, a thread
 * that appends to a file and waits until that is on the disk, and an answer. Beside it the process does as much as a node did
 * beside its writes: on the thread of the door, on another one, and in LevelDB.
 */

import { App, type HttpResponse, us_socket_local_port } from 'uWebSockets.js';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Level } from 'level';
import { writtenBytesOf } from '../cpu.js';

/** The work of the process in a second, that for its writes included; of the thread of the door only what comes besides. */
export interface BareWork {
  /** Processor time of the thread of the door, and of all threads, in milliseconds. */
  readonly doorMs: number;
  readonly allMs: number;
  /** Bytes that are written to files. */
  readonly bytes: number;
}

/** The first order names the folder, the others say what to do beside writes. */
export type BareOrder = { readonly folder: string } | BareWork;

/** Bytes that a write is in the log. */
const ENTRY_BYTES = 120;
/** Time that a thread works without a pause, in milliseconds: as long as a slice of a node. */
const SLICE_MS = 5;
/** Entries of a batch, and bytes of each. Their keys come in no order, as those of an index do. */
const BATCH = 64;
const VALUE_BYTES = 1000;
const STRIDE = 2_654_435_761;
/** Work that could not be done within so many slices, or batches, is left out. */
const OVERDUE_MAX = 20;
/** A message of MessagePack that is `1`. */
const ANSWER = Uint8Array.of(1);

/** Does pieces of work, so that what is done keeps up with what is due; a look each millisecond. */
function keepUp(
  perS: number,
  piece: number,
  done: () => number,
  work: () => Promise<void> | void,
): () => void {
  const from = done();
  const beganAt = performance.now();
  let leftOut = 0;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const look = async (): Promise<void> => {
    const due = (perS * (performance.now() - beganAt)) / 1000 - (done() - from) - leftOut;
    if (due > OVERDUE_MAX * piece) leftOut += due - OVERDUE_MAX * piece;
    if (due >= piece) await work();
    if (!isStopped) timer = setTimeout(look, 1);
  };
  void look();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

function spin(): void {
  const end = performance.now() + SLICE_MS;
  while (performance.now() < end);
}

function spentMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The thread of the log: takes numbers of writes, and says of how many it is certain that they are on the disk. */
async function log(folder: string): Promise<void> {
  const file = await open(join(folder, 'log'), 'a');
  let waiting = 0;
  let isBusy = false;
  parentPort?.on('message', async (count: number) => {
    waiting += count;
    if (isBusy) return;
    isBusy = true;
    while (waiting > 0) {
      const taken = waiting;
      waiting = 0;
      await file.write(Buffer.alloc(ENTRY_BYTES * taken, 7));
      await file.datasync();
      parentPort?.postMessage(taken);
    }
    isBusy = false;
  });
}

/** The thread for what the others of a node do: as much as makes up all of the process's processor time. */
function others(): void {
  let stop = (): void => {};
  parentPort?.on('message', ({ allMs }: BareWork) => {
    stop();
    stop = keepUp(allMs, SLICE_MS, spentMs, spin);
  });
}

function threadOf(role: { readonly folder?: string }): Worker {
  return new Worker(new URL(import.meta.url), { workerData: role });
}

async function door(folder: string): Promise<(work: BareWork) => void> {
  const level = new Level<Buffer, Buffer>(join(folder, 'level'), {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
  });
  await level.open();
  const logThread = threadOf({ folder });
  const otherThread = threadOf({});
  const unanswered: HttpResponse[] = [];
  let came = 0;
  const send = (): void => {
    logThread.postMessage(came);
    came = 0;
  };
  logThread.on('message', (count: number) => {
    for (const response of unanswered.splice(0, count))
      response.cork(() => response.writeHeader('Content-Type', 'application/msgpack').end(ANSWER));
  });
  App()
    .post('/*', (response) => {
      response.onAborted(() => process.exit(1));
      response.onData((_, isLast) => {
        if (!isLast) return;
        unanswered.push(response);
        came += 1;
        if (came === 1) setImmediate(send);
      });
    })
    .listen('127.0.0.1', 0, (socket) => {
      if (socket === false) throw new Error('no port to listen on');
      process.send?.({ port: us_socket_local_port(socket) });
    });
  let key = 0;
  const batch = (): Promise<void> =>
    level.batch(
      Array.from({ length: BATCH }, () => {
        const bytes = Buffer.alloc(16);
        bytes.writeUInt32BE(Math.imul(++key, STRIDE) >>> 0);
        return { type: 'put', key: bytes, value: Buffer.alloc(VALUE_BYTES, key) };
      }),
    );
  const stops: (() => void)[] = [];
  return (work) => {
    for (const stop of stops.splice(0)) stop();
    let spunMs = 0;
    const spinHere = (): void => {
      spin();
      spunMs += SLICE_MS;
    };
    stops.push(keepUp(work.doorMs, SLICE_MS, () => spunMs, spinHere));
    stops.push(keepUp(work.bytes, BATCH * VALUE_BYTES, () => writtenBytesOf('self') ?? 0, batch));
    otherThread.postMessage(work);
  };
}

if (isMainThread) {
  let doWork: ((work: BareWork) => void) | null = null;
  process.on('message', async (order: BareOrder) => {
    if ('folder' in order) doWork = await door(order.folder);
    else doWork?.(order);
  });
  process.on('disconnect', () => process.exit(0));
} else {
  const { folder } = workerData as { readonly folder?: string };
  if (folder === undefined) others();
  else await log(folder);
}
