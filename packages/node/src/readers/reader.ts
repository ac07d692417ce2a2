import { Worker } from 'node:worker_threads';
import type { FromReader, ReaderData, ToReader } from './messages.js';

/** Listens to what comes of a reader. */
export interface ReaderEvents {
  readonly said: (message: FromReader) => void;
  /** It is gone. @param cause why, where it ended by an error */
  readonly ended: (cause: Error | null) => void;
}

/** A thread that runs queries over snapshots, one at a time. */
export interface Reader {
  send(message: ToReader): void;
  /** Ends it wherever it is; resolves when it has let everything go. */
  terminate(): Promise<void>;
}

/** @param memoryMb what its heap may take; more ends the thread */
export type StartReader = (data: ReaderData, memoryMb: number, events: ReaderEvents) => Reader;

export const startReader: StartReader = (data, memoryMb, events) => {
  const worker = new Worker(new URL('./reader-thread.js', import.meta.url), {
    workerData: data,
    name: 'snapshot reader',
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  let cause: Error | null = null;
  worker.on('message', events.said);
  worker.on('error', (error) => {
    cause = error;
  });
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      events.ended(cause);
      resolve();
    });
  });
  worker.unref();
  return {
    send: (message) => worker.postMessage(message),
    async terminate() {
      // The process has to live until then.
      worker.ref();
      await worker.terminate();
      await ended;
    },
  };
};

/** True if a thread ended since it took more memory than it may. */
export function isOutOfMemory(error: Error | null): boolean {
  return error !== null && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
