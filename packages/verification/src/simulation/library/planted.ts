/** Planted bugs of the client library, put between its logic and its way to nodes. */
import type { Attempt, AttemptEnd } from '@althing/client/parts';

export const CLIENT_MUTANTS = {
  named_anew: 'a request that is sent again gets another name',
  doubt_forgotten: 'a request whose connection is lost is taken for one that was never sent',
} as const;

export type ClientMutant = keyof typeof CLIENT_MUTANTS;

export function isClientMutant(name: string): name is ClientMutant {
  return Object.hasOwn(CLIENT_MUTANTS, name);
}

/** Gives a request that was sent before a name that no other has. */
export class AnotherName {
  readonly #sent = new Set<string>();
  #names = 0;

  of(attempt: Attempt): Attempt {
    const { request } = attempt;
    if (request === null) return attempt;
    const name = request.slice(0, request.lastIndexOf('.'));
    if (this.#sent.has(name)) return { ...attempt, request: `another${++this.#names}.1.1` };
    this.#sent.add(name);
    return attempt;
  }
}

export function withoutDoubt(end: AttemptEnd): AttemptEnd {
  return end.kind === 'lost' ? { kind: 'unsent', error: end.error } : end;
}
