/**
 * `npm run cluster`: a cluster of nodes on this machine, for trying things out. Shows what becomes of them, and stops
 * them on Ctrl-C. Their data stay in a folder, so that the next run goes on where this one stopped.
 */

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram, wholeIn } from '../harness/usage.js';
import { LocalNode } from './local-node.js';
import { Screen } from './screen.js';

const HELP = `Usage: npm run cluster [-- OPTIONS]

Starts nodes on this machine that form a cluster, and shows their state until Ctrl-C.

  --nodes N      how many: 1 to 7 (default 3)
  --port N       API port of the first node; the others follow (default 9210)
  --data FOLDER  where their data lie (default data-cluster)
  --help         this text

Node number I has its API on port 9209 + I, talks to the others on 9219 + I, tells its status on 9229 + I, and
speaks the native protocol on 9239 + I.
`;

const NODES_MAX = 7;
const FIRST_API_PORT = 9210;
/** Distances of a node's API port to the one for other nodes, and to the one for its status. */
const NODE_PORT_STEP = 10;
const STATUS_PORT_STEP = 20;
const CLIENT_PORT_STEP = 30;

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: { type: 'string', default: '3' },
      port: { type: 'string', default: String(FIRST_API_PORT) },
      data: { type: 'string', default: 'data-cluster' },
    },
  });
  const count = wholeIn('--nodes', values.nodes, 1, NODES_MAX);
  const port = wholeIn('--port', values.port, 1, 65_535 - CLIENT_PORT_STEP - NODES_MAX);
  const folder = resolve(values.data);
  mkdirSync(folder, { recursive: true });
  const numbers = Array.from({ length: count }, (_, i) => i);
  const cluster = numbers.map((i) => `localhost:${port + NODE_PORT_STEP + i}`).join(',');
  const secret = secretOf(folder);
  const nodes = numbers.map(
    (i) =>
      new LocalNode({
        name: `node ${i + 1}`,
        apiPort: port + i,
        statusPort: port + STATUS_PORT_STEP + i,
        logFile: join(folder, `node${i + 1}.log`),
        settings: {
          node_name: 'localhost',
          http_api_port: port + i,
          listen_client_port: port + CLIENT_PORT_STEP + i,
          listen_node_port: port + NODE_PORT_STEP + i,
          http_status_port: port + STATUS_PORT_STEP + i,
          storage_path: join(folder, `node${i + 1}`),
          cluster,
          cluster_secret: secret,
          drain_delay_ms: 0,
        },
      }),
  );
  return run(nodes, folder);
}

/** Runs until a signal comes, or until no node is left. */
async function run(nodes: readonly LocalNode[], folder: string): Promise<number> {
  const screen = new Screen(process.stdout);
  const [first] = nodes;
  screen.say(`data and logs in ${folder}`);
  screen.say(
    `try: curl -u admin:pass -H 'Content-Type: application/json' -d '{"type":"query","code":"1 + 1;"}' ${first?.url}//stuff`,
  );
  screen.say('Ctrl-C stops all nodes');
  let stopping = false;
  const stop = (): void => {
    if (stopping) for (const node of nodes) node.kill();
    stopping = true;
    for (const node of nodes) node.stop();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  const timer = setInterval(() => {
    Promise.all(nodes.map((node) => node.look())).then(
      (lines) => screen.show(lines),
      () => {},
    );
  }, 500);
  const ends = await Promise.all(nodes.map((node) => node.ended));
  clearInterval(timer);
  screen.show(nodes.map((node, i) => `${node.name}: ended with ${ends[i]}`));
  return ends.every((end) => end === 'code 0') ? 0 : 1;
}

/** The secret of the cluster in this folder, made with it. */
function secretOf(folder: string): string {
  const path = join(folder, 'secret');
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    const secret = randomBytes(24).toString('hex');
    writeFileSync(path, `${secret}\n`, { mode: 0o600 });
    return secret;
  }
}

await runProgram(HELP, main);
