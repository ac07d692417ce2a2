/** The format of the state, and its mark: what is looked at first when a state is opened. */
import type { Disk, DiskEntry } from '../disk/disk.js';
import { DamagedStateError, NewerFormatError } from '../errors.js';
import type { KeyValueStore } from '../kv/key-value-store.js';
import { MarkFile } from '../mark.js';
import type { Journal } from './journal.js';
import { storeKey } from './keys.js';
import { decodeValue, encodeValue } from './values.js';

export const MARK_NAME = 'mark';

const FORMAT = 1;

/** True if there is no state yet. Throws `NewerFormatError`, `DamagedStateError`. */
export function checkFormat(store: KeyValueStore): boolean {
  const key = storeKey('format');
  const value = store.getSync(key);
  if (value === undefined) return true;
  const payload = decodeValue(key, value);
  const format = payload.length === 4 ? payload.readUInt32LE(0) : 0;
  if (format > FORMAT) throw new NewerFormatError('The state', format, FORMAT);
  if (format === 0) throw new DamagedStateError('the format of the state is not told');
  return false;
}

/** The mark is made before the first write to the store, and never goes. */
export async function openMark(disk: Disk, entries: readonly DiskEntry[], isNew: boolean): Promise<MarkFile> {
  const exists = entries.some(({ name }) => name === MARK_NAME);
  const mark = exists ? await MarkFile.open(disk, MARK_NAME) : undefined;
  if (mark !== undefined) return mark;
  if (!isNew) throw new DamagedStateError('the mark file next to the LevelDB is missing or damaged');
  const created = await MarkFile.create(disk, MARK_NAME, [0, 0, 0, 0]);
  await disk.sync();
  return created;
}

export async function writeFormat(journal: Journal): Promise<void> {
  const key = storeKey('format');
  const payload = Buffer.alloc(4);
  payload.writeUInt32LE(FORMAT);
  await journal.write((batch) => {
    batch.put(key, encodeValue(key, payload));
    return payload.length;
  });
}
