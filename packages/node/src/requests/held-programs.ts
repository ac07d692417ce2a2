import type { Prepared } from '@althing/engine';
import type { PendingRequest } from './request.js';

/** Characters of all texts whose programs are held at most; a program takes up to a hundred times as many bytes. */
const CHARACTERS_MAX = 256 * 1024;

/**
 * Bounds the programs of requests that go on when other nodes have been heard, which takes a moment: a text that was never seen before
 * need not be parsed again then.
 *
 * A request has its program itself. A Map of them would have nearly every request outlive a quick collection: V8 lets each table of a
 * Map that it made anew be reached from the one before.
 */
export class HeldPrograms {
  private characters = 0;

  /** Holds the program of a request, as long as there is room. */
  hold(pending: PendingRequest, program: Prepared): void {
    const { length } = program.code;
    if (this.characters + length > CHARACTERS_MAX || pending.program !== null) return;
    this.characters += length;
    pending.program = program;
  }

  /** The program that is held for a request, which is no longer held then; null for none. */
  take(pending: PendingRequest): Prepared | null {
    const { program } = pending;
    if (program === null) return null;
    pending.program = null;
    this.characters -= program.code.length;
    return program;
  }
}
