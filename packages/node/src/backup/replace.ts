import { randomBytes } from 'node:crypto';
import { closeSync, readSync } from 'node:fs';
import {
  ByteWriter,
  badDataError,
  CollectionGroup,
  ErrorCode,
  FormatError,
  importerOf,
  importingName,
  missingPrivilege,
  Privilege,
  packUser,
  type RestoresView,
  type RootGroup,
  RootRestore,
  replacementConflict,
  replacementEffects,
  type User,
} from '@althing/engine';
import { messageOf } from '../base/error-text.js';
import { type GroupId, type NodeId, ROOT_GROUP } from '../between/protocol.js';
import { CallKind } from '../calls/calls.js';
import type { Config } from '../config/index.js';
import { ANY_BODY } from '../groups/body-hash.js';
import { encodeEntry, type IdempotencyKey, plainHead } from '../groups/entry.js';
import type { GroupSession } from '../groups/group-session.js';
import { encodeReply } from '../groups/kept-reply.js';
import { CHANGE_BYTES_MAX } from '../groups/limits.js';
import type { ClientNames } from '../groups/names.js';
import { UnfinishedError } from '../groups/request.js';
import { type BackupSummary, backupContents } from './contents.js';
import { BackupError, headAtStart } from './format.js';
import { ImportRun, type RunLimits, restoredWith } from './import-run.js';
import { openBelow, readBelow } from './place.js';
import { type Replace, readReplace, writeReplace } from './replace-format.js';
import type { Staging, Verdict } from './staging.js';

export interface ReplacementsOptions {
  readonly nodeId: NodeId;
  readonly root: RootGroup;
  readonly staging: Staging;
  readonly limits: RunLimits & Pick<Config, 'maxCollections'>;
  /** Where the files lie. */
  readonly folder: string;
  readonly session: (group: GroupId) => GroupSession | undefined;
}

/** A restore: its user, and the parts of the backup that are taken. */
export interface ReplacementRequest {
  readonly user: User;
  /** True if users and access stay behind, and who asks is the only user then. */
  readonly takesAccess: boolean;
  readonly takesTasks: boolean;
  /** The names by which it takes effect once. */
  readonly names: ClientNames;
  /** The answer that is kept for a repetition. */
  readonly result: string | Uint8Array;
}

/** Bytes of a file that are looked at before a restore is begun. */
const LOOK_BYTES = 64 * 1024;

/** Bytes of effects at most: the entry of the log has a name and an answer besides. */
const EFFECTS_BYTES_MAX = CHANGE_BYTES_MAX - 1024 * 1024;

/**
 * Puts a backup in the place of all that a cluster holds, while it serves: the function `restore`, and `POST /@restore`. The collections of the backup are
 * filled beside the present ones, which are empty, under names that nothing can reach; when the whole file was read and found right,
 * one change of the root scope replaces everything. Whatever happens, the cluster has all that it had or all of the backup;
 * what was filled in vain is deleted as that of an import is.
 *
 * The change has a name in the log, so that it is known whether it was made, however often it was asked for.
 */
export class Replacements implements RestoresView {
  constructor(private readonly options: ReplacementsOptions) {
    options.staging.serve(CallKind.Replace, (payload) => this.replaceHere(payload));
  }

  check(file: string): void {
    try {
      const { fd } = openBelow(this.options.folder, file);
      try {
        const start = Buffer.alloc(LOOK_BYTES);
        assertWhole(headAtStart(start.subarray(0, readSync(fd, start, 0, LOOK_BYTES, 0))).collection);
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      throw badDataError(messageOf(error));
    }
  }

  /** The bytes of a backup that lies below the folder of this node; see `readBelow`. */
  read(file: string): AsyncIterable<Uint8Array> {
    return readBelow(this.options.folder, file);
  }

  /**
   * Restores a backup; resolves when this node serves what was in it.
   *
   * @throws BackupError, QueryError; an UnfinishedError when it is not known whether it was made
   */
  restore(request: ReplacementRequest, source: AsyncIterable<Uint8Array>): Promise<BackupSummary> {
    return this.options.staging.alone(async () => {
      const run = new Run(request);
      try {
        return await this.replaceAll(run, source);
      } catch (error) {
        await this.giveUp(run, error);
        return run.summary;
      }
    });
  }

  private async replaceAll(run: Run, source: AsyncIterable<Uint8Array>): Promise<BackupSummary> {
    const { staging, limits } = this.options;
    await staging.freshen(ROOT_GROUP);
    await staging.awaitLevel();
    this.assertFits(run);
    await this.assertEmpty(run);
    let current: ImportRun | null = null;
    for await (const part of backupContents(source)) {
      switch (part.kind) {
        case 'head':
          run.head = part.head;
          assertWhole(part.head.collection);
          break;
        case 'group':
          if (part.group === ROOT_GROUP) break;
          current = this.begin(run, part.group);
          await staging.make(current, run.backup.state.nextId);
          break;
        case 'records':
          run.records += part.records.length;
          for (const record of part.records) {
            if (part.group === ROOT_GROUP) run.backup.add(record);
            else if (current !== null) await staging.put(current, current.add(record, limits));
          }
          break;
        case 'complete':
          if (part.group === ROOT_GROUP) this.assertTakes(run.backup);
          else if (current !== null) await staging.put(current, current.end());
      }
    }
    if (run.staged.size !== run.backup.collections.length)
      throw new BackupError('damaged', 'the backup is damaged: not all of its collections are in it');
    await this.replace(run);
    await staging.freshen(ROOT_GROUP);
    return run.summary;
  }

  /** Begins a collection of the backup, whose root scope was read before. */
  private begin(run: Run, group: GroupId): ImportRun {
    const info = run.backup.state.collections.get(group);
    if (info === undefined)
      throw new BackupError('damaged', `the backup is damaged: nothing is known of group ${group}`);
    const { user, takesTasks } = run.request;
    const staged = importingName(this.options.nodeId, run.token, info.name);
    const own = new ImportRun(staged, info.name, user.id, restoredWith(takesTasks));
    run.staged.set(group, own);
    return own;
  }

  private assertTakes(backup: RootRestore): void {
    const { root, limits } = this.options;
    const { state, problem } = backup;
    if (problem !== null) throw new BackupError('damaged', `the backup can not be restored: ${problem}`);
    if (
      state.collections.size !== state.collectionsByName.size ||
      state.users.size !== state.usersByName.size
    )
      throw new BackupError('damaged', 'the backup is damaged: a name is there twice');
    const level = backup.levelProblem(root);
    if (level !== null) throw new BackupError('refused', `the backup can not be restored: ${level}`);
    if (state.collections.size > limits.maxCollections) {
      throw new BackupError(
        'refused',
        `the backup has ${state.collections.size} collections, more than max_collections allows`,
      );
    }
  }

  /** The root scope as it stands has nothing that must not be lost. */
  private assertFits({ request: { user } }: Run): void {
    const { root, staging } = this.options;
    const present = root.users.get(user.id);
    if (present === undefined || !root.allows('thingsdb', user.id, Privilege.FULL))
      throw missingPrivilege(user, Privilege.FULL, '@thingsdb');
    const conflict = replacementConflict(root);
    if (conflict !== null) throw conflict;
    const refusal = staging.refusalOf(null);
    if (refusal !== null) throw new BackupError('refused', refusal);
  }

  /** No collection besides those that are being filled has anything in it. */
  private async assertEmpty(run: Run): Promise<void> {
    const { root, staging, session } = this.options;
    for (const { id, name } of [...root.collections.values()]) {
      if (run.isOwn(name)) continue;
      if (importerOf(name) !== null) {
        throw new BackupError(
          'refused',
          'a collection is being imported, or another backup restored: wait for its end, or delete what an interrupted import left (del_collection with its number)',
        );
      }
      await staging.freshen(id);
      const group = session(id)?.group;
      const contents = group instanceof CollectionGroup ? group.contents() : null;
      if (contents === null) continue;
      throw new BackupError(
        'refused',
        `a restore replaces everything, and takes empty collections only: in the collection '${name}' there is something: ${contents}. Take a backup, and then delete it`,
      );
    }
  }

  /** Has everything replaced, by one change. */
  private async replace(run: Run): Promise<void> {
    const { root, staging } = this.options;
    await staging.insist(async () => {
      await staging.freshen(ROOT_GROUP);
      if (this.isMade(run)) return true;
      this.assertFits(run);
      await this.assertEmpty(run);
      const payload = writeReplace(this.replaceOf(run, root));
      run.isAsked = true;
      await staging.askLeader(
        ROOT_GROUP,
        CallKind.Replace,
        () => payload,
        () => this.replaceHere(payload),
      );
      await staging.freshen(ROOT_GROUP);
      return this.isMade(run);
    });
  }

  private replaceOf({ backup, staged, request, key }: Run, root: RootGroup): Replace {
    const { takesAccess, takesTasks, names, result } = request;
    const numbers = new Map([...staged].map(([number, { group }]) => [number, group]));
    const heir = takesAccess ? (root.users.get(request.user.id) ?? null) : null;
    const effects = replacementEffects(root, { backup, numbers, heir, takesTasks });
    if (effects.length > EFFECTS_BYTES_MAX) {
      throw new BackupError(
        'refused',
        `users, procedures, modules and history of the scope @thingsdb take ${effects.length} bytes in the backup, more than one change may have (${EFFECTS_BYTES_MAX}): althing import takes its collections, one by one`,
      );
    }
    const head = { ...plainHead(0), elapsed: 0, key, client: names.client, reply: encodeReply(result) };
    const own = new Set(numbers.values());
    return {
      staged: [...staged.values()].map(({ group, staged: name }) => ({ group, name })),
      others: [...root.collections.keys()].filter((id) => !own.has(id)),
      user: request.user.id,
      heir: heir === null ? new Uint8Array(0) : packUser(heir),
      entry: encodeEntry(head, effects, new ByteWriter(effects.length + 1024)),
    };
  }

  /** Does so here, if this node leads. */
  private replaceHere(payload: Uint8Array): Promise<Verdict> | Verdict {
    const session = this.options.session(ROOT_GROUP);
    if (session?.proposes !== true || session.isImposing || session.hasUncommitted) return 'later';
    const { entry, ...replace } = readReplace(payload);
    const { key, client, reply } = entry.head;
    if (key === null) throw new FormatError('a restore has no name');
    if (session.table.findKey(key).kind === 'reply') return 'done';
    const refused = this.refusalOf(replace) ?? session.nameRefusal({ key, client })?.message ?? null;
    if (refused !== null) return { refused };
    if (session.refusal() !== null) return 'later';
    const names = { request: null, key, client, kept: reply };
    return new Promise((resolve) => {
      session.impose(entry.effects, (isMade) => resolve(isMade ? 'done' : 'later'), names);
    });
  }

  /** Why everything can not be replaced as the leader knows it; null when it can. */
  private refusalOf({ staged, others, user, heir }: Omit<Replace, 'entry'>): string | null {
    const { root } = this.options;
    const present = root.users.get(user);
    const isAsStaged = staged.every(({ group, name }) => root.collections.get(group)?.name === name);
    if (!isAsStaged) return 'a collection was deleted while it was being filled';
    if (
      others.length + staged.length !== root.collections.size ||
      !others.every((id) => root.collections.has(id))
    )
      return 'a collection was made or deleted while the backup was being restored';
    if (present === undefined || !root.allows('thingsdb', user, Privilege.FULL))
      return 'who asks for the restore lost privileges that it takes';
    if (heir.length > 0 && Buffer.compare(heir, packUser(present)) !== 0)
      return 'the password or the tokens of who asks for the restore were changed meanwhile';
    return replacementConflict(root)?.message ?? null;
  }

  /** True if everything was replaced, as this node knows it. */
  private isMade({ key }: Run): boolean {
    return this.options.session(ROOT_GROUP)?.table.findKey(key).kind === 'reply';
  }

  /**
   * After a failure: what was filled is deleted, unless the last change had been made all the same.
   *
   * @throws the failure, unless all is well
   */
  private async giveUp(run: Run, failure: unknown): Promise<void> {
    const { staging } = this.options;
    try {
      for (const { staged, mayBeThere } of run.staged.values()) if (mayBeThere) await staging.drop(staged);
      if (run.isAsked) await staging.freshen(ROOT_GROUP);
      if (run.isAsked && this.isMade(run)) return;
      // Without the collections that were filled, what was asked for comes to nothing, however late it comes.
      if (run.isAsked && run.staged.size === 0) throw unfinished(failure);
    } catch (error) {
      if (!(error instanceof BackupError)) throw error;
      if (run.isAsked) throw unfinished(failure);
      // Its node deletes what was filled as soon as that can be done.
    }
    throw failure instanceof FormatError
      ? new BackupError('damaged', `the backup is damaged: ${failure.message}`)
      : failure;
  }
}

/** One restore: how far it is. */
class Run {
  readonly token = randomBytes(6).toString('hex');
  /** The key by which the log knows that it was made. */
  readonly key: IdempotencyKey;
  readonly backup = new RootRestore();
  /** The collections, by the numbers that they have in the backup. */
  readonly staged = new Map<GroupId, ImportRun>();
  head: BackupSummary['head'] | null = null;
  records = 0;
  /** True if the last change may have been made. */
  isAsked = false;

  constructor(readonly request: ReplacementRequest) {
    const { names, user } = request;
    this.key = names.key ?? { user: user.id, key: `restore ${this.token}`, body: ANY_BODY };
  }

  get summary(): BackupSummary {
    if (this.head === null) throw new BackupError('damaged', 'the backup is damaged: it has no head');
    return { head: this.head, records: this.records };
  }

  /** True if a collection is one that this run fills. */
  isOwn(name: string): boolean {
    for (const { staged } of this.staged.values()) if (staged === name) return true;
    return false;
  }
}

function unfinished(failure: unknown): UnfinishedError {
  return new UnfinishedError(
    ErrorCode.NODE,
    `${messageOf(failure)}; it is not known yet whether the backup was restored: either all of it was, or nothing`,
  );
}

function assertWhole(collection: string | undefined): void {
  if (collection === undefined) return;
  throw new BackupError(
    'damaged',
    `this is no backup but the export of the collection '${collection}' alone: althing import takes it`,
  );
}
