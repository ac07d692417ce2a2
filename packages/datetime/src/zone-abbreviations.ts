/**
 * Reads zone-abbreviations.generated.ts:
 *
 *   line   := name (' ' name)* '=' era ('|' era)*      the zones that share a history, and that history
 *   era    := start? '@' letters (',' letters)*        start: seconds since 1970; only the first era has none
 *   letters := text ':' offset                         offset: seconds east; no text: IANA has no letters for it
 *
 * Within an era an offset has one abbreviation. So the moments of clock changes are not repeated here: they come from
 * Intl, may be newer than this file, and still find their abbreviation.
 */
import { ABBREVIATIONS } from './zone-abbreviations.generated.js';

export interface Era {
  /** Seconds since 1970, inclusive. */
  readonly start: number;
  /** The letters for each offset in seconds east; '' where IANA has none. */
  readonly letters: ReadonlyMap<number, string>;
}

/** The eras of a zone, oldest first; none for an unknown name. A linear search: keep the result. */
export function erasOfZone(name: string): readonly Era[] {
  for (const line of ABBREVIATIONS) {
    const [names = '', eras = ''] = line.split('=');
    if (names.split(' ').includes(name)) return eras.split('|').map(readEra);
  }
  return [];
}

/** The text of `%Z`: `CET`; `-03` or `+0545` where there are no letters. */
export function abbreviationIn(eras: readonly Era[], moment: number | bigint, offset: number): string {
  for (let i = eras.length - 1; i >= 0; i--) {
    const { start, letters } = eras[i]!;
    if (moment < start) continue;
    // An offset that this era does not know comes from a release of Intl that is older or newer than the letters. An
    // earlier era is then the better guess.
    const found = letters.get(offset);
    if (found !== undefined) return found === '' ? numericAbbreviation(offset) : found;
  }
  return numericAbbreviation(offset);
}

function readEra(text: string): Era {
  const [start = '', letters = ''] = text.split('@');
  const read = (pair: string): [number, string] => {
    const [name = '', offset = ''] = pair.split(':');
    return [Number(offset), name];
  };
  return {
    start: start === '' ? Number.NEGATIVE_INFINITY : Number(start),
    letters: new Map(letters.split(',').map(read)),
  };
}

function numericAbbreviation(offset: number): string {
  const minutes = Math.floor(Math.abs(offset) / 60);
  const two = (n: number) => String(n).padStart(2, '0');
  const rest = minutes % 60;
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${rest === 0 ? '' : two(rest)}`;
}
