/** A connection that a body comes from. */
export interface Source {
  /** Takes nothing more from the network until `resume`. */
  pause(): void;
  resume(): void;
}

/** Bytes of bodies in a turn of the event loop from which on other bodies wait for later turns. */
const TURN_BYTES = 1024 * 1024;

/**
 * Large bodies take turns. uWebSockets.js reads a connection until it is empty, which a fast sender can fill again meanwhile, and goes on with the
 * next one: all that such bodies bring would come in one turn of the event loop, and everybody else's requests would wait for the end of it. So
 * once much has come in a turn, nothing more of any body is taken in it, and from the next turn on one of them goes on a turn.
 */
export class BodyTurns {
  /** Bodies that are coming, and may go on. */
  private readonly coming = new Set<Source>();
  /** Bodies that wait, in the order in which they go on. */
  private readonly waiting = new Set<Source>();
  private bytes = 0;
  private isTurnEnding = false;

  /** @param soon calls back in the next turn of the event loop */
  constructor(private readonly soon: (callback: () => void) => void) {}

  /** A piece of a body has come, and more will. */
  came(source: Source, bytes: number): void {
    this.bytes += bytes;
    this.endTurn();
    if (!this.waiting.has(source)) this.coming.add(source);
    if (this.bytes < TURN_BYTES) return;
    for (const each of this.coming) {
      each.pause();
      this.waiting.add(each);
    }
    this.coming.clear();
  }

  /**
   * Nothing more comes of a body. If its connection waits, it does so until the answer: uWebSockets.js would close one that goes on behind the end
   * of a body ten seconds later, whatever the answer waits for.
   */
  over(source: Source): void {
    this.coming.delete(source);
    this.waiting.delete(source);
  }

  private endTurn(): void {
    if (this.isTurnEnding) return;
    this.isTurnEnding = true;
    this.soon(() => {
      this.isTurnEnding = false;
      this.bytes = 0;
      const [next] = this.waiting;
      if (next === undefined) return;
      this.waiting.delete(next);
      this.coming.add(next);
      next.resume();
      this.endTurn();
    });
  }
}
