/** A node of the bare path, a process of its own: its parent says what it is to be, and hears when it can be asked. */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { openDoor } from './door.js';
import { makeReplica, type NodeOrder, type NodeReport } from './order.js';
import { PortReplica } from './port-replica.js';
import type { Replica } from './replica.js';

process.once('message', (order: NodeOrder) => {
  const open = (): void => openDoor(replica, (port) => process.send?.({ port } satisfies NodeReport));
  const replica = order.shape === 'one' ? makeReplica(order, open) : replicaInThread(order, open);
});

process.on('disconnect', () => process.exit(0));

function replicaInThread(order: NodeOrder, onReady: () => void): Replica {
  const worker = new Worker(fileURLToPath(new URL('thread.js', import.meta.url)), { workerData: order });
  const replica = new PortReplica(worker);
  worker.once('message', () => {
    worker.on('message', (answer) => replica.take(answer));
    onReady();
  });
  return replica;
}
