/** Planted bugs of the node, put between its parts: nothing of them is in the code that runs in production. */
import {
  ByteWriter,
  CollectionGroup,
  type Engine,
  ErrorCode,
  type Group,
  type RoomEvent,
  RootGroup,
  type TaskState,
} from '@althing/engine';
import {
  ANSWER_HEAD_BYTES,
  type Applied,
  CallKind,
  type Command,
  type CommittedEntry,
  decodeAnswer,
  decodeRequest,
  type EngineSide,
  type Event,
  encodeAnswer,
  encodeRequest,
  type ForwardedRequest,
  type GroupId,
  type GroupSession,
  type NodeId,
  type Reply,
  ROOT_GROUP,
  SessionRecord,
  type SessionTable,
  type TableCapture,
} from '@althing/node/parts';
import { plantInExpiry } from './expiry-bugs.js';
import { plantInFeeds } from './feed-bugs.js';
import { plantInIndexes } from './index-bugs.js';
import { plantCursorInMemory, plantInJobs } from './job-bugs.js';
import type { NodeMutant } from './node-mutant-names.js';

export interface NodeBugsOptions {
  readonly on: ReadonlySet<NodeMutant>;
  readonly nodeId: NodeId;
  readonly wallClock: () => number;
  /** Does something on the engine thread after some milliseconds. */
  readonly delay: (ms: number, work: () => void) => void;
  /** Tells those who listen what happened. */
  readonly tell: (session: GroupSession, events: readonly RoomEvent[]) => void;
}

/** The delay of a late capture, in milliseconds. */
const LATE_MS = 5;

/** The seams of one process at which bugs are planted. */
export class NodeBugs {
  private readonly on: ReadonlySet<NodeMutant>;
  private readonly nodeId: NodeId;
  private readonly wallClock: () => number;
  private readonly delay: (ms: number, work: () => void) => void;
  private readonly tell: NodeBugsOptions['tell'];
  private readonly epochs = new Map<GroupId, number>();
  private readonly planted = new WeakSet<object>();
  private readonly sessions = new Map<GroupId, GroupSession>();
  private nextSequence = SEQUENCES_OF_BUGS;
  /** Forwarded requests that are not answered: who asked, and the number of the call. */
  private readonly forwarded = new Set<string>();

  constructor({ on, nodeId, wallClock, delay, tell }: NodeBugsOptions) {
    this.on = on;
    this.nodeId = nodeId;
    this.wallClock = wallClock;
    this.delay = delay;
    this.tell = tell;
  }

  /** The commands that reach the consensus side in the place of one. */
  commands(command: Command): Command[] {
    const { on } = this;
    if (on.size === 0) return [command];
    const early = on.has('prepared_answer_before_commit') ? preparedOf(command) : [];
    return [...early, this.command(command)];
  }

  private command(command: Command): Command {
    const { on } = this;
    const epoch = 'group' in command && command.group !== null ? this.epochs.get(command.group) : undefined;
    if (command.kind === 'propose' && epoch !== undefined && on.has('lost_epoch_proposes')) {
      return { ...command, epoch };
    }
    if (command.kind === 'call' && on.has('forwarded_again_as_new')) {
      const sequence = this.nextSequence++;
      return {
        ...command,
        payload: changedRequest(command.payload, (request) => ({ ...request, sequence })),
      };
    }
    if (command.kind === 'read_log' && on.has('feed_uncommitted')) {
      return { ...command, upTo: Number.MAX_SAFE_INTEGER };
    }
    if (command.kind === 'call' && on.has('undecided_not_sent')) {
      return {
        ...command,
        payload: changedRequest(command.payload, (request) => ({ ...request, undecided: false })),
      };
    }
    if (command.kind === 'return' && on.has('lost_told_as_undone')) {
      const isForwarded = this.forwarded.delete(`${command.to} ${command.id}`);
      return isForwarded ? { ...command, payload: undone(command.payload) } : command;
    }
    return command;
  }

  /** Notes what the consensus side says. */
  emitted(event: Event): void {
    if (event.kind === 'leading') this.epochs.set(event.group, event.epoch);
    else if (event.kind === 'following') this.epochs.delete(event.group);
  }

  /** The event that reaches the engine side in the place of one, null for none. */
  event(event: Event, send: (command: Command) => void): Event | null {
    const { on } = this;
    if (on.size === 0) return event;
    if (event.kind === 'read' && event.index !== null && on.has('read_before_applied')) {
      return { ...event, index: 0 };
    }
    if (event.kind === 'log_read' && event.part !== null && on.has('feed_skips_entry')) {
      const { entries } = event.part;
      return { ...event, part: { ...event.part, entries: entries.length > 1 ? entries.slice(1) : entries } };
    }
    if (event.kind === 'invited' && on.has('invitation_stays')) {
      const { node: _member, ...rest } = event;
      return rest;
    }
    if (event.kind === 'marked' && on.has('log_cut_before_checkpoint')) {
      send({
        kind: 'checkpointed',
        group: event.group,
        applied: event.applied,
        keptFrom: event.applied.index,
      });
    }
    if (event.kind === 'called' && event.payload[0] === CallKind.Forward && on.has('lost_told_as_undone')) {
      this.forwarded.add(`${event.from} ${event.id}`);
    }
    if (event.kind === 'membership' && on.has('membership_not_stored')) return null;
    if (event.kind === 'entries' && on.has('error_swallowed_in_apply')) {
      return { ...event, entries: event.entries.filter((entry) => !this.fails(entry)) };
    }
    return event;
  }

  private fails({ index }: CommittedEntry): boolean {
    return (index * 31 + this.nodeId) % 16 === 0;
  }

  /** Changes what a node tells its clients, before it is used. */
  side(
    { rooms, feeds }: EngineSide,
    hashAt: (collection: string, index: number) => number | undefined,
  ): void {
    if (this.on.has('gap_not_told')) rooms.replaced = () => {};
    plantInFeeds(feeds, this.on, hashAt);
  }

  /** Changes a session, and what it holds, before it is used. */
  session(session: GroupSession): void {
    if (this.on.size === 0) return;
    this.sessions.set(session.id, session);
    if (!this.planted.has(session.table)) {
      this.planted.add(session.table);
      this.changeTable(session.table);
    }
    if (!this.planted.has(session.group)) {
      this.planted.add(session.group);
      this.changeGroup(session.group);
    }
    if (this.planted.has(session)) return;
    this.planted.add(session);
    this.changeSession(session);
  }

  /** Changes how tasks run, and things expire. */
  engine(engine: Engine): void {
    if (this.on.has('job_cursor_in_memory')) {
      plantCursorInMemory(engine, (id) => {
        const group = this.sessions.get(id)?.group;
        return group instanceof CollectionGroup ? group : null;
      });
    }
    plantInExpiry(engine, this.on, this.nodeId);
    if (!this.on.has('task_ended_apart')) return;
    const runTask = engine.taskRuns.run.bind(engine.taskRuns);
    engine.taskRuns.run = (target, id, options) => {
      const session = typeof target === 'number' ? this.sessions.get(target) : undefined;
      const before = session?.group.tasks.find(id);
      const outcome = runTask(target, id, options);
      if (outcome.kind !== 'done' || outcome.change === null) return outcome;
      if (session === undefined || before === undefined || session.group.tasks.stateOf(id) !== undefined)
        return outcome;
      const { effects } = outcome.change;
      const end = deletionOf(id);
      const rest = effects.slice(0, effects.length - end.length);
      if (!Buffer.from(effects.subarray(rest.length)).equals(end)) return outcome;
      session.group.tasks.put(before);
      this.delay(APART_MS, () => endTask(session, before));
      return { ...outcome, change: { ...outcome.change, effects: rest } };
    };
  }

  private changeTable(table: SessionTable): void {
    const { on, wallClock } = this;
    if (on.has('retry_made_twice')) table.find = () => ({ kind: 'new' });
    if (on.has('key_made_twice')) table.findKey = () => ({ kind: 'new' });
    if (on.has('number_made_twice')) table.findClient = () => ({ kind: 'new' });
    if (on.has('failed_future_made_again')) {
      const [find, findKey, findClient] = [
        table.find.bind(table),
        table.findKey.bind(table),
        table.findClient.bind(table),
      ];
      table.find = (name) => withoutFailure(find(name));
      table.findKey = (key) => withoutFailure(findKey(key));
      table.findClient = (name) => withoutFailure(findClient(name));
    }
    if (on.has('map_order_stored')) {
      const note = table.note.bind(table);
      const order = new Set<NodeId>();
      table.note = (head) => {
        if (head.request !== null) order.add(head.request.origin);
        note(head);
      };
      const capture = table.capture.bind(table);
      table.capture = () => inOrder(capture(), order);
    }
    if (on.has('results_by_local_clock')) {
      const note = table.note.bind(table);
      table.note = (head) => note({ ...head, time: Math.floor(wallClock()) });
    }
  }

  private changeGroup(group: Group): void {
    const { on } = this;
    const { dirty } = group;
    if (group instanceof RootGroup && on.has('ended_sessions_stay')) {
      const { sessions } = group;
      const set = sessions.set.bind(sessions);
      sessions.set = (userId, all) => {
        if ((all?.length ?? 0) >= sessions.of(userId).length) set(userId, all);
      };
    }
    if (group instanceof CollectionGroup) {
      plantInIndexes(group, on);
      plantInJobs(group, on);
    }
    if (on.has('tasks_not_taken_up')) group.tasks.all = () => [];
    if (on.has('frozen_not_copied')) {
      const freeze = dirty.freeze.bind(dirty);
      dirty.freeze = () => freeze(() => {});
    }
    if (on.has('evicted_while_frozen')) Object.defineProperty(dirty, 'freezing', { get: () => false });
    if (on.has('failed_checkpoint_forgotten')) group.abandonCheckpoint = () => dirty.release();
  }

  /** Checkpoints that capture some of what they hold when they are half done. */
  private captureLate(session: GroupSession): void {
    const { on } = this;
    if (on.has('results_captured_late')) {
      const capture = session.captureTable.bind(session);
      session.captureTable = (done) => this.delay(LATE_MS, () => capture(done));
    }
    const mark = session.mark.bind(session);
    if (on.has('index_captured_late')) {
      session.mark = (reached, lost, placed) => this.delay(LATE_MS, () => mark(reached, lost, placed));
    }
    if (on.has('membership_captured_late')) {
      session.mark = (reached, lost, placed) =>
        mark(
          (applied) => {
            const again = (later: Applied): void => reached({ ...applied, membership: later.membership });
            this.delay(LATE_MS, () => mark(again, lost));
          },
          lost,
          placed,
        );
    }
  }

  private changeSession(session: GroupSession): void {
    const { on } = this;
    this.captureLate(session);
    if (on.has('results_not_in_checkpoints')) {
      session.captureTable = (done) => done({ write: () => {}, written: () => {} });
    }
    const believesItself = session.id === ROOT_GROUP && on.has('rights_not_doubted');
    if (believesItself || on.has('read_without_asking')) session.readIndex = (done) => done(true);
    const propose = session.propose.bind(session);
    if (on.has('answer_before_commit')) {
      session.propose = (change, reply, respond, names) => {
        const refused = propose(change, reply, () => {}, names);
        respond(reply);
        return refused;
      };
    } else if (on.has('refusals_not_kept')) {
      session.propose = (change, reply, respond, names, ...rest) => {
        if (reply.ok || reply.sealed !== true) return propose(change, reply, respond, names, ...rest);
        respond(reply);
        return null;
      };
    } else if (on.has('no_undo')) {
      session.propose = (change, reply, respond, names) =>
        propose({ ...change, undo: [] }, reply, respond, names);
    } else if (on.has('event_before_commit')) {
      session.propose = (change, reply, respond, names, secret) => {
        this.tell(session, change.roomEvents ?? []);
        return propose({ ...change, roomEvents: [] }, reply, respond, names, secret);
      };
    } else if (on.has('event_of_change_taken_back')) {
      session.propose = (change, reply, respond, names, secret) => {
        const tell = (): void => this.tell(session, change.roomEvents ?? []);
        return propose({ ...change, undo: [tell, ...change.undo] }, reply, respond, names, secret);
      };
    } else if (on.has('names_not_in_entries')) {
      session.propose = (change, reply, respond) => propose(change, reply, respond);
    } else if (on.has('future_before_query')) {
      this.proposeQueriesLate(session);
    }
  }

  /** Proposes a change behind which futures come when the next one is on its way. */
  private proposeQueriesLate(session: GroupSession): void {
    const propose = session.propose.bind(session);
    let held = (): void => {};
    const release = (): void => {
      const late = held;
      held = () => {};
      late();
    };
    session.propose = (change, reply, respond, names, secret) => {
      if (hasMore(reply)) {
        release();
        held = () => propose(change, reply, respond, names, secret);
        this.delay(LATE_MS, release);
        return null;
      }
      const refused = propose(change, reply, respond, names, secret);
      release();
      return refused;
    };
  }
}

/** True if an answer is that of a part of a request, in case that the rest does not follow. */
function hasMore(reply: Reply): boolean {
  return !reply.ok && reply.outcome === 'made' && reply.error.code === ErrorCode.CANCELLED;
}

type Found = ReturnType<SessionTable['find']>;

/** The same, except that a request that failed behind a change is not known. */
function withoutFailure(found: Found): Found {
  return found.kind === 'reply' && found.reply.kind === 'failure' ? { kind: 'new' } : found;
}

/** Time for which a task is there after its run that should be gone with it, in milliseconds. */
const APART_MS = 300;

/** The effect that deletes a task. */
const DELETE_TASK = 0x26;

function deletionOf(id: number): Uint8Array {
  const out = new ByteWriter();
  out.u8(DELETE_TASK);
  out.varint(id);
  return out.take();
}

/** Deletes a task in a change of its own. */
function endTask(session: GroupSession, state: TaskState): void {
  const { group } = session;
  const { tasks } = group;
  if (!session.proposes || tasks.find(state.id) !== state) return;
  tasks.delete(state.id);
  group.changeCount += 1;
  const undo = [
    () => tasks.put(state),
    () => {
      group.changeCount -= 1;
    },
  ];
  const change = { effects: deletionOf(state.id), undo, events: [], collectionEvents: [] };
  session.propose(change, { ok: true, result: '' }, () => {});
}

/** Higher than the sequences that a node comes to. */
const SEQUENCES_OF_BUGS = 2 ** 30;

/** The answers that a proposal brings along, complete but for the index, which says nothing. */
function preparedOf(command: Command): Command[] {
  if (command.kind !== 'propose') return [];
  return (command.answers ?? []).flatMap((answer) => {
    if (answer === null) return [];
    const [head, rest] = [
      answer.payload.subarray(0, ANSWER_HEAD_BYTES),
      answer.payload.subarray(ANSWER_HEAD_BYTES),
    ];
    return [{ kind: 'return' as const, ...answer, payload: Buffer.concat([head, Buffer.of(0), rest]) }];
  });
}

/** A call with another request in it, if it is a request that is forwarded. */
function changedRequest(
  payload: Uint8Array,
  change: (request: ForwardedRequest) => ForwardedRequest,
): Uint8Array {
  if (payload[0] !== CallKind.Forward) return payload;
  return Buffer.concat([payload.subarray(0, 1), encodeRequest(change(decodeRequest(payload.subarray(1))))]);
}

/** The answer to a forwarded request, with what is not known made certain. */
function undone(payload: Uint8Array): Uint8Array {
  const answer = decodeAnswer(payload.subarray(1));
  if (answer.kind !== 'lost') return payload;
  return Buffer.concat([payload.subarray(0, 1), encodeAnswer({ kind: 'lost', unknown: false })]);
}

function inOrder(capture: TableCapture, order: ReadonlySet<NodeId>): TableCapture {
  const text = Buffer.from([...order].join());
  return {
    written: () => capture.written(),
    write: (sink) =>
      capture.write({
        delete: (kind, id, part) => sink.delete(kind, id, part),
        put: (kind, id, part, value) =>
          sink.put(kind, id, part, kind === SessionRecord.TABLE ? Buffer.concat([value, text]) : value),
      }),
  };
}
