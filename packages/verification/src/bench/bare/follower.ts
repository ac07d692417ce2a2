/** A node of the bare path that follows: it stores what the leader sends, and asks it what its own clients ask. */
import { connect, type Socket } from 'node:net';
import { type Frame, FrameReader, frameOf, KINDS } from './frames.js';
import { countOf, Gatherer, type Part, tellParts } from './gatherer.js';
import type { BareLog } from './log.js';
import type { Done, Replica } from './replica.js';

export class Follower implements Replica {
  readonly #log: BareLog;
  readonly #leader: Socket;
  readonly #gatherer = new Gatherer(() => this.#turn());
  readonly #forwarded: (readonly Part[])[] = [];
  readonly #asked: (readonly Done[])[] = [];

  constructor(log: BareLog, leaderPort: number, onConnected: () => void) {
    this.#log = log;
    const reader = new FrameReader();
    this.#leader = connect({ host: '127.0.0.1', port: leaderPort, noDelay: true }, onConnected);
    this.#leader.on('data', (chunk) => this.#take(reader.take(chunk)));
  }

  write(entries: Uint8Array, count: number, done: Done): void {
    this.#gatherer.write(entries, count, done);
  }

  read(done: Done): void {
    this.#gatherer.read(done);
  }

  #turn(): void {
    const reads = this.#gatherer.takeReads();
    if (reads.length > 0) {
      this.#asked.push(reads);
      this.#leader.write(frameOf(KINDS.ask, 0));
    }
    const parts = this.#gatherer.takeParts();
    if (parts.length === 0) return;
    this.#forwarded.push(parts);
    const entries = parts.map((part) => part.entries);
    this.#leader.write(frameOf(KINDS.forward, countOf(parts), entries));
  }

  #take(frames: readonly Frame[]): void {
    const rounds: Frame[] = [];
    for (const frame of frames) {
      if (frame.kind === KINDS.append) rounds.push(frame);
      else if (frame.kind === KINDS.confirm) this.#leader.write(frameOf(KINDS.confirmed, frame.a));
      else if (frame.kind === KINDS.committed) tellParts(this.#forwarded.shift() ?? [], frame.a);
      else if (frame.kind === KINDS.index) for (const done of this.#asked.shift() ?? []) done(frame.a);
    }
    const last = rounds.at(-1);
    if (last === undefined) return;
    this.#log.append(
      rounds.length === 1 ? last.payload : Buffer.concat(rounds.map((round) => round.payload)),
    );
    this.#leader.write(frameOf(KINDS.stored, last.a));
  }
}
