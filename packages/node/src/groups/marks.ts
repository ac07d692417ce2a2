import type { Applied, Consensus, Event, GroupId } from '../between/protocol.js';

/** The events of the consensus side about marks. */
type MarkEvent = Extract<Event, { readonly kind: 'mark_placed' | 'marked' | 'mark_lost' }>;

/** A log position that is to be found: see `Command.mark`. */
export interface Mark {
  readonly placed: (index: number) => void;
  readonly reached: (applied: Applied) => void;
  readonly lost: () => void;
}

/**
 * The marks of a group that the consensus side was asked for, by number. Each ends once: reached, or lost.
 */
export class Marks {
  private readonly marks = new Map<number, Mark>();
  private next = 1;

  constructor(
    private readonly group: GroupId,
    private readonly consensus: Pick<Consensus, 'send'>,
  ) {}

  /** @param epoch in which this node leads; 0 where it does not, and the mark is where its state is */
  ask(epoch: number, applied: Applied, mark: Mark): void {
    if (epoch === 0) {
      mark.placed(applied.index);
      mark.reached(applied);
      return;
    }
    const id = this.next++;
    this.marks.set(id, mark);
    this.consensus.send({ kind: 'mark', group: this.group, epoch, id });
  }

  handle(event: MarkEvent): void {
    if (event.kind === 'mark_placed') this.marks.get(event.id)?.placed(event.index);
    else if (event.kind === 'marked') this.take(event.id)?.reached(event.applied);
    else this.take(event.id)?.lost();
  }

  loseAll(): void {
    for (const id of [...this.marks.keys()]) this.take(id)?.lost();
  }

  private take(id: number): Mark | undefined {
    const mark = this.marks.get(id);
    this.marks.delete(id);
    return mark;
  }
}
