import { type Int, toInt } from './int64.js';
import type { Place } from './place.js';
import type { Zone } from './zone.js';

export type DateTimeKind = 'datetime' | 'timeval';

/** A moment and what its local time is told by. Immutable; every change is a new one. */
export class DateTime implements Place {
  /** Seconds since 1970-01-01T00:00:00Z: a number while safe, else a bigint, so that equal moments are `===`. */
  readonly moment: Int;
  readonly zone: Zone | null;
  /** Minutes east of UTC, −720…720; 0 with a zone. */
  readonly offsetMinutes: number;

  /** `overflow_err` if the moment is outside int64. */
  constructor(
    readonly kind: DateTimeKind,
    moment: Int,
    place: Place,
  ) {
    this.moment = toInt(moment);
    this.zone = place.zone;
    this.offsetMinutes = place.offsetMinutes;
  }
}
