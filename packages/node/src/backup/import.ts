import { createHash, randomBytes } from 'node:crypto';
import {
  type CollectionInfo,
  FormatError,
  importerOf,
  importingName,
  isSameImport,
  type RootGroup,
  RootRestore,
} from '@althing/engine';
import { messageOf } from '../base/error-text.js';
import { type GroupId, type NodeId, ROOT_GROUP } from '../between/protocol.js';
import type { GroupSession } from '../groups/group-session.js';
import { type BackupSummary, backupContents } from './contents.js';
import { BackupError } from './format.js';
import { CUTS, type ImportedTasks, ImportRun, importedWith, type RunLimits } from './import-run.js';
import type { Staging } from './staging.js';

export interface ImportsOptions {
  readonly nodeId: NodeId;
  readonly root: RootGroup;
  readonly staging: Staging;
  readonly limits: RunLimits;
  readonly session: (group: GroupId) => GroupSession | undefined;
  readonly onFailure: (error: unknown) => void;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
}

/** An import: the collection, and its user. */
export interface ImportRequest {
  /** The name of the new collection; with a backup also that of the collection taken from it. */
  readonly name: string;
  /** Id of the user who gets all privileges on it. */
  readonly user: number;
  readonly tasks: ImportedTasks;
  /** The SHA-256 at the end of the file, as hexadecimal digits: so an import goes on where an earlier one of the same file ended. Null: it does not. */
  readonly digest: string | null;
}

export interface ImportSummary extends BackupSummary {
  /** Changes of the collection, and those of them that an earlier import had made. */
  readonly parts: number;
  readonly resumed: number;
}

/** An interrupted import can be gone on with for so long from its beginning, in milliseconds. */
const KEPT_MS = 24 * 3600 * 1000;

/** The first letter of the tokens of imports that can be resumed; others are hexadecimal digits. */
const RESUMABLE = 'r';

/**
 * Puts a collection of an export or a backup into a cluster that serves. It is filled under a name that nothing can reach, and gets its
 * own in one change of the root scope when the whole stream was read and found right: until then there is no collection of that
 * name, and from then on all of it. What fails on the way is deleted again: at once, or by this node after its start, or by the
 * leader when this node is no member any more.
 *
 * An import that names its file by a digest is kept for a day when it is interrupted. Its token is made of the digest, so who sends the file
 * again finds what is there, at any node, and the number of its changes is the place to go on from.
 */
export class Imports {
  /** True if something is being deleted that an earlier import left. */
  private isClearing = false;

  constructor(private readonly options: ImportsOptions) {}

  /**
   * @throws BackupError, and what the source throws; `isUnfinished` when it is not known whether the collection is there
   */
  import(request: ImportRequest, source: AsyncIterable<Uint8Array>): Promise<ImportSummary> {
    const { name, user, tasks, digest } = request;
    const { nodeId, staging, root } = this.options;
    return staging.alone(async () => {
      const staged = importingName(nodeId, tokenOf(request), name);
      const run = new ImportRun(
        staged,
        name,
        user,
        importedWith(tasks, user, (id) => root.users.has(id)),
      );
      try {
        await this.importAll(run, digest, source);
        return summaryOf(run);
      } catch (error) {
        const failure =
          error instanceof FormatError
            ? new BackupError('damaged', `the file is damaged: ${error.message}`)
            : error;
        // A wrong file is wrong the next time, too; a failure that stopped the import may be over then.
        const isOver = failure instanceof BackupError && (failure.reason !== 'busy' || run.isNaming);
        if (run.mayBeThere && digest !== null && !isOver) throw keptOf(failure);
        if (run.mayBeThere) await this.giveUp(run, failure);
        if (run.isComplete) return summaryOf(run);
        throw failure;
      }
    });
  }

  /** Deletes what an import or a restore left that came to no end, and that nobody may go on with. To be called now and then. */
  consider(): void {
    const { root, nodeId, session, staging, onFailure, now } = this.options;
    if (staging.isBusy || this.isClearing) return;
    const leads = session(ROOT_GROUP)?.leading === true;
    for (const { name, createdAt } of root.collections.values()) {
      const importer = importerOf(name);
      if (importer === null || (importer !== nodeId && !(leads && !root.members.has(importer)))) continue;
      if (isResumable(name) && now() - createdAt * 1000 < KEPT_MS) continue;
      this.isClearing = true;
      staging
        .drop(name)
        .catch((error: unknown) => {
          if (!(error instanceof BackupError)) onFailure(error);
        })
        .finally(() => {
          this.isClearing = false;
        });
      return;
    }
  }

  private async importAll(
    run: ImportRun,
    digest: string | null,
    source: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const { staging } = this.options;
    const backup = new RootRestore();
    let wanted = -1;
    for await (const part of backupContents(source)) {
      switch (part.kind) {
        case 'head':
          run.head = part.head;
          await staging.freshen(ROOT_GROUP);
          this.assertTakes(run, part.head.level ?? 0);
          break;
        case 'group':
          if (run.head?.collection !== undefined) wanted = part.group;
          if (part.group === wanted) await this.makeOrResume(run);
          break;
        case 'records':
          for (const record of part.records) {
            if (part.group === ROOT_GROUP) backup.add(record);
            else if (part.group === wanted) await staging.put(run, run.add(record, this.options.limits));
          }
          break;
        case 'complete':
          if (part.group === ROOT_GROUP) wanted = this.wantedOf(backup, run.name);
          else if (part.group === wanted) await staging.put(run, run.end());
          break;
        case 'end':
          if (digest !== null && digest !== part.digest)
            throw new BackupError('damaged', `this is another file: its digest is ${part.digest}`);
      }
    }
    await staging.finish(run);
  }

  private async makeOrResume(run: ImportRun): Promise<void> {
    const { staging } = this.options;
    const begun = this.begunOf(run);
    if (begun !== undefined) return staging.resume(run, begun);
    return staging.make(run);
  }

  /** The collection that an earlier import of the same file filled. */
  private begunOf({ staged }: ImportRun): CollectionInfo | undefined {
    const { root } = this.options;
    const own = root.collectionsByName.get(staged);
    return own ?? [...root.collections.values()].find(({ name }) => isSameImport(name, staged));
  }

  private wantedOf(backup: RootRestore, name: string): number {
    const { problem } = backup;
    if (problem !== null)
      throw new BackupError('damaged', `nothing can be taken from the backup: ${problem}`);
    const level = backup.levelProblem(this.options.root);
    if (level !== null) throw new BackupError('refused', `nothing can be taken from the backup: ${level}`);
    const wanted = backup.numberOf(name);
    if (wanted === undefined)
      throw new BackupError('refused', `there is no collection '${name}' in the backup`);
    return wanted;
  }

  /** @throws BackupError unless a collection can be imported as things stand */
  private assertTakes(run: ImportRun, level: number): void {
    const refusal = this.options.staging.refusalOf(run.name, this.begunOf(run) !== undefined);
    if (refusal !== null) throw new BackupError('refused', refusal);
    const { root } = this.options;
    if (level > root.level) {
      throw new BackupError(
        'refused',
        `the export was taken of a cluster at level ${level}, and this one works at level ${root.level}: it can take it when all of its nodes run the newer version`,
      );
    }
  }

  /** After a failure: nothing is left of it, unless its last change had been made all the same. */
  private async giveUp(run: ImportRun, failure: unknown): Promise<void> {
    try {
      const { staging } = this.options;
      await staging.drop(run.staged);
      run.isComplete = run.group !== 0 && staging.isNamed(run);
    } catch (error) {
      const why = messageOf(failure);
      const open = new BackupError(
        'busy',
        `${why}; it is not known yet whether the collection is there: what is not complete is deleted as soon as that can be done`,
      );
      open.isUnfinished = true;
      if (error instanceof BackupError) throw open;
      throw error;
    }
  }
}

/** The token of an import: one that can be resumed has the same whenever the same user sends the same file, to be cut at the same places. */
function tokenOf({ digest, tasks, user }: ImportRequest): string {
  if (digest === null) return randomBytes(6).toString('hex');
  const hash = createHash('sha256').update(JSON.stringify([digest, tasks, user, CUTS]));
  return RESUMABLE + hash.digest('hex').slice(0, 16);
}

function isResumable(name: string): boolean {
  return name.split('.')[1]?.startsWith(RESUMABLE) === true;
}

function keptOf(failure: unknown): unknown {
  if (!(failure instanceof BackupError)) return failure;
  const { reason, message } = failure;
  return new BackupError(reason, `${message}; the same import goes on where this one ended, within a day`);
}

function summaryOf(run: ImportRun): ImportSummary {
  const { summary, changes, present } = run;
  return { ...summary, parts: changes, resumed: Math.min(present, changes) };
}
