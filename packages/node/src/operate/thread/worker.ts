/** The entry of the consensus thread. */
import { workerData } from 'node:worker_threads';
import { ConsensusThread, type WorkerData } from './consensus-thread.js';

new ConsensusThread(workerData as WorkerData).start();
