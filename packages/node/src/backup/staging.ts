import {
  type CollectionInfo,
  changeRoot,
  FormatError,
  Privilege,
  type RootEditor,
  type RootGroup,
} from '@althing/engine';
import { type Clock, pause } from '../base/clock.js';
import { type GroupId, type NodeId, ROOT_GROUP } from '../between/protocol.js';
import { CallError, CallKind, type Calls } from '../calls/calls.js';
import type { Config } from '../config/index.js';
import type { GroupSession } from '../groups/group-session.js';
import { DISK_FULL, DISK_LOW } from '../groups/refusals.js';
import { BackupError } from './format.js';
import { type ImportRun, NOTHING, type Order, readOrder, Step, writeOrder } from './import-run.js';

export interface StagingOptions {
  readonly nodeId: NodeId;
  readonly root: RootGroup;
  readonly calls: Calls;
  readonly limits: Pick<Config, 'maxCollections'>;
  readonly session: (group: GroupId) => GroupSession | undefined;
  /** The nodes that vote in the group of a new collection. */
  readonly voters: () => readonly NodeId[];
  /** Writes a checkpoint of a group if there is much to write. */
  readonly unload: (session: GroupSession) => Promise<void>;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  readonly clock: Pick<Clock, 'now' | 'after'>;
}

/** Time for one step, elections included, in milliseconds. */
const WAIT_MS = 60_000;
const PAUSE_MS = 50;

/** Time that a restore waits for the level of a new cluster, in milliseconds. */
const LEVEL_WAIT_MS = 10_000;

const CALL_TIMEOUT_MS = 10_000;

/** The outcome of a step; `later` when it is not known, or could not be done now. */
export type Verdict = 'done' | 'later' | { readonly refused: string };

/**
 * Fills new collections of a cluster that serves, under names that nothing can reach, by changes of their groups like any others. What
 * becomes of them then is for who fills them: an import, or the restore of a backup.
 *
 * Each change that fills one says how many were made before it, and the leader makes it at that place alone: so what is sent
 * twice, because its answer was lost, is made once, and never comes late.
 */
export class Staging {
  private isTaken = false;
  private isStopped = false;

  constructor(private readonly options: StagingOptions) {
    this.serve(CallKind.Import, (payload) => this.perform(readOrder(payload)));
  }

  /** True if collections are being filled through this node. */
  get isBusy(): boolean {
    return this.isTaken;
  }

  /**
   * Does what fills collections, one at a time on each node.
   *
   * @throws BackupError busy, and what the work throws
   */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.isTaken) {
      throw new BackupError(
        'busy',
        'a collection is being imported, or a backup restored, through this node already',
      );
    }
    this.isTaken = true;
    try {
      return await work();
    } finally {
      this.isTaken = false;
    }
  }

  /** Whatever is waited for ends: the node goes down. */
  stop(): void {
    this.isStopped = true;
  }

  /**
   * Why no collection can be filled; null when one can.
   *
   * @param name that it is to have, beside all others; null when it is to take their place
   * @param isBegun whether it is one of the collections already
   */
  refusalOf(name: string | null, isBegun = false): string | null {
    const { root, limits } = this.options;
    if (root.restoring !== '') return 'a backup is being restored: try again when that is done';
    if (name !== null && root.collectionsByName.has(name))
      return `there is a collection '${name}' already: an import makes a new one, so give another name, or rename or delete that one`;
    if (name !== null && !isBegun && root.collections.size >= limits.maxCollections)
      return `there are ${root.collections.size} collections, the most that max_collections allows`;
    return null;
  }

  /**
   * Makes the collection of a run.
   *
   * @param least of its number; for one that takes the place of others, whose names and number do not matter. 0 for an import
   */
  async make(run: ImportRun, least = 0): Promise<void> {
    const { root } = this.options;
    run.mayBeThere = true;
    await this.insist(async () => {
      if (!(await this.ask(ROOT_GROUP, run.order(Step.MAKE, least)))) return false;
      await this.freshen(ROOT_GROUP);
      return root.collectionsByName.has(run.staged);
    });
    run.group = root.collectionsByName.get(run.staged)?.id ?? 0;
  }

  /** Takes over what an earlier run filled with the same file, maybe through another node: it goes on where that one ended. */
  async resume(run: ImportRun, begun: CollectionInfo): Promise<void> {
    const { root, session } = this.options;
    run.mayBeThere = true;
    run.group = begun.id;
    const order = { ...run.order(Step.FINISH), staged: begun.name, name: run.staged };
    await this.insist(async () => {
      if (root.collections.get(begun.id)?.name === run.staged) return true;
      await this.ask(ROOT_GROUP, order);
      await this.freshen(ROOT_GROUP);
      return false;
    });
    await this.freshen(run.group);
    run.present = session(run.group)?.group.changeCount ?? 0;
  }

  /** Makes changes of the collection of a run, one after the other, but for those that are there. */
  async put(run: ImportRun, changes: Iterable<Uint8Array>): Promise<void> {
    for (const effects of changes) {
      if (run.changes < run.present) {
        run.changes += 1;
        continue;
      }
      await this.insist(async () => {
        if (this.options.root.collections.get(run.group)?.name !== run.staged)
          throw new BackupError('refused', FILLED_NO_MORE);
        return this.ask(run.group, run.order(Step.PUT, run.changes, effects));
      });
      run.changes += 1;
    }
  }

  /** Gives the collection of a run its own name, and its user all privileges on it. */
  async finish(run: ImportRun): Promise<void> {
    run.isNaming = true;
    await this.insist(async () => {
      if (!(await this.ask(ROOT_GROUP, run.order(Step.FINISH, run.user)))) return false;
      await this.freshen(ROOT_GROUP);
      return this.isNamed(run);
    });
    run.isComplete = true;
  }

  isNamed({ group, name }: ImportRun): boolean {
    return this.options.root.collections.get(group)?.name === name;
  }

  /** Deletes a collection that is being filled. */
  async drop(staged: string): Promise<void> {
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
  async insist(attempt: () => Promise<boolean>): Promise<void> {
    if (await this.isDoneWithin(WAIT_MS, attempt)) return;
    throw new BackupError('busy', 'the cluster has no majority: try again');
  }

  /** A new cluster gets to its level as soon as its nodes have told each other what they know: waits for that, a while. */
  async awaitLevel(): Promise<void> {
    const { root } = this.options;
    await this.isDoneWithin(LEVEL_WAIT_MS, async () => root.level >= root.knownLevel);
  }

  private async isDoneWithin(ms: number, attempt: () => Promise<boolean>): Promise<boolean> {
    const { clock } = this.options;
    const end = clock.now() + ms;
    while (!(await attempt())) {
      if (this.isStopped) throw new BackupError('busy', 'the node is shutting down');
      if (clock.now() > end) return false;
      await pause(clock, PAUSE_MS);
    }
    return true;
  }

  /** Waits until the state of a group here has everything that was acknowledged. */
  async freshen(group: GroupId): Promise<void> {
    const { session } = this.options;
    await this.insist(async () => {
      const own = session(group);
      return own !== undefined && (await new Promise<boolean>((resolve) => own.readIndex(resolve)));
    });
  }

  private ask(group: GroupId, order: Order): Promise<boolean> {
    return this.askLeader(
      group,
      CallKind.Import,
      () => writeOrder(order),
      () => this.perform(order),
    );
  }

  /**
   * Has something done, wherever a group is led.
   *
   * @param payload of the question to another node
   * @param here does it, if this node leads
   * @returns false when it has to be tried again
   * @throws BackupError when it is refused
   */
  async askLeader(
    group: GroupId,
    kind: CallKind,
    payload: () => Uint8Array,
    here: () => Promise<Verdict> | Verdict,
  ): Promise<boolean> {
    const { session, nodeId } = this.options;
    const own = session(group);
    if (own?.leading === true) return isDone(await here());
    const leader = own?.leader ?? 0;
    if (leader === 0 || leader === nodeId) return false;
    return isDone(await this.askOther(leader, kind, payload()));
  }

  /** Answers questions of other nodes that `askLeader` sends. */
  serve(kind: CallKind, perform: (payload: Uint8Array) => Promise<Verdict> | Verdict): void {
    this.options.calls.serve(kind, async (_from, payload) => {
      const verdict = await perform(payload);
      if (verdict === 'later') throw new Error('not the leader, or not now');
      return verdict === 'done' ? NOTHING : Buffer.from(verdict.refused);
    });
  }

  private async askOther(leader: NodeId, kind: CallKind, payload: Uint8Array): Promise<Verdict> {
    try {
      const answer = await this.options.calls.call(leader, kind, payload, CALL_TIMEOUT_MS);
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

  private makeHere({ staged, name, number }: Order, session: GroupSession): Promise<Verdict> | Verdict {
    const { root, now, voters } = this.options;
    if (root.collectionsByName.has(staged)) return 'done';
    const refused = this.refusalOf(number === 0 ? name : null);
    if (refused !== null) return { refused };
    const { deep, timeZone } = root.defaults.thingsdb;
    const made = {
      id: Math.max(root.nextId, number),
      name: staged,
      createdAt: Math.floor(now() / 1000),
      deep,
      timeZone,
    };
    return this.changeRootHere(session, (editor) => editor.putCollection({ ...made, members: voters() }));
  }

  private finishHere(
    { staged, name, group, number }: Order,
    session: GroupSession,
  ): Promise<Verdict> | Verdict {
    const { root } = this.options;
    const info = root.collections.get(group);
    if (info?.name === name) return 'done';
    if (info?.name !== staged) return { refused: FILLED_NO_MORE };
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

const FILLED_NO_MORE =
  'the collection was deleted while it was being filled, or somebody goes on with it through another node';

const DROP: Order = { step: Step.DROP, staged: '', name: '', group: 0, number: 0, effects: NOTHING };

function isDone(verdict: Verdict): boolean {
  if (typeof verdict === 'object') throw new BackupError('refused', verdict.refused);
  return verdict === 'done';
}
