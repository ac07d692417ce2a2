import type { GroupId } from '../consensus/protocol.js';
import type { IdempotencyKey } from '../scopes/entry.js';
import type { Journey } from './journey.js';

interface Holder {
  readonly journey: Journey;
  readonly body: Uint8Array;
  readonly others: Journey[];
}

/** Requests with an Idempotency-Key that this node carries out now: a repetition waits for the first. */
export class KeysUnderWay {
  private readonly holders = new Map<string, Holder>();

  /**
   * Takes a key for a journey.
   *
   * @returns `waits` when another one has it, and will be followed by this one; `conflict` when that is another request
   */
  take(
    group: GroupId,
    { user, key, body }: IdempotencyKey,
    journey: Journey,
  ): 'taken' | 'waits' | 'conflict' {
    const name = `${group} ${user} ${key}`;
    const holder = this.holders.get(name);
    if (holder === undefined) {
      this.holders.set(name, { journey, body, others: [] });
      journey.keyName = name;
      return 'taken';
    }
    if (holder.journey === journey) return 'taken';
    if (Buffer.compare(holder.body, body) !== 0) return 'conflict';
    holder.others.push(journey);
    return 'waits';
  }

  /** Gives the key back that a journey had; those that waited for it go on. */
  release(journey: Journey, goOn: (other: Journey) => void): void {
    if (journey.keyName === '') return;
    const holder = this.holders.get(journey.keyName);
    this.holders.delete(journey.keyName);
    journey.keyName = '';
    for (const other of holder?.others ?? []) goOn(other);
  }
}
