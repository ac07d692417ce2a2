/**
 * A node that speaks some versions of the protocol between nodes only, for tests of upgrades:
 *
 *   node versioned-node.js MIN MAX      with its settings in the environment
 */
import { loadConfig, startNode } from '../index.js';

const [min = 1, max = 1] = process.argv.slice(2, 4).map(Number);
const { config } = loadConfig({ environment: process.env });
const node = await startNode(config, { version: 'a test', protocolVersions: { min, max } });
process.on('SIGTERM', () => node.stop('drain'));
process.exit(await node.closed);
