import { DiskFullError, type LogStore } from '@althing/storage';
import type { Message, RaftOptions } from 'raft-ts';
import type { Applied, Command, Event, GroupId } from './protocol.js';
import { type GroupContext, RaftGroup } from './raft-group.js';

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
}

/**
 * Drives the Raft groups of a node: commands of the engine side, ticks, and messages of other nodes come in; durable
 * writes, messages and events go out. It has no clock and no I/O of its own.
 */
export class GroupHost {
  private readonly options: GroupHostOptions;
  private readonly groups = new Map<GroupId, RaftGroup>();
  private readonly context: GroupContext;
  private stopping = false;

  constructor(options: GroupHostOptions) {
    this.options = options;
    this.context = {
      nodeId: options.nodeId,
      log: options.log,
      options: options.raft,
      random: options.random,
      emit: options.emit,
      transmit: options.transmit,
      failed: (error) => this.failed(error),
    };
  }

  handle(command: Command): void {
    if (command.kind === 'stop') {
      this.stopping = true;
      return;
    }
    if (command.kind === 'open') {
      this.open(command.group, command.applied);
      return;
    }
    const group = this.groups.get(command.group);
    if (group === undefined) return;
    switch (command.kind) {
      case 'propose':
        group.propose(command.term, command.payloads);
        return;
      case 'mark':
        group.mark(command.term, command.id);
        return;
      case 'read':
        group.read(command.id);
        return;
      case 'applied':
        group.applied(command.index);
        return;
      case 'checkpointed':
        group.checkpointed(command.applied, this.options.logTail).catch((error) => this.failed(error));
        return;
      case 'drop':
        this.drop(group);
    }
  }

  /** One tick of Raft's time for every group that is not asleep. */
  tick(): void {
    this.options.log.tick();
    for (const group of this.groups.values()) if (!group.quiesced) group.tick();
  }

  receive(group: GroupId, message: Message): void {
    this.groups.get(group)?.step(message);
  }

  status(group: GroupId): ReturnType<RaftGroup['status']> | undefined {
    return this.groups.get(group)?.status();
  }

  get groupIds(): GroupId[] {
    return [...this.groups.keys()];
  }

  private open(id: GroupId, applied: Applied): void {
    if (this.groups.has(id)) return;
    const { log } = this.options;
    const view = log.view(id);
    const begin = (): void => {
      const group = new RaftGroup(id, this.context, applied);
      this.groups.set(id, group);
      group.start();
    };
    if (view.hardState !== undefined && view.lastIndex >= applied.index) {
      begin();
      return;
    }
    // A new group, or a state that came from elsewhere: the log goes on behind it.
    const { index, term } = applied;
    log.append(
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
      (error) => (error === undefined ? begin() : this.failed(error)),
    );
  }

  private drop(group: RaftGroup): void {
    group.drop();
    this.groups.delete(group.id);
    this.options.log.append([{ kind: 'drop', group: group.id }], (error) => {
      if (error !== undefined) this.failed(error);
    });
  }

  private failed(error: unknown): void {
    if (error instanceof DiskFullError) {
      this.options.emit({ kind: 'disk_full', full: true });
      return;
    }
    if (this.stopping) return;
    const message = error instanceof Error ? error.message : String(error);
    this.options.emit({ kind: 'failed', failure: { message: `the log: ${message}`, exitCode: 1 } });
  }
}
