/** Where an expression stands: a jump in statement position is a signal, elsewhere it is thrown. */
export type Position = 'statement' | 'operand';

/** Counts the jumps of a body as they are compiled, so that what is around them knows what may come out. */
export interface Jumps {
  returns: number;
  /** Jumps of loops that are signals. */
  loops: number;
  /** Jumps of both kinds that are thrown as errors. */
  thrown: number;
}
