import type { Prepared } from '@althing/engine';
import type { PendingRequest } from './forwarding/pending-request.js';

/** Characters of all texts whose programs are held at most; a program takes up to a hundred times as many bytes. */
const CHARACTERS_MAX = 256 * 1024;

/**
 * Programs of requests that go on when other nodes have been heard, which takes a moment: a text that was never seen before need not
 * be parsed again then.
 */
export class HeldPrograms {
  private readonly programs = new Map<PendingRequest, Prepared>();
  private characters = 0;

  /** Holds the program of a request, as long as there is room. */
  hold(pending: PendingRequest, program: Prepared): void {
    const { length } = program.code;
    if (this.characters + length > CHARACTERS_MAX || this.programs.has(pending)) return;
    this.characters += length;
    this.programs.set(pending, program);
  }

  /** The program that is held for a request, which is no longer held then; null for none. */
  take(pending: PendingRequest): Prepared | null {
    if (this.programs.size === 0) return null;
    const program = this.programs.get(pending);
    if (program === undefined) return null;
    this.programs.delete(pending);
    this.characters -= program.code.length;
    return program;
  }
}
