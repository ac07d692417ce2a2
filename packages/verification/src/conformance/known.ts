/**
 * The failures that are known and why. The list has to be exact: a case that is not on it has to pass, one that is on it has
 * to fail.
 */
import { parseJson } from '@althing/client';
import { CaseFileError } from './cases.js';

/** Reasons by file and case name. What fails over JSON alone stands under `FILE (json)`. */
export type KnownFailures = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Reads `{"file": {"case name": "reason"}}`. */
export function parseKnown(text: string): KnownFailures {
  const files = parseJson(text);
  if (!(files instanceof Map)) throw new CaseFileError('known failures: a map of files was expected');
  const known = new Map<string, Map<string, string>>();
  for (const [file, cases] of files) {
    if (!(cases instanceof Map))
      throw new CaseFileError(`known failures: ${file}: a map of cases was expected`);
    const reasons = new Map<string, string>();
    for (const [name, reason] of cases) {
      if (typeof reason !== 'string') throw new CaseFileError(`known failures: ${file}: ${name}: no reason`);
      reasons.set(name, reason);
    }
    known.set(file, reasons);
  }
  return known;
}

/** Why a case is known to fail; undefined when it has to pass. */
export function reasonFor(
  known: KnownFailures,
  file: string,
  name: string,
  format: 'msgpack' | 'json',
): string | undefined {
  const everywhere = known.get(file)?.get(name);
  return format === 'json' ? (everywhere ?? known.get(`${file} (json)`)?.get(name)) : everywhere;
}

/** Entries of the list that name no case: `exists` tells which do. */
export function strayEntries(
  known: KnownFailures,
  exists: (file: string, name: string) => boolean,
): string[] {
  const stray: string[] = [];
  for (const [key, cases] of known) {
    const file = key.replace(/ \(json\)$/, '');
    for (const name of cases.keys()) if (!exists(file, name)) stray.push(`${key}: ${name}`);
  }
  return stray;
}
