/**
 * A process that runs nodes for its parent: `{ start: number, environment }` starts one, `{ discard: number }` ends it. It
 * answers with `{ ready: number }`, `{ failed: number, message }` and `{ gone: number }`.
 */
import type { RunningNode } from '@althing/node';
import { loadConfig, startNode } from './bundled-node.js';
import type { Answer, Order } from './node-host.js';

const nodes = new Map<number, RunningNode>();

process.on('message', (order: Order) => {
  if ('start' in order) void start(order.start, order.environment);
  else void discard(order.discard);
});
process.on('disconnect', () => process.exit(0));

async function start(id: number, environment: Readonly<Record<string, string>>): Promise<void> {
  try {
    const { config } = loadConfig({ environment });
    nodes.set(id, await startNode(config, { version: 'hosted' }));
    tell({ ready: id });
  } catch (error) {
    tell({ failed: id, message: error instanceof Error ? error.message : String(error) });
  }
}

async function discard(id: number): Promise<void> {
  const node = nodes.get(id);
  nodes.delete(id);
  node?.stop('now');
  await node?.closed;
  tell({ gone: id });
}

function tell(answer: Answer): void {
  process.send?.(answer);
}
