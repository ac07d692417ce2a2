/**
 * `return`, `break` and `continue`. In statement position a jump is a signal: it sets `Runtime.signal`, and every
 * construct that runs statements looks at it. As an operand (`[return 5]`) it is thrown. Code of users never catches it.
 */
export const Signal = { NONE: 0, BREAK: 1, CONTINUE: 2, RETURN: 3 } as const;

export type Signal = (typeof Signal)[keyof typeof Signal];

export class Jump {
  private constructor(readonly signal: Exclude<Signal, 0>) {}

  static readonly BREAK = new Jump(Signal.BREAK);
  static readonly CONTINUE = new Jump(Signal.CONTINUE);
  static readonly RETURN = new Jump(Signal.RETURN);
}
