/**
 * Writes zone-abbreviations.generated.ts: what the letters of `%Z` are, which Intl does not tell.
 *
 *   node generate-abbreviations.mjs RELEASE DIRECTORY > zone-abbreviations.generated.ts
 *
 * RELEASE is the release of the IANA data, for the head of the file. DIRECTORY holds that release, compiled from its
 * main files without `backzone` (the choice that ICU makes too), with transitions listed explicitly:
 *
 *   zic -b fat -d DIRECTORY africa antarctica asia australasia europe northamerica southamerica etcetera backward
 *
 * The list of names is that of zone-names.ts, so compile the package first. The grammar of the result stands at the head
 * of zone-abbreviations.ts, which reads it. The compiled form is RFC 8536 (TZif).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ZONE_NAMES } from '../dist/zone-names.js';

const [release, directory] = process.argv.slice(2);
if (!release || !directory) {
  console.error('usage: node generate-abbreviations.mjs RELEASE DIRECTORY > zone-abbreviations.generated.ts');
  process.exit(2);
}

const namesByEras = new Map();
for (const name of ZONE_NAMES) {
  const eras = erasToText(erasOf(readTzif(readFileSync(join(directory, name)))));
  namesByEras.set(eras, [...(namesByEras.get(eras) ?? []), name]);
}

console.log(`// Written by generate-abbreviations.mjs from the IANA time zone data, release ${release}. Do not edit.
export const ABBREVIATIONS_RELEASE = '${release}';
export const ABBREVIATIONS: readonly string[] = [`);
for (const [eras, names] of namesByEras) console.log(`  '${names.join(' ')}=${eras}',`);
console.log('];');

/** Splits the history where an offset gets another abbreviation; within an era the offset tells it. */
function erasOf(periods) {
  const eras = [];
  let era;
  for (const { start, offset, abbreviation } of periods) {
    const letters = abbreviation === numeric(offset) ? '' : abbreviation;
    if (era === undefined || (era.letters.has(offset) && era.letters.get(offset) !== letters)) {
      era = { start, letters: new Map() };
      eras.push(era);
    }
    era.letters.set(offset, letters);
  }
  return eras;
}

function erasToText(eras) {
  const text = ({ start, letters }) =>
    `${start ?? ''}@${[...letters].map(([offset, l]) => `${l}:${offset}`).join(',')}`;
  return eras.map(text).join('|');
}

/** The abbreviation that IANA gives to zones without letters: `-03`, `+0545`. */
function numeric(offset) {
  const minutes = Math.abs(offset) / 60;
  const two = (n) => String(n).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${minutes % 60 ? two(minutes % 60) : ''}`;
}

/** The 64 bit part of a compiled zone, as periods; the first one has no start. */
function readTzif(bytes) {
  const header = (at) => ({
    isUt: bytes.readUInt32BE(at + 20),
    isStd: bytes.readUInt32BE(at + 24),
    leap: bytes.readUInt32BE(at + 28),
    times: bytes.readUInt32BE(at + 32),
    types: bytes.readUInt32BE(at + 36),
    chars: bytes.readUInt32BE(at + 40),
  });
  const first = header(0);
  let at = 44 + first.times * 5 + first.types * 6 + first.chars + first.leap * 8 + first.isStd + first.isUt;
  const { times, types, chars } = header(at);
  at += 44;
  const typesAt = at + times * 9;
  const charsAt = typesAt + types * 6;
  const letters = bytes.subarray(charsAt, charsAt + chars).toString('latin1');
  const period = (start, type) => {
    const begin = bytes[typesAt + type * 6 + 5];
    return {
      start,
      offset: bytes.readInt32BE(typesAt + type * 6),
      abbreviation: letters.slice(begin, letters.indexOf('\0', begin)),
    };
  };
  const periods = [period(undefined, 0)];
  for (let i = 0; i < times; i++) {
    periods.push(period(Number(bytes.readBigInt64BE(at + i * 8)), bytes[at + times * 8 + i]));
  }
  return periods;
}
