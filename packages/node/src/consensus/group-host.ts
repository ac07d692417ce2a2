import { type LogStore, type LogView, StorageError } from '@althing/storage';
import { type Message, RaftAssertionError, type RaftOptions } from 'raft-ts';
import { ExitCode } from '../config/exit-codes.js';
import { DiskWatch } from './disk-watch.js';
import { LogWriter } from './log-writer.js';
import { decodeMembership } from './membership.js';
import type { Applied, Command, Event, GroupId } from './protocol.js';
import { type GroupContext, RaftGroup } from './raft-group.js';
import { hashBehind } from './raft-log.js';

export interface GroupHostOptions {
  readonly nodeId: number;
  readonly log: LogStore;
  readonly raft: Partial<RaftOptions>;
  /** A source of random 32-bit integers. */
  readonly random: () => number;
  readonly emit: (event: Event) => void;
  readonly transmit: (group: GroupId, messages: readonly Message[]) => void;
  /** Entries that stay in the log behind a checkpoint, for followers that are a little behind. */
  readonly logTail: number;
  /** Free space on the disk below which data must not grow; 0 for none. */
  readonly lowDiskBytes: number;
}

/**
 * Drives the Raft groups of a node: commands of the engine side, ticks, and messages of other nodes come in; durable
 * writes, messages and events go out. It has no clock and no I/O of its own.
 *
 * An error that nothing can be done about becomes the event `failed`; after that the host does nothing any more.
 */
export class GroupHost {
  private readonly options: GroupHostOptions;
  private readonly groups = new Map<GroupId, RaftGroup>();
  /** Groups whose log is being laid out. */
  private readonly opening = new Set<GroupId>();
  private readonly context: GroupContext;
  private readonly writer: LogWriter;
  private readonly disk: DiskWatch;
  private offices = 0;
  private stopping = false;
  private dead = false;

  constructor(options: GroupHostOptions) {
    this.options = options;
    const { log, emit, lowDiskBytes } = options;
    this.disk = new DiskWatch({
      lowBytes: lowDiskBytes,
      changed: (level, freeBytes) => emit({ kind: 'disk', level, freeBytes }),
    });
    this.writer = new LogWriter(log, {
      full: () => this.guarded(() => this.logFull()),
      room: () => this.disk.noteBlocked(false),
      failed: (error) => this.failed(error),
    });
    this.context = {
      nodeId: options.nodeId,
      view: (group) => log.view(group),
      writer: this.writer,
      options: options.raft,
      random: options.random,
      nextOffice: () => ++this.offices,
      emit,
      transmit: options.transmit,
      guarded: (work) => this.guarded(work),
    };
  }

  handle(command: Command): void {
    this.guarded(() => this.obey(command));
  }

  /** One tick of Raft's time for every group that is not asleep. */
  tick(): void {
    this.guarded(() => {
      this.options.log.tick();
      for (const group of this.groups.values()) if (!group.quiesced) group.tick();
    });
  }

  receive(group: GroupId, message: Message): void {
    this.guarded(() => this.groups.get(group)?.step(message));
  }

  /** So many bytes are free on the disk of the log. To be told now and then: what had no room is tried again. */
  noteFree(bytes: number): void {
    this.guarded(() => {
      this.disk.noteFree(bytes);
      this.writer.retry();
    });
  }

  status(group: GroupId): ReturnType<RaftGroup['status']> | undefined {
    return this.groups.get(group)?.status();
  }

  get groupIds(): GroupId[] {
    return [...this.groups.keys()];
  }

  get diskLevel(): DiskWatch['level'] {
    return this.disk.level;
  }

  get freeBytes(): number {
    return this.disk.freeBytes;
  }

  private obey(command: Command): void {
    switch (command.kind) {
      case 'stop':
        this.stopping = true;
        return;
      case 'open':
        this.open(command.group, command.applied, command.isNew);
        return;
      case 'drop':
        this.drop(command.group);
        return;
      case 'retain':
        this.retain(new Set(command.groups), command.below);
        return;
      default:
    }
    if (!('group' in command) || command.group === null) return;
    const group = this.groups.get(command.group);
    if (group === undefined) return;
    switch (command.kind) {
      case 'propose':
        group.propose(command.office, command.payloads);
        return;
      case 'mark':
        group.mark(command.office, command.id);
        return;
      case 'read':
        group.read(command.id);
        return;
      case 'applied':
        group.applied(command.index);
        return;
      case 'checkpointed':
        group.checkpointed(command.applied, this.options.logTail);
    }
  }

  private open(id: GroupId, applied: Applied, isNew: boolean): void {
    if (this.groups.has(id) || this.opening.has(id)) return;
    const view = this.options.log.view(id);
    const begin = (): void => {
      const group = new RaftGroup(id, this.context, applied);
      this.groups.set(id, group);
      group.start();
    };
    const { voters } = decodeMembership(applied.membership);
    const misfit = misfitOf(view, applied, { isNew, isAlone: voters.length === 1 });
    if (misfit !== null) throw new MisfitError(`group ${id}: ${misfit}`);
    if (view.hardState !== undefined && view.lastIndex >= applied.index) {
      begin();
      return;
    }
    // A new group, or a state that came from elsewhere: the log goes on behind it.
    const { index, term } = applied;
    this.opening.add(id);
    this.writer.append(
      [
        { kind: 'reset', group: id, index, term },
        {
          kind: 'hardState',
          group: id,
          term: Math.max(term, view.hardState?.term ?? 0),
          vote: 0,
          commit: index,
        },
      ],
      () => {
        if (this.opening.delete(id)) this.guarded(begin);
      },
    );
  }

  private drop(id: GroupId): void {
    const group = this.groups.get(id);
    group?.drop();
    this.groups.delete(id);
    this.opening.delete(id);
    this.writer.forget(id);
    this.writer.append([{ kind: 'drop', group: id }], () => {});
  }

  private retain(groups: ReadonlySet<GroupId>, below: GroupId): void {
    for (const id of this.options.log.groups()) if (id < below && !groups.has(id)) this.drop(id);
  }

  /** Who waits for the log is told at once that it will take a while. */
  private logFull(): void {
    this.disk.noteBlocked(true);
    for (const group of this.groups.values()) group.suspend();
  }

  private guarded(work: () => void): void {
    if (this.dead) return;
    try {
      work();
    } catch (error) {
      this.failed(error);
    }
  }

  private failed(error: unknown): void {
    if (this.dead || this.stopping) return;
    this.dead = true;
    const message = error instanceof Error ? error.message : String(error);
    this.options.emit({ kind: 'failed', failure: { message, exitCode: exitCodeOf(error) } });
  }
}

/** Log and state of a group do not belong together. */
class MisfitError extends Error {
  constructor(what: string) {
    super(
      `The log and the state do not fit together: ${what}. ` +
        'Restore the whole data folder from a backup, or move it away to begin anew.',
    );
  }
}

/**
 * Why a state can't go on with a log; null when it can. Both are sound by themselves here, but one of them may be missing,
 * or be an older copy.
 */
function misfitOf(
  view: LogView,
  applied: Applied,
  { isNew, isAlone }: { readonly isNew: boolean; readonly isAlone: boolean },
): string | null {
  const { index, hash } = applied;
  if (view.hardState === undefined) {
    return isNew ? null : `the state stands at entry ${index}, and the log knows nothing of it`;
  }
  if (view.firstIndex > index + 1) {
    return `the state stands at entry ${index}, and the log begins with entry ${view.firstIndex}`;
  }
  // Where others hold the log, a state that was sent by them may be ahead of it.
  if (view.lastIndex < index) {
    return isAlone
      ? `the state stands at entry ${index}, and the log ends with entry ${view.lastIndex}`
      : null;
  }
  const found = hashBehind(view, index);
  return found === null || found === hash
    ? null
    : `entry ${index} of the log is not the one that the state has`;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof MisfitError) return ExitCode.DataDamaged;
  if (error instanceof RaftAssertionError) return ExitCode.InvariantBroken;
  if (!(error instanceof StorageError)) return ExitCode.InvariantBroken;
  if (error.code.startsWith('damaged') || error.code === 'newer_format') return ExitCode.DataDamaged;
  return error.code === 'misuse' ? ExitCode.InvariantBroken : ExitCode.Fatal;
}
