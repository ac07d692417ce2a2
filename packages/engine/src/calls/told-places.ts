/** Places of errors in the words of answers. */
import { placesInDefinition, positionOf } from '@althing/language';
import type { ErrorPlace, QueryError, ToldPlace } from '../error.js';

/** Where an error came from, the innermost first; empty where nobody knows. */
export function toldPlaces({ places, told }: QueryError): readonly ToldPlace[] {
  return told ?? places.map(inWords);
}

function inWords(place: ErrorPlace): ToldPlace {
  const { source, callee } = place;
  // The stored text of a closure is one that nobody reads.
  const { text, start, end } =
    callee === null
      ? { text: source, start: place.start, end: place.end }
      : placesInDefinition(source)(place);
  return {
    ...positionOf(text, start),
    offset: codePoints(text.slice(0, start)),
    length: codePoints(text.slice(start, end)),
    in: callee,
  };
}

function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xdc00 && unit <= 0xdfff) count -= 1;
  }
  return count;
}
