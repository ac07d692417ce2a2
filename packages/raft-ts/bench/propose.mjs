/**
 * CPU time per entry from propose to applied, for one voter and for three in one process, in batches of 64
 * payloads of 200 bytes. Run after a build: node packages/raft-ts/bench/propose.mjs
 */
import { genesisOf, MemoryLog, membershipOf, RaftNode } from '../dist/index.js';

const BATCH = 64;
const ROUNDS = 4000;
const WARM_UP = 1000;

for (const voters of [1, 3]) {
  const { nodes, logs } = start(voters);
  nodes[0].campaign();
  settle(nodes, logs);
  for (const [payloadBytes, rounds] of [
    [200, WARM_UP],
    [200, ROUNDS],
    [20, ROUNDS],
    [1000, ROUNDS],
  ]) {
    const payloads = Array.from({ length: BATCH }, (_, at) => new Uint8Array(payloadBytes).fill(at));
    const begun = process.cpuUsage();
    for (let round = 0; round < rounds; round += 1) {
      const { status } = nodes[0].propose(payloads);
      if (status !== 'accepted') throw new Error(`propose: ${status}`);
      settle(nodes, logs);
      if (round % 100 === 99) for (let at = 0; at < voters; at += 1) compact(nodes[at], logs[at]);
    }
    const { user, system } = process.cpuUsage(begun);
    const perEntry = (user + system) / rounds / BATCH;
    if (rounds === ROUNDS)
      console.log(`${voters} voters, ${payloadBytes} bytes: ${perEntry.toFixed(3)} µs per entry`);
  }
}
idle(1000);

/** Everything that is ready, on every node, until nothing is. */
function settle(nodes, logs) {
  for (let busy = true; busy; ) {
    busy = false;
    for (let at = 0; at < nodes.length; at += 1) {
      const node = nodes[at];
      while (node.hasReady()) {
        busy = true;
        const { messages, write, committed } = node.ready();
        for (const message of messages) nodes[message.to - 1].step(message);
        if (write !== null) {
          logs[at].append(write.entries);
          for (const message of node.persisted(write)) nodes[message.to - 1].step(message);
        }
        if (committed.length > 0) node.applied(committed[committed.length - 1].index);
      }
    }
  }
}

function start(voters) {
  const genesis = genesisOf(
    membershipOf(Array.from({ length: voters }, (_, at) => at + 1)),
    new Uint8Array(16),
  );
  const logs = Array.from({ length: voters }, () => {
    const log = new MemoryLog();
    log.reset(genesis.snapshot);
    return log;
  });
  const nodes = logs.map((log, at) => {
    const { hardState, snapshot } = genesis;
    return new RaftNode({
      id: at + 1,
      log,
      hardState,
      applied: 1,
      membership: snapshot.membership,
      random: 7,
    });
  });
  return { nodes, logs };
}

function compact(node, log) {
  const { appliedIndex } = node.status();
  log.compact(appliedIndex - 10);
  node.compacted(appliedIndex - 10);
}

/** The cost of a tick of a thousand leaders, awake and silent. */
function idle(groups) {
  const clusters = Array.from({ length: groups }, () => {
    const cluster = start(3);
    cluster.nodes[0].campaign();
    settle(cluster.nodes, cluster.logs);
    return cluster;
  });
  const memory = process.memoryUsage().heapUsed / groups / 3;
  for (const state of ['awake', 'silent']) {
    if (state === 'silent') {
      for (const { nodes, logs } of clusters) {
        if (!nodes[0].quiesce()) throw new Error('can not fall silent');
        settle(nodes, logs);
      }
    }
    const begun = process.cpuUsage();
    const ticks = 100;
    for (let tick = 0; tick < ticks; tick += 1) {
      for (const { nodes, logs } of clusters) {
        for (const node of nodes) node.tick();
        settle(nodes, logs);
      }
    }
    const { user, system } = process.cpuUsage(begun);
    const perGroup = (user + system) / ticks / groups;
    console.log(`${groups} groups of three nodes, ${state}: ${perGroup.toFixed(2)} µs per group and tick`);
  }
  console.log(`${(memory / 1024).toFixed(1)} kB of heap per node`);
}
