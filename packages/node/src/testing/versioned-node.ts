/**
 * A node that speaks some versions of the protocol between nodes only, for tests of upgrades:
 *
 *   node versioned-node.js MIN MAX      with its settings in the environment
 */
import { loadConfig, type RunningNode, startNode } from '../index.js';

const [min = 1, max = 1] = process.argv.slice(2, 4).map(Number);
const { config } = loadConfig({ environment: process.env });
let node: RunningNode | undefined;
let isToStop = false;
// Before the node serves: who sees it serve may end it at once.
process.on('SIGTERM', () => {
  isToStop = true;
  node?.stop('drain');
});
node = await startNode(config, { version: 'a test', protocolVersions: { min, max } });
if (isToStop) node.stop('drain');
process.exit(await node.closed);
