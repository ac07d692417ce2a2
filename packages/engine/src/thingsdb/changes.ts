/**
 * Changes of ThingsDB that its store does not hold yet, in files named by their first and last ones:
 *
 *   archive/FIRST_LAST.mp := array of bin                  the numbers in 16 hex digits, both inclusive
 *   bin                   := length:u32 0:u16 80 7f data   little-endian; length of the data
 *   data                  := [change, scope, [thing, record*]*]     scope 0 is @thingsdb, else the id of a collection
 *
 * Files may overlap, so a change may come twice; and changes that were none may be missing.
 */
import { FormatError } from '../bytes.js';
import { QueryError } from '../error.js';
import type { Charge } from '../state/transaction.js';
import { DataInput } from './input.js';
import { messageOf } from './texts.js';

/** Gives a file of a store by its path; null where there is none. */
export type ReadFile = (path: string) => Uint8Array | null;

/** One change: where it stands, behind its number and scope. */
interface Change {
  readonly number: number;
  readonly scope: number;
  readonly file: string;
  /** Where the data begin and end. */
  readonly start: number;
  readonly end: number;
}

const HEADER_BYTES = 8;
const CHANGE_TYPE = 128;

const NOTHING = new Uint8Array(0);

export class ArchivedChanges {
  private constructor(
    private readonly changes: readonly Change[],
    private readonly read: ReadFile,
    private readonly charge: Charge,
  ) {}

  /**
   * Finds the changes above a number.
   *
   * @param paths of all files of the store
   * @throws FormatError, with the file and the place
   */
  static find(paths: Iterable<string>, read: ReadFile, above: number, charge: Charge): ArchivedChanges {
    const changes = new Map<number, Change>();
    for (const file of paths) {
      const last = /^archive\/[0-9a-f]{16}_([0-9a-f]{16})\.mp$/.exec(file)?.[1];
      if (last === undefined || Number.parseInt(last, 16) <= above) continue;
      for (const change of changesIn(file, read(file), charge))
        if (change.number > above && !changes.has(change.number)) changes.set(change.number, change);
    }
    const sorted = [...changes.values()].sort((a, b) => a.number - b.number);
    return new ArchivedChanges(sorted, read, charge);
  }

  get count(): number {
    return this.changes.length;
  }

  /**
   * Goes through the changes of a scope.
   *
   * @param run reads one record of a thing: its number and its payload come next
   * @throws FormatError, with the file, the change and the place
   */
  each(scope: number, run: (input: DataInput, thing: number) => void): void {
    let file = '';
    let data: Uint8Array = NOTHING;
    for (const change of this.changes) {
      if (change.scope !== scope) continue;
      if (file !== change.file) {
        file = change.file;
        data = dataOf(file, this.read(file));
      }
      const input = new DataInput(data.subarray(change.start, change.end), this.charge, change.start);
      located(`${change.file}, change ${change.number}`, () => {
        let left = input.array('a change') - 2;
        input.skip();
        for (input.skip(); left > 0; left--) {
          let records = input.array('the records of a thing') - 1;
          const thing = input.uint('the id of a thing');
          for (; records > 0; records--) run(input, thing);
        }
        input.end('a change');
      });
    }
  }
}

/** Does some reading; what is wrong there becomes an error that names the place. */
export function located<T>(where: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof FormatError || (error instanceof QueryError && !error.fatal))
      throw new FormatError(`${where}, ${messageOf(error)}`);
    throw error;
  }
}

function dataOf(file: string, data: Uint8Array | null): Uint8Array {
  if (data === null) throw new FormatError(`${file} is gone`);
  return data;
}

function changesIn(file: string, content: Uint8Array | null, charge: Charge): Change[] {
  const data = dataOf(file, content);
  return located(file, () => {
    const input = new DataInput(data, charge);
    return Array.from({ length: input.array('changes') }, () => {
      if (input.token() !== 'bin') input.fail('a change is bytes');
      const { length } = input.bin();
      const end = input.offset;
      const view = new DataView(data.buffer, data.byteOffset + end - length, length);
      const isChange =
        length > HEADER_BYTES &&
        view.getUint32(0, true) === length - HEADER_BYTES &&
        view.getUint8(6) === CHANGE_TYPE;
      if (!isChange) input.fail('this is no change', end - length);
      const start = end - length + HEADER_BYTES;
      const inner = new DataInput(data.subarray(start, end), charge, start);
      if (inner.array('a change') < 2) inner.fail('a change without a scope');
      const number = inner.uint('the number of a change');
      return { number, scope: inner.uint('a scope'), file, start, end };
    });
  });
}
