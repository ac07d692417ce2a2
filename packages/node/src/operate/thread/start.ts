import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { systemClock } from '../../base/clock.js';
import { describe } from '../../base/error-text.js';
import { Bridge, type BridgePort } from '../../between/bridge.js';
import { Signals } from '../../between/signals.js';
import { ExitCode } from '../../config/exit-codes.js';
import { consensusHeapMb, processMemory } from '../../config/index.js';
import type { WorkerData, WorkerOptions, WorkerStart } from './consensus-thread.js';

/** The consensus thread did not come up. `exitCode` says what kind of trouble it is. */
export class ConsensusStartError extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
    /** True if it might come up if there were more room on the disk. */
    readonly diskFull: boolean,
  ) {
    super(message);
  }
}

/** Memory that both threads see, and what belongs to it. */
export type SharedParts = Pick<WorkerData, 'status' | 'metrics' | 'startedAt'>;

/**
 * Starts the consensus thread.
 *
 * @param onExit told when the thread ends, with its exit code, and with the error that ended it if one did
 * @throws ConsensusStartError
 */
export async function startConsensus(
  options: WorkerOptions,
  shared: SharedParts,
  onExit: (code: number, error: Error | null) => void,
): Promise<{ readonly bridge: Bridge; readonly statusPort: number }> {
  const { port1, port2 } = new MessageChannel();
  const signals = new SharedArrayBuffer(Signals.BYTES);
  const workerData: WorkerData = { options, port: port2, signals, ...shared };
  const heapMb = consensusHeapMb(processMemory());
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    workerData,
    transferList: [port2],
    name: 'consensus',
    resourceLimits: heapMb === null ? {} : { maxOldGenerationSizeMb: heapMb },
  });
  const start = await new Promise<WorkerStart>((resolve, reject) => {
    port1.once('message', resolve);
    worker.once('error', (error) => {
      const message = `the consensus thread ended while it started: ${describe(error)}`;
      reject(new ConsensusStartError(message, ExitCode.InvariantBroken, false));
    });
  });
  if (start.kind === 'failed') {
    await worker.terminate();
    throw new ConsensusStartError(start.message, start.exitCode, start.diskFull);
  }
  let ending: Error | null = null;
  worker.removeAllListeners('error');
  worker.on('error', (error) => {
    ending = error;
  });
  worker.on('exit', (code) => onExit(code, ending));
  const bridge = new Bridge({ port: bridgePort(port1), signals, clock: systemClock, soon: setImmediate });
  port1.on('message', (parcel) => bridge.receive(parcel));
  return { bridge, statusPort: start.statusPort };
}

function bridgePort(port: MessagePort): BridgePort {
  return {
    post: (parcel, given) => port.postMessage(parcel, given),
    poll: () => receiveMessageOnPort(port)?.message,
    close: () => port.close(),
  };
}
