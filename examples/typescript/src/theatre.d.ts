/** Types of the collection theatre, written by `althing types //theatre`. Do not edit. */
import type * as $ from '@althing/client';

export interface Seat {
  readonly '#': $.Int;
  name: string;
  buyer: string | null;
}

export interface Theatre {
  readonly types: {
    readonly Seat: Seat;
  };
  readonly enums: {};
  readonly root: unknown;
  readonly procs: {
    /** The names of the seats that are free. */
    readonly free_seats: $.Procedure<{}, [], string[]>;
    /** Sells a seat: true, or false when it is sold already. */
    readonly sell: $.Procedure<{ name: string; buyer: string }, [name: string, buyer: string], boolean>;
  };
}
