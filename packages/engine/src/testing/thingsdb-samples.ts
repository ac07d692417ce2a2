/** The samples of data of ThingsDB; `samples/README.md` tells what is in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Float } from '../value/scalars.js';
import { decodeResult } from './decode.js';
import type { Plain } from './harness.js';

const FOLDER = fileURLToPath(new URL('../../samples/', import.meta.url));

/** A query, and how ThingsDB answered it. */
export interface SampleCheck {
  readonly query: string;
  readonly scope?: string;
  readonly json?: Plain;
  readonly mp?: string;
  readonly error?: number;
}

export interface DumpSample {
  readonly name: string;
  readonly title: string;
  readonly dump: Uint8Array;
  readonly options: Readonly<Record<string, boolean>>;
  readonly things: number;
  readonly isRedumpEqual: boolean;
  readonly checks: readonly SampleCheck[];
}

interface SampleFile {
  readonly name: string;
  readonly title: string;
  readonly dump: string;
  readonly import_options: Readonly<Record<string, boolean>>;
  readonly imported_info: { readonly things: number };
  readonly redump_equal: boolean;
  readonly checks: readonly SampleCheck[];
}

/** A dump that is wrong or odd, and what ThingsDB made of it. */
export interface DamagedCase {
  readonly name: string;
  readonly pre?: readonly string[];
  readonly query?: string;
  readonly dump?: string;
  readonly dump_value?: Plain;
  readonly error?: number;
  readonly server_stops?: boolean;
}

export function dumpSamples(): DumpSample[] {
  return readdirSync(FOLDER)
    .filter((file) => /^[0-3]\d-.*\.json$/.test(file))
    .sort()
    .map((file) => {
      const sample: SampleFile = JSON.parse(readFileSync(FOLDER + file, 'utf8'));
      return {
        name: sample.name,
        title: sample.title,
        dump: bytesOf(sample.dump),
        options: sample.import_options,
        things: sample.imported_info.things,
        isRedumpEqual: sample.redump_equal,
        checks: sample.checks,
      };
    });
}

export function damagedCases(): readonly DamagedCase[] {
  const { cases }: { cases: readonly DamagedCase[] } = JSON.parse(
    readFileSync(`${FOLDER}90-damaged.json`, 'utf8'),
  );
  return cases;
}

export function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(Buffer.from(base64, 'base64'));
}

/** The answer of ThingsDB to a check that is no error. */
export function answerOf({ json = null, mp }: SampleCheck): Plain {
  return mp === undefined ? json : decodeResult(bytesOf(mp));
}

/** True if two answers are the same: JSON does not tell 1 from 1.0, and the properties of a thing come in any order. */
export function isSameAnswer(a: Plain, b: Plain): boolean {
  if (a instanceof Float || b instanceof Float)
    return numberOf(a) === numberOf(b) || Object.is(numberOf(a), numberOf(b));
  if (typeof a === 'bigint' || typeof b === 'bigint') return String(a) === String(b);
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const others = new Map<string, Plain>(Object.entries(b));
  const own = Object.entries(a);
  return (
    own.length === others.size &&
    own.every(([key, value]) => others.has(key) && isSameAnswer(value, others.get(key) ?? null))
  );
}

function numberOf(value: Plain): number {
  return value instanceof Float ? value.value : Number(value);
}
