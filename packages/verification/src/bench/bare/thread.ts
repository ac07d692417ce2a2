/** The thread of a node of the bare path that has log and peers; its first message says that it is ready. */
import { parentPort, workerData } from 'node:worker_threads';
import { makeReplica, type ReplicaOrder } from './order.js';
import { serve } from './port-replica.js';

const order: ReplicaOrder = workerData;
const port = parentPort;
if (port === null) throw new Error('this is no thread');
serve(
  port,
  makeReplica(order, () => port.postMessage('ready')),
);
