import { randomBytes } from 'node:crypto';
import {
  changeRoot,
  FormatError,
  importerOf,
  importingName,
  LEVEL_OF_PROGRAMS,
  Privilege,
  type RootEditor,
  type RootGroup,
  RootRestore,
} from '@althing/engine';
import { type GroupId, type NodeId, ROOT_GROUP } from '../../between/protocol.js';
import type { GroupSession } from '../../groups/group-session.js';
import { DISK_FULL, DISK_LOW } from '../../groups/refusals.js';
import { CallError, CallKind, type Calls } from '../../members/calls.js';
import { type BackupSummary, backupContents } from './contents.js';
import { BackupError } from './format.js';
import { ImportRun, NOTHING, type Order, readOrder, Step, writeOrder } from './import-run.js';

export interface ImportsOptions {
  readonly nodeId: NodeId;
  readonly root: RootGroup;
  readonly calls: Calls;
  readonly maxCollections: number;
  readonly maxProcedures: number;
  readonly session: (group: GroupId) => GroupSession | undefined;
  /** The nodes that vote in the group of a new collection. */
  readonly voters: () => readonly NodeId[];
  /** Writes a checkpoint of a group if there is much to write. */
  readonly unload: (session: GroupSession) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly delay: (ms: number, callback: () => void) => void;
}

/** How long one step may take, elections included, in milliseconds. */
const WAIT_MS = 60_000;
const PAUSE_MS = 50;

const CALL_TIMEOUT_MS = 10_000;

/** What became of a step; `later` when it is not known, or could not be done now. */
type Verdict = 'done' | 'later' | { readonly refused: string };

/**
 * Puts a collection of an export or a backup into a cluster that serves. It is made under a name that nothing can reach,
 * filled by changes of its group like any others, and gets its own name in one change of the root scope when the whole
 * stream was read and found right: until then there is no collection of that name, and from then on all of it. What
 * fails on the way is deleted again: at once, or by this node after its start, or by the leader when this node is
 * no member any more.
 *
 * Each change that fills it says how many were made before it, and the leader makes it at that place alone: so what is sent
 * twice, because its answer was lost, is made once, and never comes late.
 */
export class Imports {
  private readonly options: ImportsOptions;
  private busy = false;
  /** Whether something is being deleted that an earlier import left. */
  private isClearing = false;

  constructor(options: ImportsOptions) {
    this.options = options;
    options.calls.serve(CallKind.Import, async (_from, payload) => {
      const verdict = await this.perform(readOrder(payload));
      if (verdict === 'later') throw new Error('not the leader, or not now');
      return verdict === 'done' ? NOTHING : Buffer.from(verdict.refused);
    });
  }

  /**
   * @param name of the new collection; of a backup, also of the one that is taken from it
   * @param user who gets all privileges on it
   * @throws BackupError, and what the source throws; `isUnfinished` when it is not known whether the collection is there
   */
  async import(name: string, user: number, source: AsyncIterable<Uint8Array>): Promise<BackupSummary> {
    if (this.busy) throw new BackupError('busy', 'a collection is being imported through this node already');
    this.busy = true;
    const { nodeId } = this.options;
    const run = new ImportRun(importingName(nodeId, randomBytes(6).toString('hex'), name), name, user);
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
    } finally {
      this.busy = false;
    }
  }

  /** Deletes what an import left that came to no end. To be called now and then. */
  consider(): void {
    const { root, nodeId, session, onFailure } = this.options;
    if (this.busy || this.isClearing || root.restoring !== '') return;
    const leads = session(ROOT_GROUP)?.leading === true;
    for (const { name } of root.collections.values()) {
      const importer = importerOf(name);
      if (importer === null || (importer !== nodeId && !(leads && !root.members.has(importer)))) continue;
      this.isClearing = true;
      this.drop(name)
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
    const backup = new RootRestore();
    let wanted = -1;
    for await (const part of backupContents(source)) {
      switch (part.kind) {
        case 'head':
          run.head = part.head;
          await this.freshen(ROOT_GROUP);
          this.assertTakes(run.name, part.head.level ?? 0);
          break;
        case 'group':
          if (run.head?.collection !== undefined) wanted = part.group;
          if (part.group === wanted) await this.make(run);
          break;
        case 'records':
          for (const record of part.records) {
            if (part.group === ROOT_GROUP) backup.add(record);
            else if (part.group === wanted)
              await this.putAll(run, run.add(record, this.options.maxProcedures));
          }
          break;
        case 'complete':
          if (part.group === ROOT_GROUP) wanted = this.wantedOf(backup, run.name);
          else if (part.group === wanted) await this.putAll(run, run.end());
      }
    }
    await this.finish(run);
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
    const refusal = this.refusalOf(name);
    if (refusal !== null) throw new BackupError('refused', refusal);
    const { root } = this.options;
    if (level > root.level) {
      throw new BackupError(
        'refused',
        `the export was taken of a cluster at level ${level}, and this one works at level ${root.level}: it can take it when all of its nodes run the newer version`,
      );
    }
  }

  /** Why no collection of a name can be imported; null when one can. */
  private refusalOf(name: string): string | null {
    const { root, maxCollections } = this.options;
    if (root.restoring !== '') return 'a backup is being restored: try again when that is done';
    if (root.collectionsByName.has(name))
      return `there is a collection '${name}' already: an import makes a new one, so give another name, or rename or delete that one`;
    if (root.collections.size >= maxCollections)
      return `there are ${root.collections.size} collections, the most that max_collections allows`;
    return root.level < LEVEL_OF_PROGRAMS
      ? 'collections can be imported when all nodes of the cluster run a version that knows it'
      : null;
  }

  private async make(run: ImportRun): Promise<void> {
    const { root } = this.options;
    run.mayBeThere = true;
    await this.insist(async () => {
      if (!(await this.ask(ROOT_GROUP, run.order(Step.MAKE)))) return false;
      await this.freshen(ROOT_GROUP);
      return root.collectionsByName.has(run.staged);
    });
    run.group = root.collectionsByName.get(run.staged)?.id ?? 0;
  }

  private async putAll(run: ImportRun, changes: Iterable<Uint8Array>): Promise<void> {
    for (const effects of changes) {
      await this.insist(async () => {
        if (this.options.root.collections.get(run.group)?.name !== run.staged)
          throw new BackupError('refused', 'the collection was deleted while it was being imported');
        return this.ask(run.group, run.order(Step.PUT, run.changes, effects));
      });
      run.changes += 1;
    }
  }

  private async finish(run: ImportRun): Promise<void> {
    await this.insist(async () => {
      if (!(await this.ask(ROOT_GROUP, run.order(Step.FINISH, run.user)))) return false;
      await this.freshen(ROOT_GROUP);
      return this.isNamed(run);
    });
    run.isComplete = true;
  }

  private isNamed({ group, name }: ImportRun): boolean {
    return this.options.root.collections.get(group)?.name === name;
  }

  /** After a failure: nothing is left of it, unless its last change had been made all the same. */
  private async giveUp(run: ImportRun, failure: unknown): Promise<void> {
    try {
      await this.drop(run.staged);
      run.isComplete = run.group !== 0 && this.isNamed(run);
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

  /** Deletes a collection that is being imported. */
  private async drop(staged: string): Promise<void> {
    const { root } = this.options;
    await this.insist(async () => {
      await this.freshen(ROOT_GROUP);
      const found = root.collectionsByName.get(staged);
      if (found === undefined) return true;
      await this.ask(ROOT_GROUP, { ...DROP, staged, group: found.id });
      return false;
    });
  }

  /** Tries something until it is done. */
  private async insist(attempt: () => Promise<boolean>): Promise<void> {
    const { monotonic } = this.options;
    const end = monotonic() + WAIT_MS;
    while (!(await attempt())) {
      if (monotonic() > end) throw new BackupError('busy', 'the cluster has no majority: try again');
      await this.pause();
    }
  }

  /** Waits until the state of a group here has everything that was acknowledged. */
  private async freshen(group: GroupId): Promise<void> {
    const { session } = this.options;
    await this.insist(async () => {
      const own = session(group);
      return own !== undefined && (await new Promise<boolean>((resolve) => own.readIndex(resolve)));
    });
  }

  private pause(): Promise<void> {
    return new Promise((resolve) => this.options.delay(PAUSE_MS, resolve));
  }

  /**
   * Has a step done, wherever the group is led.
   *
   * @returns false when it has to be tried again
   * @throws BackupError when it is refused
   */
  private async ask(group: GroupId, order: Order): Promise<boolean> {
    const { session, nodeId } = this.options;
    const own = session(group);
    if (own?.leading === true) return isDone(await this.perform(order));
    const leader = own?.leader ?? 0;
    if (leader === 0 || leader === nodeId) return false;
    return isDone(await this.askOther(leader, order));
  }

  private async askOther(leader: NodeId, order: Order): Promise<Verdict> {
    try {
      const answer = await this.options.calls.call(
        leader,
        CallKind.Import,
        writeOrder(order),
        CALL_TIMEOUT_MS,
      );
      return answer.length === 0 ? 'done' : { refused: Buffer.from(answer).toString('utf8') };
    } catch (error) {
      if (error instanceof CallError) return 'later';
      throw error;
    }
  }

  /** Does a step here, if this node leads. */
  private perform(order: Order): Promise<Verdict> | Verdict {
    const { step, group } = order;
    const session = this.options.session(step === Step.PUT ? group : ROOT_GROUP);
    if (session?.proposes !== true) return 'later';
    switch (step) {
      case Step.MAKE:
        return this.makeHere(order, session);
      case Step.PUT:
        return this.putHere(order, session);
      case Step.FINISH:
        return this.finishHere(order, session);
      case Step.DROP:
        return this.dropHere(order, session);
      default:
        throw new FormatError(`the step ${step} of an import is not known`);
    }
  }

  private makeHere({ staged, name }: Order, session: GroupSession): Promise<Verdict> | Verdict {
    const { root, now, voters } = this.options;
    if (root.collectionsByName.has(staged)) return 'done';
    const refused = this.refusalOf(name);
    if (refused !== null) return { refused };
    const { deep, timeZone } = root.defaults.thingsdb;
    const made = { id: root.nextId, name: staged, createdAt: Math.floor(now() / 1000), deep, timeZone };
    return this.changeRootHere(session, (editor) => editor.putCollection({ ...made, members: voters() }));
  }

  private finishHere(
    { staged, name, group, number }: Order,
    session: GroupSession,
  ): Promise<Verdict> | Verdict {
    const { root } = this.options;
    const info = root.collections.get(group);
    if (info?.name === name) return 'done';
    if (info?.name !== staged) return { refused: 'the collection was deleted while it was being imported' };
    if (root.collectionsByName.has(name))
      return { refused: `a collection '${name}' was made while this one was being imported` };
    return this.changeRootHere(session, (editor) => {
      editor.putCollection({ ...info, name });
      if (root.users.has(number)) editor.setAccess(group, number, Privilege.FULL);
    });
  }

  private dropHere({ staged, group }: Order, session: GroupSession): Promise<Verdict> | Verdict {
    const info = this.options.root.collections.get(group);
    if (info?.name !== staged) return 'done';
    return this.changeRootHere(session, (editor) => editor.deleteCollection(info));
  }

  private async putHere({ staged, group, number, effects }: Order, session: GroupSession): Promise<Verdict> {
    const { root, unload } = this.options;
    if (root.collections.get(group)?.name !== staged) return 'later';
    // Nothing else changes the collection, and the last of these changes raises the number above all of theirs.
    if (session.group.changeCount > number) return 'done';
    const refusal = session.refusal();
    if (refusal === DISK_FULL || refusal === DISK_LOW) return { refused: refusal.message };
    if (refusal !== null || session.group.changeCount < number) return 'later';
    if (!(await new Promise<boolean>((resolve) => session.impose(effects, resolve)))) return 'later';
    await unload(session);
    return 'done';
  }

  private changeRootHere(
    session: GroupSession,
    edit: (editor: RootEditor) => void,
  ): Promise<Verdict> | Verdict {
    if (session.refusal() !== null) return 'later';
    const { root } = this.options;
    const change = changeRoot(root, edit);
    const collectionEvents = root.collectionEvents.splice(0);
    return new Promise((resolve) => {
      session.propose({ ...change, collectionEvents }, { ok: true, result: '' }, ({ ok }) =>
        resolve(ok ? 'done' : 'later'),
      );
    });
  }
}

const DROP: Order = { step: Step.DROP, staged: '', name: '', group: 0, number: 0, effects: NOTHING };

function isDone(verdict: Verdict): boolean {
  if (typeof verdict === 'object') throw new BackupError('refused', verdict.refused);
  return verdict === 'done';
}
