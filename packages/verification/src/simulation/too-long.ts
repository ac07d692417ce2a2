/** A run is given up, since it is longer than its caller wants: that is no failure. */
export class TooLong extends Error {}
