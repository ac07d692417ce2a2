/**
 * Three nodes in one process: they elect a leader, agree on a few entries, lose the leader, and go on.
 * Run: node three-nodes.mjs
 *
 * A real host does the same with sockets, disks and clocks. The comments name its duties.
 */
import { genesisOf, MemoryLog, membershipOf, RaftNode } from 'raft-ts';

const membership = membershipOf([1, 2, 3]);
// 16 random bytes in reality, the same on all members: the identity of the group.
const genesis = genesisOf(membership, new Uint8Array(16));

/** The parts of a process: the node, its log on disk, and the state machine (here: a list of texts). */
function start(id) {
  const log = new MemoryLog();
  log.reset(genesis.snapshot);
  const node = new RaftNode({
    id,
    log,
    hardState: genesis.hardState,
    applied: genesis.snapshot.index,
    membership,
    random: 2024,
  });
  return { id, node, log, state: [], reads: [], isUp: true };
}

const processes = new Map([1, 2, 3].map((id) => [id, start(id)]));

/** One round of a host's work. Returns whether there was any. */
function work(process) {
  const { id, node, log, state } = process;
  if (!process.isUp || !node.hasReady()) return false;
  const { soft, messages, write, committed, reads } = node.ready();
  if (soft !== null)
    console.log(`  node ${id} is ${soft.role} in term ${soft.term}, its leader is ${soft.leader}`);
  // These may leave at once, while the disk is still busy.
  messages.forEach(send);
  if (write !== null) {
    // A real host makes hard state and entries durable in one step, and calls persisted() when the disk has
    // answered.
    log.append(write.entries);
    // Messages that promise something durable come out here, and nowhere else.
    node.persisted(write).forEach(send);
  }
  for (const entry of committed) {
    if (entry.kind === 'normal') state.push(new TextDecoder().decode(entry.payload));
  }
  if (committed.length > 0) node.applied(committed[committed.length - 1].index);
  for (const read of reads) {
    if (read.outcome === 'ready') process.reads.push(read);
    else console.log(`  node ${id} can not answer "${read.context}": ${read.reason}`);
  }
  // A read may be served as soon as the state machine has applied its index, and not before.
  const { appliedIndex } = node.status();
  for (const read of process.reads.filter(({ index }) => index <= appliedIndex)) {
    console.log(`  node ${id} answers "${read.context}": ${state.join(' ')}`);
  }
  process.reads = process.reads.filter(({ index }) => index > appliedIndex);
  return true;
}

const line = [];

function send(message) {
  line.push(message);
}

/** Works and delivers until nothing is left to do. */
function settle() {
  for (let busy = true; busy; ) {
    busy = false;
    for (const process of processes.values()) busy = work(process) || busy;
    for (const message of line.splice(0)) {
      const to = processes.get(message.to);
      if (to.isUp) to.node.step(message);
      busy = true;
    }
  }
}

/** Time passes for everybody until there is a leader among those who are up. */
function elect() {
  for (;;) {
    for (const { node, isUp } of processes.values()) if (isUp) node.tick();
    settle();
    const leader = [...processes.values()].find(({ node, isUp }) => isUp && node.role === 'leader');
    if (leader !== undefined) return leader;
  }
}

console.log('Nobody leads; time passes:');
const first = elect();

console.log(`Node ${first.id} is asked to append two entries:`);
const texts = ['hello', 'world'].map((text) => new TextEncoder().encode(text));
console.log('  ', first.node.propose(texts));
settle();

console.log('A follower is asked for a linearizable read; it asks the leader for an index:');
const follower = [...processes.values()].find(({ id }) => id !== first.id);
follower.node.readIndex('what is there?');
settle();

console.log(`Node ${first.id} dies; the others notice by its silence:`);
first.isUp = false;
const second = elect();
console.log('   ', second.node.propose([new TextEncoder().encode('again')]));
settle();

console.log('The state of everybody:');
for (const { id, node, state, isUp } of processes.values()) {
  const { role, term, commitIndex } = node.status();
  console.log(
    `  node ${id}: ${isUp ? role : 'dead'}, term ${term}, commit ${commitIndex}: ${state.join(' ')}`,
  );
}
const living = [...processes.values()].filter(({ isUp }) => isUp);
if (living.some(({ state }) => state.join(' ') !== 'hello world again'))
  throw new Error('The nodes do not agree');
