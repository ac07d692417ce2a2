/** An error in terms of the caller of a command: words, and an exit code. */
import { AbortError, AlthingError, OutcomeUnknownError, QueryError } from '@althing/client';
import { excerpt, type Place } from '@althing/language';
import { exitCodeOf, wordsOf } from '../connection.js';
import { visible } from './text-width.js';

export interface Failure {
  /** Lines for people: the error, its place when there is one, what became of the changes unless that is nothing. */
  readonly text: string;
  readonly exitCode: number;
  /** Where in the code that was sent; null where nobody tells. */
  readonly place: Place | null;
  /** The name of a request whose outcome is unknown: sent again under it, it takes effect once. */
  readonly requestName: string | null;
}

/** Exit code of a command that was interrupted. */
export const INTERRUPTED = 130;

/**
 * @param source the code that was sent, whose lines an error may point at
 */
export function failureOf(error: unknown, source: string): Failure {
  if (!(error instanceof AlthingError)) throw error;
  const requestName = error instanceof OutcomeUnknownError ? error.requestName : null;
  const place = error instanceof QueryError ? placeIn(error) : null;
  return {
    text: textOf(error, source),
    exitCode: error instanceof AbortError ? INTERRUPTED : exitCodeOf(error),
    place,
    requestName,
  };
}

/** The place in the code that was sent: of the error, or where it called the procedure that the error is in. */
function placeIn({ at, procedure, calls }: QueryError): Place | null {
  return procedure === null ? at : (calls.find((call) => call.procedure === null)?.at ?? null);
}

/** A place with its line in the code that was sent, or in words where it is in a procedure. */
function placeText(at: Place, procedure: string | null, source: string, verb: string): string {
  if (procedure === null) return excerpt(source, at);
  return `${verb} procedure ${visible(procedure)}, line ${at.line}, column ${at.column}`;
}

function textOf(error: AlthingError, source: string): string {
  if (error instanceof AbortError) {
    return error.outcome === 'unknown'
      ? 'interrupted: a change may have been made, or may yet be'
      : 'interrupted before it was sent: nothing was changed';
  }
  const lines = [visible(wordsOf(error))];
  if (error instanceof QueryError && error.at !== null) {
    const calls = error.calls.map(({ at, procedure }) =>
      at === null ? '' : placeText(at, procedure, source, 'called in'),
    );
    lines.push(placeText(error.at, error.procedure, source, 'in'), ...calls.filter((text) => text !== ''));
  }
  if (error.outcome === 'unknown') lines.push('a change may have been made all the same');
  return lines.join('\n');
}
