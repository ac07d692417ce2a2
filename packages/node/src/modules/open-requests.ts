/** The requests of one module that are not answered yet, by the ids that their answers come with. */
import type { ModuleAnswer } from '@althing/engine';

export type Answer = (answer: ModuleAnswer) => void;

/** Ids of requests have 16 bits. */
const ID_MAX = 0xffff;

/** Requests taken back whose ids are kept: so many late answers are never taken for that to another request. */
export const TAKEN_BACK_MAX = 0x8000;

export class OpenRequests {
  private readonly answers = new Map<number, Answer>();
  /** Ids of requests that were taken back, and not answered yet: the oldest first. */
  private readonly takenBack = new Set<number>();

  /** @param nextId the id of the first: they go on over the life of the module */
  constructor(private nextId: number) {}

  /** Requests that somebody waits for. */
  get size(): number {
    return this.answers.size;
  }

  /** The id of the next one. */
  get next(): number {
    return this.nextId;
  }

  get isFull(): boolean {
    return this.answers.size + this.takenBack.size > ID_MAX;
  }

  /** Takes up one more, unless it is full; gives its id. */
  add(answer: Answer): number {
    let id = this.nextId;
    while (this.answers.has(id) || this.takenBack.has(id)) id = (id + 1) & ID_MAX;
    this.nextId = (id + 1) & ID_MAX;
    this.answers.set(id, answer);
    return id;
  }

  /** Nobody waits for a request any more: its id stays taken until the answer comes. */
  takeBack(id: number, answer: Answer): void {
    if (this.answers.get(id) !== answer) return;
    this.answers.delete(id);
    this.takenBack.add(id);
    // Ids have to come again where a module leaves requests without an answer.
    const [oldest] = this.takenBack;
    if (this.takenBack.size > TAKEN_BACK_MAX && oldest !== undefined) this.takenBack.delete(oldest);
  }

  /** An answer came: gives who waits for it, `late` where nobody does any more, or null where nothing was asked. */
  take(id: number): Answer | 'late' | null {
    const answer = this.answers.get(id);
    if (answer === undefined) return this.takenBack.delete(id) ? 'late' : null;
    this.answers.delete(id);
    return answer;
  }

  /** Gives all who wait, and forgets them. */
  clear(): readonly Answer[] {
    const all = [...this.answers.values()];
    this.answers.clear();
    return all;
  }
}
