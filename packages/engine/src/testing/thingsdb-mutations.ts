/** Dumps of ThingsDB with random damage: each is refused and leaves nothing, or makes a collection that keeps all rules. */
import { brokenRules } from '../state/broken-rules.js';
import { stateLines } from '../state/describe.js';
import { takeBack } from '../state/transaction.js';
import { Harness, randomOf } from './harness.js';
import { dumpSamples } from './thingsdb-samples.js';

export interface MutationReport {
  readonly refused: number;
  readonly accepted: number;
  /** The failure, with the dump in base64; null when there is none. */
  readonly finding: string | null;
}

/** Bytes of a dump at most that is mutated: what is small is read often. */
const BYTES_MAX = 2000;

/** The errors of damaged dumps, and of what is none. */
const CODES: ReadonlySet<number> = new Set([-53, -60]);

/** Imports so many damaged dumps. */
export function importMutations(seed: number, runs: number): MutationReport {
  const random = randomOf(seed);
  const dumps = dumpSamples()
    .map(({ dump }) => dump)
    .filter(({ length }) => length <= BYTES_MAX);
  const db = new Harness({ evicts: false });
  const empty = stateLines(db.collection).join('\n');
  let refused = 0;
  let accepted = 0;
  for (let run = 0; run < runs; run++) {
    const dump = mutated(dumps, random);
    const problem = importOne(db, dump, empty);
    if (problem === null) accepted += 1;
    else if (problem === '') refused += 1;
    else {
      const finding = `run ${run}: ${problem}; dump ${Buffer.from(dump).toString('base64')}`;
      return { refused, accepted, finding };
    }
  }
  return { refused, accepted, finding: null };
}

/** Null when the dump was taken, '' when it was refused, and otherwise what went wrong. */
function importOne(db: Harness, dump: Uint8Array, empty: string): string | null {
  const outcome = db.outcome('import(d, {import_tasks: true});', { vars: { d: dump } });
  if (outcome.kind === 'error') {
    if (!CODES.has(outcome.error.code)) return `error ${outcome.error.code}: ${outcome.error.message}`;
  } else if (outcome.kind === 'value') {
    const broken = brokenRules(db.collection);
    if (broken.length > 0) return broken.join('; ');
    takeBack(outcome.change?.undo ?? []);
  } else return `the import came to ${outcome.kind}`;
  if (stateLines(db.collection).join('\n') !== empty) return 'something is left of it';
  return outcome.kind === 'error' ? '' : null;
}

/** Bytes that begin something else than those around them. */
const TELLING = [
  0, 0x7f, 0x80, 0x81, 0x90, 0x9f, 0xa0, 0xc0, 0xc1, 0xc4, 0xc7, 0xca, 0xcf, 0xd3, 0xd7, 0xdb, 0xdd, 0xdf,
  0xff,
];

/** A dump with one to four pieces of damage. */
function mutated(dumps: readonly Uint8Array[], random: () => number): Uint8Array {
  const below = (count: number): number => Math.floor(random() * count);
  const any = (): Buffer => Buffer.from(dumps[below(dumps.length)] ?? new Uint8Array());
  let dump = any();
  for (let left = 1 + below(4); left > 0; left--) {
    const at = below(dump.length);
    const end = Math.min(dump.length, at + 1 + below(20));
    switch (below(6)) {
      case 0:
        dump[at] = (dump[at] ?? 0) ^ (1 << below(8));
        break;
      case 1:
        dump[at] = TELLING[below(TELLING.length)] ?? 0;
        break;
      case 2:
        dump[at] = (dump[at] ?? 0) + 1 - 2 * below(2);
        break;
      case 3:
        dump = Buffer.concat([dump.subarray(0, at), dump.subarray(end)]);
        break;
      case 4:
        dump = Buffer.concat([dump.subarray(0, end), dump.subarray(at)]);
        break;
      default: {
        const other = any();
        const from = below(other.length);
        dump = Buffer.concat([
          dump.subarray(0, at),
          other.subarray(from, from + below(40)),
          dump.subarray(end),
        ]);
      }
    }
  }
  return Uint8Array.from(dump);
}
