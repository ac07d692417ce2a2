/**
 * The question to the leader of the root scope at the end of a restore:
 *
 *   replace := count:varint (group:varint staged:text)*     the collections of the backup, as they are filled
 *              count:varint group:varint*                   all others that there are: they are empty
 *              user:varint heir:blob                        who asks, and, if nobody else shall stay, what is known of them
 *              entry                                        of the log, with the effects; see `groups/entry.ts`
 */
import { ByteReader, ByteWriter, FormatError, type User } from '@althing/engine';
import type { GroupId } from '../between/protocol.js';
import { type ChangeEntry, decodeEntry } from '../groups/entry.js';

export interface Replace {
  readonly staged: readonly { readonly group: GroupId; readonly name: string }[];
  readonly others: readonly GroupId[];
  readonly user: User['id'];
  /** The user as it was when the effects were made, packed; empty when all users are those of the backup. */
  readonly heir: Uint8Array;
  readonly entry: Uint8Array;
}

export function writeReplace({ staged, others, user, heir, entry }: Replace): Uint8Array {
  const out = new ByteWriter(entry.length + 1024);
  out.varint(staged.length);
  for (const { group, name } of staged) {
    out.varint(group);
    out.text(name);
  }
  out.varint(others.length);
  for (const group of others) out.varint(group);
  out.varint(user);
  out.blob(heir);
  out.bytes(entry);
  return out.take();
}

/** @throws FormatError */
export function readReplace(payload: Uint8Array): Omit<Replace, 'entry'> & { readonly entry: ChangeEntry } {
  const input = new ByteReader(payload);
  const staged = Array.from({ length: countOf(input) }, () => ({
    group: input.varint(),
    name: input.text(),
  }));
  const others = Array.from({ length: countOf(input) }, () => input.varint());
  const user = input.varint();
  const heir = input.blob().slice();
  // A copy stays when the message is gone.
  return { staged, others, user, heir, entry: decodeEntry(input.bytes(input.remaining).slice()) };
}

function countOf(input: ByteReader): number {
  const count = input.varint();
  if (count > input.remaining) throw new FormatError(`${count} collections in ${input.remaining} bytes`);
  return count;
}
