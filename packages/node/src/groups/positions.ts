import type { Clock } from '../base/clock.js';
import type { Consensus, GroupId, GroupPosition } from '../between/protocol.js';

/** The age that known positions may have, in milliseconds. */
const FRESH_MS = 1000;

/** The positions of the logs of this node, which the consensus side knows: it is asked when somebody wants to know. */
export class Positions {
  private known: ReadonlyMap<GroupId, GroupPosition> = new Map();
  private knownAt = Number.NEGATIVE_INFINITY;
  private waiting: (() => void)[] = [];

  constructor(
    private readonly line: Pick<Consensus, 'send'>,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Null where it has to be asked for, since what is known is older than a second. */
  get present(): ReadonlyMap<GroupId, GroupPosition> | null {
    return this.clock.now() - this.knownAt < FRESH_MS ? this.known : null;
  }

  /** @param done called when they are known */
  ask(done: () => void): void {
    this.waiting.push(done);
    if (this.waiting.length === 1) this.line.send({ kind: 'describe_groups' });
  }

  /** The consensus side has told them. */
  tell(groups: readonly GroupPosition[]): void {
    this.known = new Map(groups.map((position) => [position.group, position]));
    this.knownAt = this.clock.now();
    for (const done of this.waiting.splice(0)) done();
  }
}
