/** The node of the bare path that leads: it decides the order, and answers when a majority has a round. */
import { createServer, type Server, type Socket } from 'node:net';
import { FrameReader, frameOf, KINDS } from './frames.js';
import { countOf, Gatherer, type Part, tellParts } from './gatherer.js';
import type { BareLog } from './log.js';
import type { Done, Replica } from './replica.js';

interface Round {
  readonly number: number;
  readonly first: number;
  readonly parts: readonly Part[];
}

export class Leader implements Replica {
  readonly #log: BareLog;
  readonly #server: Server;
  readonly #followers: Socket[] = [];
  readonly #gatherer = new Gatherer(() => this.#turn());
  readonly #rounds: Round[] = [];
  #roundsBegun = 0;
  #lastIndex = 0;
  #committedIndex = 0;
  #questions = 0;
  /** Reads that wait for an answer to the last question. */
  #asking: readonly Done[] = [];

  constructor(log: BareLog, peerPort: number, onListening: () => void) {
    this.#log = log;
    this.#server = createServer({ noDelay: true }, (socket) => this.#welcome(socket));
    this.#server.listen(peerPort, '127.0.0.1', onListening);
  }

  write(entries: Uint8Array, count: number, done: Done): void {
    this.#gatherer.write(entries, count, done);
  }

  read(done: Done): void {
    this.#gatherer.read(done);
  }

  #welcome(socket: Socket): void {
    const reader = new FrameReader();
    this.#followers.push(socket);
    socket.on('data', (chunk) => {
      for (const { kind, a, payload } of reader.take(chunk)) {
        if (kind === KINDS.stored) this.#stored(a);
        else if (kind === KINDS.confirmed) this.#confirmed(a);
        else if (kind === KINDS.forward)
          this.write(payload, a, (first) => socket.write(frameOf(KINDS.committed, first)));
        else if (kind === KINDS.ask) this.read((index) => socket.write(frameOf(KINDS.index, index)));
      }
    });
  }

  #turn(): void {
    if (this.#asking.length === 0) this.#ask();
    if (this.#rounds.length === 0) this.#begin();
  }

  #ask(): void {
    const reads = this.#gatherer.takeReads();
    if (reads.length === 0) return;
    this.#asking = reads;
    this.#send(frameOf(KINDS.confirm, ++this.#questions));
  }

  #begin(): void {
    const parts = this.#gatherer.takeParts();
    if (parts.length === 0) return;
    const number = ++this.#roundsBegun;
    this.#rounds.push({ number, first: this.#lastIndex + 1, parts });
    this.#lastIndex += countOf(parts);
    const frame = frameOf(
      KINDS.append,
      number,
      parts.map(({ entries }) => entries),
    );
    this.#send(frame);
    this.#log.append(frame);
  }

  /** A follower has it, and so has this node: that is a majority. */
  #stored(number: number): void {
    while (this.#rounds.length > 0 && this.#rounds[0]!.number <= number) {
      const { first, parts } = this.#rounds.shift()!;
      this.#committedIndex = first + countOf(parts) - 1;
      tellParts(parts, first);
    }
    this.#gatherer.wake();
  }

  #confirmed(question: number): void {
    if (question !== this.#questions) return;
    const reads = this.#asking;
    this.#asking = [];
    for (const done of reads) done(this.#committedIndex);
    if (reads.length > 0) this.#gatherer.wake();
  }

  #send(frame: Buffer): void {
    for (const socket of this.#followers) socket.write(frame);
  }
}
