import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { isRecord } from '../check-packages.js';
import { textOf, yamlOf } from './files.js';
import { recordOf } from './kubernetes-api.js';

/** Runs a command in a network of its own. */
const ownNetwork = ['--net', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'])];
const RETRIES = '/proc/sys/net/ipv4/tcp_retries2';
const NEEDED = `haproxy -v && ip link add here type veth peer name there && echo 2 > ${RETRIES}`;

const canCut = spawnSync('unshare', [...ownNetwork, 'sh', '-c', NEEDED], { stdio: 'ignore' }).status === 0;
if (!canCut) process.stderr.write('skipped: it takes haproxy, iproute2 and network namespaces\n');

/** A node that is ready, answers the first request on each connection, and none after it. */
const NODE = `
require('node:http').createServer((asked, response) => {
  asked.socket.asked = (asked.socket.asked ?? 0) + 1;
  if (asked.url === '/ready' || asked.socket.asked === 1) response.end('"fine"');
}).listen(9210);
`;

/** A client whose second request, over the same connections, finds the node cut off: tells what became of it and when. */
const CLIENT = `
const { request, Agent } = require('node:http');
const { execSync } = require('node:child_process');
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const ask = () => new Promise((resolve) => {
  const asked = request({ agent, host: '127.0.0.1', port: 9310, path: '/stuff', method: 'POST' }, (response) =>
    response.resume().on('end', () => resolve(response.statusCode)));
  asked.on('error', ({ code }) => resolve(code)).end('{}');
});
(async () => {
  let first = 0;
  for (const end = Date.now() + 20_000; first !== 200 && Date.now() < end; ) {
    first = await ask();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  // Packets for it still leave here, and nobody takes them.
  execSync('nsenter --target ' + process.argv[1] + ' --net ip address del 10.9.0.2/24 dev there');
  const begin = performance.now();
  const second = await ask();
  console.log(JSON.stringify({ first, second, ms: performance.now() - begin }));
})();
`;

/** Two hosts: this one, with the balancer, and that of the node. */
const HOSTS = `
set -e
echo "$RETRIES" > ${RETRIES}
ip link set lo up
unshare --net "$NODE_JS" -e "$NODE" &
node=$!
trap 'kill $node $balancer 2>/dev/null' EXIT
while [ "$(readlink /proc/$node/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
ip link add here type veth peer name there netns $node
ip address add 10.9.0.1/24 dev here
ip link set here up
nsenter --target $node --net sh -c 'ip address add 10.9.0.2/24 dev there && ip link set there up'
haproxy -db -f "$1" >&2 &
balancer=$!
"$NODE_JS" -e "$CLIENT" $node
`;

(canCut ? describe : describe.skip)('a node that was cut off', () => {
  const folder = mkdtempSync(join(tmpdir(), 'althing-cut-off-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('costs a request without a name 5 s, not the 15 s of a node that may still answer', async () => {
    // Given
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, configHere());
    // When
    const { second, ms } = await played(file);
    // Then
    // HAProxy ends the client's connection where that had an answer before.
    expect([502, 'ECONNRESET']).toContain(second);
    expect(ms).toBeLessThan(8000);
  }, 60_000);

  /** The configuration with one node, whose name leads to its address from the start. */
  function configHere(): string {
    writeFileSync(join(folder, 'hosts'), '10.9.0.2 node0\n');
    return textOf('deploy/haproxy/haproxy.cfg')
      .replace(/^ {2}server(?:-template)? (?!node0 ).*\n/gm, '')
      .replace('http-check connect port 9230', 'http-check connect port 9210')
      .replaceAll('bind :9210', 'bind 127.0.0.1:9310');
  }

  async function played(file: string): Promise<{ readonly second: unknown; readonly ms: number }> {
    const [compose] = yamlOf('docker-compose.yml');
    const sysctls = recordOf(recordOf(recordOf(recordOf(compose).services).lb).sysctls ?? {});
    const hosts = `mount --bind "${join(folder, 'hosts')}" /etc/hosts`;
    const child = spawn('unshare', [...ownNetwork, '--mount', 'sh', '-c', `${hosts}\n${HOSTS}`, 'sh', file], {
      env: {
        ...process.env,
        NODE_JS: process.execPath,
        NODE,
        CLIENT,
        // A Linux has 15 by itself.
        RETRIES: String(sysctls['net.ipv4.tcp_retries2'] ?? 15),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let errors = '';
    child.stdout.on('data', (part: Buffer) => {
      output += part.toString('utf8');
    });
    child.stderr.on('data', (part: Buffer) => {
      errors += part.toString('utf8');
    });
    await new Promise((resolve) => child.on('close', resolve));
    const told: unknown = output === '' ? null : JSON.parse(output);
    if (!isRecord(told) || told.first !== 200) throw new Error(`${output}${errors}`);
    return { second: told.second, ms: Number(told.ms) };
  }
});
