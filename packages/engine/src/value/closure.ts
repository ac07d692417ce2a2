import { CHARACTERS_PER_LOOK, compactSource, parseClosure, prettySource } from '@althing/language';
import type { Unit } from '../run/unit.js';
import { Tag } from './tag.js';

/** Simultaneous activations of one closure at most. */
export const ACTIVATIONS_MAX = 24;

const UNITS_PER_STORED_CHARACTER = 128;

/** Units charged for each character that is parsed, or laid out. */
export const UNITS_PER_PARSED_CHARACTER = 256;

/**
 * A closure. It captures nothing: free names mean whatever the callers define when it runs. One that was read from
 * disk or made from a text is compiled when it is first called.
 */
export class Closure {
  /** Running activations. */
  active = 0;

  /** @param compact the stored form of the text, when the closure is already stored */
  constructor(
    /** Source text, exactly as written. */
    readonly source: string,
    /** Null until it is compiled. */
    public unit: Unit | null,
    private compact: string | null = null,
  ) {}

  get tag(): typeof Tag.CLOSURE {
    return Tag.CLOSURE;
  }

  get isStored(): boolean {
    return this.compact !== null;
  }

  /** The cost of switching to the stored form, in units that are charged before. */
  get unitsToStore(): number {
    return this.compact === null ? UNITS_PER_STORED_CHARACTER * this.source.length : 0;
  }

  /** The text for clients: the source as written, or, once the closure was stored, the source without white space. */
  get text(): string {
    return this.compact ?? this.source;
  }

  /** Switches to the stored form for good and returns its text. */
  store(): string {
    if (this.compact === null) this.compact = compactSource(this.source, 0, this.source.length);
    return this.compact;
  }

  /** The source, laid out for reading; what `str(c)` gives. */
  pretty(): string {
    return prettySource(parseClosure(this.source), this.source);
  }
}

/**
 * Parses the text of a closure that comes from elsewhere, and charges for that on the way.
 *
 * @throws LanguageError, and what `charge` throws
 */
export function parseCharged(
  source: string,
  charge: (units: number) => void,
): ReturnType<typeof parseClosure> {
  charge(UNITS_PER_PARSED_CHARACTER * Math.min(source.length, CHARACTERS_PER_LOOK));
  return parseClosure(source, () => charge(UNITS_PER_PARSED_CHARACTER * CHARACTERS_PER_LOOK));
}
