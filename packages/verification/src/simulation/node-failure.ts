import type { Failure } from '@althing/node/parts';

/** The consensus side of a node can't go on. */
export class NodeFailure extends Error {
  readonly exitCode: number;

  constructor({ message, exitCode }: Failure) {
    super(message);
    this.exitCode = exitCode;
  }
}
