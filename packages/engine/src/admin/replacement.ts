/**
 * The root state of a backup in the place of that of a cluster that serves, as one change: its collections, which were filled before under
 * names that nothing can reach, get their own names with it, and what was there is gone with it. So the cluster has all of
 * the one or all of the other.
 */
import { ByteReader, ByteWriter } from '../bytes.js';
import { lookupError, type QueryError } from '../error.js';
import { writeRestore } from '../state/group.js';
import { RecordKind } from '../state/records.js';
import { type Target, writeTarget } from './access-lists.js';
import { writeCollection } from './collection-info.js';
import { writeSetHistory } from './histories.js';
import { type ModuleInfo, writePutModule } from './modules.js';
import { Privilege } from './privileges.js';
import type { BackupRecord, RootRestore } from './restore.js';
import { RootEffect } from './root-effects.js';
import type { RootGroup } from './root-group.js';
import { type User, writeUser } from './user.js';
import { type WhitelistName, type WhitelistRule, whitelistNumber, writeWhitelist } from './whitelist.js';

export interface Replacement {
  readonly backup: RootRestore;
  /** The numbers that the collections of the backup have in the cluster, by those that they had. */
  readonly numbers: ReadonlyMap<number, number>;
  /** The only user that there is then, with all privileges everywhere; null for the users of the backup. */
  readonly heir: User | null;
  readonly takesTasks: boolean;
}

/** Why the root scope can not be replaced as it stands: what would be lost is not in a backup, or runs. Null when it can. */
export function replacementConflict({ tasks, modules }: RootGroup): QueryError | null {
  const found = tasks.contents() ?? modules.contents();
  if (found === null) return null;
  return lookupError(`there is ${found} in the scope @thingsdb: a restore needs it to be deleted before`);
}

/**
 * The effects that replace users, access, defaults, collections, procedures and what else the root scope has by those of a backup.
 * Its nodes, and the level that it works at, stay.
 *
 * @throws Error when a collection is not there, or has no number
 */
export function replacementEffects(live: RootGroup, replacement: Replacement): Uint8Array {
  const { backup, numbers, heir } = replacement;
  const { state } = backup;
  const out = new ByteWriter();
  out.u8(RootEffect.REPLACE);
  out.varint(numbers.size);
  for (const id of numbers.values()) out.varint(id);
  out.varint(state.nextId);
  out.varint(state.changeCount);
  writeDefaults(out, state);
  for (const info of state.collections.values()) {
    const id = numberOf(numbers, info.id);
    const { members } = live.collections.get(id) ?? missing(id);
    out.u8(RootEffect.PUT_COLLECTION);
    writeCollection(out, { ...info, id, members });
  }
  if (heir === null) writeUsers(out, state, numbers);
  else writeHeir(out, live, heir, [...numbers.values()]);
  for (const record of backup.records) writeRecord(out, record, replacement);
  return out.take();
}

function writeDefaults(out: ByteWriter, { defaults }: RootGroup): void {
  for (const [number, { deep, timeZone }] of [defaults.thingsdb, defaults.node].entries()) {
    out.u8(RootEffect.SET_DEFAULTS);
    out.u8(number);
    out.u8(deep);
    out.text(timeZone);
  }
}

function writeUsers(out: ByteWriter, state: RootGroup, numbers: Replacement['numbers']): void {
  for (const user of state.users.values()) {
    writePutUser(out, user);
    for (const [list, rules] of state.whitelistsOf(user.id)) writeList(out, user, list, rules);
    for (const [target, mask] of state.accessOf(user.id)) {
      writeAccess(out, typeof target === 'number' ? numberOf(numbers, target) : target, user, mask);
    }
  }
}

/** What somebody may not ask for stays forbidden: whitelists are no privileges. */
function writeHeir(out: ByteWriter, live: RootGroup, heir: User, collections: readonly number[]): void {
  writePutUser(out, heir);
  for (const [list, rules] of live.whitelistsOf(heir.id)) writeList(out, heir, list, rules);
  const targets: readonly Target[] = ['node', 'thingsdb', ...collections];
  for (const target of targets) writeAccess(out, target, heir, Privilege.FULL);
}

function writePutUser(out: ByteWriter, user: User): void {
  out.u8(RootEffect.PUT_USER);
  writeUser(out, user);
}

function writeList(
  out: ByteWriter,
  { id }: User,
  list: WhitelistName,
  rules: readonly WhitelistRule[],
): void {
  out.u8(RootEffect.SET_WHITELIST);
  out.varint(id);
  out.u8(whitelistNumber(list));
  writeWhitelist(out, rules);
}

function writeAccess(out: ByteWriter, target: Target, { id }: User, mask: number): void {
  out.u8(RootEffect.SET_ACCESS);
  writeTarget(out, target);
  out.varint(id);
  out.u8(mask);
}

/** Writes a record of what is no user and no collection; those that name a collection get its number. */
function writeRecord(
  out: ByteWriter,
  record: BackupRecord,
  { backup, numbers, takesTasks }: Replacement,
): void {
  const { kind, id, part } = record;
  switch (kind) {
    case RecordKind.USER:
    case RecordKind.WHITELIST:
      return;
    case RecordKind.TASK:
      if (takesTasks) writeRestore(out, record);
      return;
    case RecordKind.HISTORY: {
      const history = backup.state.histories.of(id);
      const target = numbers.get(id);
      if (history === undefined) return;
      if (id === 0) writeSetHistory(out, history);
      else if (target !== undefined) writeSetHistory(out, { ...history, target });
      return;
    }
    case RecordKind.MODULE: {
      const module = backup.state.modules.byId.get(id);
      if (part === 0 && module !== undefined) writePutModule(out, movedModule(module, numbers));
      else writeRestore(out, record);
      return;
    }
    default:
      writeRestore(out, record);
  }
}

function movedModule(module: ModuleInfo, numbers: Replacement['numbers']): ModuleInfo {
  const { scope } = module;
  // A collection that is gone stays so: its number is never given again.
  return typeof scope === 'number' ? { ...module, scope: numbers.get(scope) ?? scope } : module;
}

function numberOf(numbers: Replacement['numbers'], id: number): number {
  return numbers.get(id) ?? missing(id);
}

function missing(id: number): never {
  throw new Error(`there is no collection ${id} to be restored`);
}

/** All that is known of a user, to be compared. */
export function packUser(user: User): Uint8Array {
  const out = new ByteWriter();
  writeUser(out, user);
  return out.take();
}

/** The record of a task, with another owner. */
export function ownedTask(record: BackupRecord, owner: number): BackupRecord {
  const input = new ByteReader(record.value);
  const out = new ByteWriter();
  out.varint(input.varint());
  input.varint();
  out.varint(owner);
  out.bytes(input.bytes(input.remaining));
  return { ...record, value: out.take() };
}
