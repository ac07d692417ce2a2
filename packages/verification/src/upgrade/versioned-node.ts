/**
 * A node that speaks some versions of the protocol between nodes only, and may know less than the newest level of a cluster,
 * for tests of upgrades:
 *
 *   node versioned-node.js MIN MAX LEVEL      with its settings in the environment
 */
import type { RunningNode } from '@althing/node';
import { loadConfig, StartError, startNode } from '../harness/bundled-node.js';

const [min = 1, max = 1, level = 1] = process.argv.slice(2, 5).map(Number);
const { config } = loadConfig({ environment: process.env });
let node: RunningNode | undefined;
let isToStop = false;
// Before the node serves: who sees it serve may end it at once.
process.on('SIGTERM', () => {
  isToStop = true;
  node?.stop('drain');
});
node = await startNode(config, { version: 'a test', protocolVersions: { min, max }, level }).catch(
  (error: unknown) => {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(error.exitCode);
  },
);
if (isToStop) node.stop('drain');
process.exit(await node.closed);
