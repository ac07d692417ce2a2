/**
 * The root state of a backup in the place of that of a cluster that serves, as one change: its collections, which were filled before under
 * names that nothing can reach, get their own names with it, and what was there is gone with it. So the cluster has all of
 * the one or all of the other.
 */
import { ByteReader, ByteWriter, encoded } from '../bytes.js';
import { lookupError, type QueryError } from '../error.js';
import { writeEffect } from '../state/effect.js';
import { GroupEffect } from '../state/group.js';
import { RecordKind } from '../state/records.js';
import type { Target } from './access-lists.js';
import { FeedKeepEffect } from './feed-keeping.js';
import { HistoryEffect } from './histories.js';
import { ModuleEffect, type ModuleInfo } from './modules.js';
import { Privilege } from './privileges.js';
import type { BackupRecord, RootRestore } from './restore.js';
import { RootEffect } from './root-effects.js';
import type { RootGroup } from './root-group.js';
import { type User, writeUser } from './user.js';
import { UserLimitEffect } from './user-limits.js';

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
  writeEffect(out, RootEffect.REPLACE, [...numbers.values()], state.nextId, state.changeCount);
  for (const scope of ['thingsdb', 'node'] as const) {
    writeEffect(out, RootEffect.SET_DEFAULTS, scope, state.defaults[scope]);
  }
  for (const info of state.collections.values()) {
    const id = numberOf(numbers, info.id);
    const { members } = live.collections.get(id) ?? missing(id);
    writeEffect(out, RootEffect.PUT_COLLECTION, { ...info, id, members });
  }
  if (heir === null) writeUsers(out, state, numbers);
  else writeHeir(out, live, heir, [...numbers.values()]);
  for (const record of backup.records) writeRecord(out, record, replacement);
  return out.take();
}

function writeUsers(out: ByteWriter, state: RootGroup, numbers: Replacement['numbers']): void {
  for (const user of state.users.values()) {
    writeEffect(out, RootEffect.PUT_USER, user);
    writeLimits(out, state, user);
    for (const entry of state.whitelists.allOf(user.id))
      writeEffect(out, RootEffect.SET_WHITELIST, user.id, ...entry);
    for (const [target, mask] of state.accessOf(user.id)) {
      const moved = typeof target === 'number' ? numberOf(numbers, target) : target;
      writeEffect(out, RootEffect.SET_ACCESS, moved, user.id, mask);
    }
  }
}

function writeLimits(out: ByteWriter, { userLimits }: RootGroup, { id }: User): void {
  const limit = userLimits.all.get(id);
  if (limit !== undefined) writeEffect(out, UserLimitEffect.SET, id, limit);
}

/** Whitelists and limits stay: neither are privileges. */
function writeHeir(out: ByteWriter, live: RootGroup, heir: User, collections: readonly number[]): void {
  writeEffect(out, RootEffect.PUT_USER, heir);
  writeLimits(out, live, heir);
  for (const entry of live.whitelists.allOf(heir.id))
    writeEffect(out, RootEffect.SET_WHITELIST, heir.id, ...entry);
  const targets: readonly Target[] = ['node', 'thingsdb', ...collections];
  for (const target of targets) writeEffect(out, RootEffect.SET_ACCESS, target, heir.id, Privilege.FULL);
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
    case RecordKind.SESSIONS:
    case RecordKind.USER_LIMITS:
      return;
    case RecordKind.FEED: {
      const target = numbers.get(id);
      if (target !== undefined) writeEffect(out, FeedKeepEffect.SET, target, backup.state.feedKeeping.of(id));
      return;
    }
    case RecordKind.TASK:
      if (takesTasks) writeEffect(out, GroupEffect.RESTORE, record);
      return;
    case RecordKind.HISTORY: {
      const history = backup.state.histories.all.get(id);
      const target = numbers.get(id);
      if (history === undefined) return;
      if (id === 0) writeEffect(out, HistoryEffect.SET, history);
      else if (target !== undefined) writeEffect(out, HistoryEffect.SET, { ...history, target });
      return;
    }
    case RecordKind.MODULE: {
      const module = backup.state.modules.byId.get(id);
      if (part === 0 && module !== undefined)
        writeEffect(out, ModuleEffect.PUT, movedModule(module, numbers));
      else writeEffect(out, GroupEffect.RESTORE, record);
      return;
    }
    default:
      writeEffect(out, GroupEffect.RESTORE, record);
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
  return encoded(writeUser, user);
}

/** The id of the user that a task belongs to, by its record. */
export function ownerOfTask({ value }: BackupRecord): number {
  const input = new ByteReader(value);
  input.varint();
  return input.varint();
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
