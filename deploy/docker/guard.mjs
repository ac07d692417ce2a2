/**
 * The guard of docker-compose.yml: ends when it is told to and no node runs, and not before.
 *
 * Compose stops everything that has changed before it starts any of it, in the order of depends_on. The guard changes when the
 * nodes do and they depend on it, so that a plain `up` which would stop all nodes waits for it instead, until it is interrupted.
 * `down` and `stop` end the nodes first.
 */
import { connect } from 'node:net';

const POLL_MS = 200;
const CONNECT_MS = 1000;
const REMIND_MS = 60_000;

const port = Number(process.env.SERVICE_HTTP_STATUS_PORT || 9230);
const hosts = (process.env.SERVICE_CLUSTER ?? '')
  .split(',')
  .map((address) => address.trim().replace(/:\d+$/, ''))
  .filter((host) => host !== '');

// A process without anything to wait for would end.
setInterval(() => {}, 2 ** 30);

let isTold = false;
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    if (isTold) return;
    isTold = true;
    void endWhenAlone();
  });
}
console.log(`no "docker compose up" stops ${hosts.join(', ')} all at once`);

async function endWhenAlone() {
  let remindAt = 0;
  for (;;) {
    const running = await runningNodes();
    if (running.length === 0) process.exit(0);
    if (performance.now() >= remindAt) {
      remindAt = performance.now() + REMIND_MS;
      console.error(
        `${running.join(', ')} would be stopped at the same time, so this waits. Interrupt "docker compose up", and run ` +
          'deploy/docker/upgrade.sh, which replaces one node after the other; or stop all of them by "docker compose down"',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function runningNodes() {
  const answers = await Promise.all(hosts.map(isRunning));
  return hosts.filter((_, at) => answers[at]);
}

/** Whether something listens where a node tells its state, which it does from its first moment to its last. */
function isRunning(host) {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(CONNECT_MS, () => end(false));
    socket.on('connect', () => end(true));
    socket.on('error', () => end(false));
  });
}
