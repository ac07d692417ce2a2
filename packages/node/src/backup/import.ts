import { randomBytes } from 'node:crypto';
import { FormatError, importerOf, importingName, type RootGroup, RootRestore } from '@althing/engine';
import { type GroupId, type NodeId, ROOT_GROUP } from '../between/protocol.js';
import type { GroupSession } from '../groups/group-session.js';
import { type BackupSummary, backupContents } from './contents.js';
import { BackupError } from './format.js';
import { type ImportedTasks, ImportRun, importedWith, type RunLimits } from './import-run.js';
import type { Staging } from './staging.js';

export interface ImportsOptions {
  readonly nodeId: NodeId;
  readonly root: RootGroup;
  readonly staging: Staging;
  readonly limits: RunLimits;
  readonly session: (group: GroupId) => GroupSession | undefined;
  readonly onFailure: (error: unknown) => void;
}

/** An import: the collection, and its user. */
export interface ImportRequest {
  /** Of the new collection; of a backup, also of the one that is taken from it. */
  readonly name: string;
  /** Id of the user who gets all privileges on it. */
  readonly user: number;
  readonly tasks: ImportedTasks;
}

/**
 * Puts a collection of an export or a backup into a cluster that serves. It is filled under a name that nothing can reach, and gets its
 * own in one change of the root scope when the whole stream was read and found right: until then there is no collection of that
 * name, and from then on all of it. What fails on the way is deleted again: at once, or by this node after its start, or by the
 * leader when this node is no member any more.
 */
export class Imports {
  /** Whether something is being deleted that an earlier import left. */
  private isClearing = false;

  constructor(private readonly options: ImportsOptions) {}

  /**
   * @throws BackupError, and what the source throws; `isUnfinished` when it is not known whether the collection is there
   */
  import({ name, user, tasks }: ImportRequest, source: AsyncIterable<Uint8Array>): Promise<BackupSummary> {
    const { nodeId, staging, root } = this.options;
    return staging.alone(async () => {
      const staged = importingName(nodeId, randomBytes(6).toString('hex'), name);
      const run = new ImportRun(
        staged,
        name,
        user,
        importedWith(tasks, user, (id) => root.users.has(id)),
      );
      try {
        return await this.importAll(run, source);
      } catch (error) {
        const failure =
          error instanceof FormatError
            ? new BackupError('damaged', `the file is damaged: ${error.message}`)
            : error;
        if (run.mayBeThere) await this.giveUp(run, failure);
        if (run.isComplete) return run.summary;
        throw failure;
      }
    });
  }

  /** Deletes what an import or a restore left that came to no end. To be called now and then. */
  consider(): void {
    const { root, nodeId, session, staging, onFailure } = this.options;
    if (staging.isBusy || this.isClearing) return;
    const leads = session(ROOT_GROUP)?.leading === true;
    for (const { name } of root.collections.values()) {
      const importer = importerOf(name);
      if (importer === null || (importer !== nodeId && !(leads && !root.members.has(importer)))) continue;
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

  private async importAll(run: ImportRun, source: AsyncIterable<Uint8Array>): Promise<BackupSummary> {
    const { staging } = this.options;
    const backup = new RootRestore();
    let wanted = -1;
    for await (const part of backupContents(source)) {
      switch (part.kind) {
        case 'head':
          run.head = part.head;
          await staging.freshen(ROOT_GROUP);
          this.assertTakes(run.name, part.head.level ?? 0);
          break;
        case 'group':
          if (run.head?.collection !== undefined) wanted = part.group;
          if (part.group === wanted) await staging.make(run);
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
      }
    }
    await staging.finish(run);
    return run.summary;
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
  private assertTakes(name: string, level: number): void {
    const refusal = this.options.staging.refusalOf(name);
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
      const why = failure instanceof Error ? failure.message : String(failure);
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
