/**
 * A replicated list of texts: one node of it, with its log in a file, peers over TCP, and HTTP for clients.
 * Nodes may be killed at any moment: what was answered with 200 is there when a majority is back.
 *
 *   node persistent-host.mjs ID FOLDER PORT...     a pair of ports for each node, first for peers and then for clients
 *
 *   POST / (a text)    appends it; 200 when it is committed, 503 when it is not, or not known to be: GET tells
 *   GET /              the list as JSON, linearizable, from any node
 *
 * The README tells what a real host adds (snapshots, compaction, authentication, ids of requests).
 */
import * as fs from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { decodeMessage, encodeMessage, genesisOf, MemoryLog, membershipOf, murmur3, RaftNode } from 'raft-ts';

const TICK_MS = 50;
const ANSWER_MS = 5000;
const WAITING_BYTES_MAX = 1 << 24;
const folder = process.argv[3];
const [id, , ...ports] = process.argv.slice(2).map(Number);
const membership = membershipOf(Array.from({ length: ports.length / 2 }, (_, at) => at + 1));
// The identity keeps groups apart: random bytes in reality, the same on all members.
const genesis = genesisOf(membership, Buffer.from('persistent host!'));

// The journal: a line for each write, a checksum and the write as JSON. The log in memory is read from it.
const sumOf = (text) => murmur3(Buffer.from(text, 'latin1')).toString(16).padStart(8, '0');
const log = new MemoryLog();
log.reset(genesis.snapshot);
let { hardState } = genesis;
fs.mkdirSync(folder, { recursive: true });
const journal = fs.openSync(join(folder, 'journal'), 'a+');
const lines = fs.readFileSync(journal, 'latin1').split('\n');
let soundBytes = 0;
for (const [at, line] of lines.slice(0, -1).entries()) {
  if (line.slice(0, 8) !== sumOf(line.slice(9))) {
    // Only the last write can have been under way. It was never acknowledged, and goes.
    if (at < lines.length - 2) throw new Error(`line ${at + 1} of the journal is damaged`);
    break;
  }
  const { entries, ...write } = JSON.parse(line.slice(9));
  remember({
    ...write,
    entries: entries.map((each) => ({ ...each, payload: Buffer.from(each.payload, 'base64') })),
  });
  soundBytes += line.length + 1;
}
fs.ftruncateSync(journal, soundBytes);
for (const file of [journal, fs.openSync(folder, 'r')]) fs.fsyncSync(file);

// The state is not on the disk: the node begins with an empty one, and is handed every committed entry again.
let applied = genesis.snapshot.index;
const node = new RaftNode({ id, log, hardState, applied, membership, random: Date.now() });
const list = [];
/** Clients that wait for an entry, by its index; and for the state to reach an index. */
const writers = new Map();
let readers = [];
const links = new Map();

/** Does what is ready: to be called after whatever was done with the node. */
function work() {
  while (node.hasReady()) {
    const { messages, write, committed, reads } = node.ready();
    messages.forEach(send);
    if (write !== null) {
      persist(write);
      node.persisted(write).forEach(send);
    }
    committed.forEach(apply);
    if (committed.length > 0) node.applied(applied);
    for (const read of reads) {
      if (read.outcome === 'ready') readers.push(read);
      else read.context(503);
    }
  }
  for (const { context: answer, index } of readers) if (index <= applied) answer(200, JSON.stringify(list));
  readers = readers.filter(({ index }) => index > applied);
}

/** Returns when the write is durable. An error ends the process, as it has to. */
function persist({ hardState, entries }) {
  const plain = entries.map((each) => ({ ...each, payload: Buffer.from(each.payload).toString('base64') }));
  const text = JSON.stringify({ hardState, entries: plain });
  fs.writeFileSync(journal, `${sumOf(text)} ${text}\n`, 'latin1');
  fs.fdatasyncSync(journal);
  remember({ hardState, entries });
}

function remember(write) {
  hardState = write.hardState ?? hardState;
  log.append(write.entries);
}

function apply({ index, term, kind, payload }) {
  applied = index;
  if (kind === 'normal') list.push(Buffer.from(payload).toString());
  const writer = writers.get(index);
  // If the entry at this index is of another term, the one that was proposed is lost.
  writer?.answer(writer.term === term ? 200 : 503);
  writers.delete(index);
}

/** Sends a message as a line. If it gets lost, Raft sends it again. */
function send(message) {
  let link = links.get(message.to);
  if (link === undefined || link.destroyed) {
    link = connect({ port: ports[2 * message.to - 2], host: '127.0.0.1', noDelay: true });
    link.on('error', () => node.reportUnreachable(message.to));
    links.set(message.to, link);
  }
  if (link.writableLength > WAITING_BYTES_MAX) return;
  link.write(`${Buffer.from(encodeMessage(message)).toString('base64')}\n`);
}

/**
 * Takes messages from a peer, which is believed to be one; what is no message throws, and ends the process.
 */
function receive(socket) {
  socket.on('error', () => socket.destroy());
  createInterface({ input: socket }).on('line', (line) => {
    node.step(decodeMessage(Buffer.from(line, 'base64')));
    work();
  });
}

async function serve(request, response) {
  const answer = (status, text) => response.writableEnded || response.writeHead(status).end(text);
  setTimeout(answer, ANSWER_MS, 503).unref();
  if (request.method === 'GET') {
    if (node.readIndex(answer).status !== 'accepted') answer(503);
  } else {
    const { status, leader, firstIndex, term } = node.propose([Buffer.concat(await request.toArray())]);
    if (status === 'accepted') writers.set(firstIndex, { answer, term });
    else if (leader === 0 || leader === id) answer(503);
    else response.writeHead(307, { location: `http://127.0.0.1:${ports[2 * leader - 1]}/` }).end();
  }
  work();
}

createServer(receive).listen(ports[2 * id - 2], '127.0.0.1');
createHttpServer(serve).listen(ports[2 * id - 1], '127.0.0.1', () => console.log('ready'));
setInterval(() => {
  node.tick();
  work();
}, TICK_MS);
