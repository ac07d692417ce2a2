/** Planted bugs of the node, put between its parts: nothing of them is in the code that runs in production. */
import { CallKind } from '../cluster/calls.js';
import {
  type Command,
  type CommittedEntry,
  type Event,
  type GroupId,
  type NodeId,
  ROOT_GROUP,
} from '../consensus/protocol.js';
import { decodeRequest, encodeRequest } from '../forwarding/format.js';
import type { GroupSession } from '../scopes/group-session.js';
import { ResultKind, type Results, type ResultsCapture } from '../scopes/results.js';

export const NODE_MUTANTS = {
  retry_made_twice: 'a change that comes again under its name is made again',
  key_made_twice: 'a change that a client repeats with its key is made again',
  forwarded_again_as_new: 'a request that is sent to a leader once more gets another name',
  names_not_in_entries: 'entries do not name the request that they came from',
  results_not_in_checkpoints: 'checkpoints and snapshots lack the answers to recent changes',
  results_by_local_clock: 'the answers to recent changes age by the clock of each node',
  map_order_stored: 'what is stored depends on the order in which a node came to know other nodes',
  read_before_applied: 'a read does not wait until the state holds what its index tells',
  read_without_asking: 'a read does not ask the leader for an index',
  rights_not_doubted: 'a request is refused by rights that this node knows, though they may be old',
  answer_before_commit: 'a change is acknowledged when it is proposed',
  no_undo: 'changes are not taken back when the leadership is lost',
  lost_office_proposes: 'what was proposed in an office that has ended is taken in the next one',
  log_cut_before_checkpoint: 'the log is cut when a checkpoint has its place, before it is durable',
  membership_not_stored: 'the state does not note changes of the membership',
  error_swallowed_in_apply: 'an entry that a follower fails to apply is passed over',
  wiped_node_keeps_id: 'a node that lost its data comes back as who it was',
} as const;

export type NodeMutant = keyof typeof NODE_MUTANTS;

export function isNodeMutant(name: string): name is NodeMutant {
  return Object.hasOwn(NODE_MUTANTS, name);
}

/** The seams of one process at which bugs are planted. */
export class NodeBugs {
  private readonly on: ReadonlySet<NodeMutant>;
  private readonly nodeId: NodeId;
  private readonly wallClock: () => number;
  private readonly offices = new Map<GroupId, number>();
  private readonly planted = new WeakSet<object>();
  private nextSequence = SEQUENCES_OF_BUGS;

  constructor(on: ReadonlySet<NodeMutant>, nodeId: NodeId, wallClock: () => number) {
    this.on = on;
    this.nodeId = nodeId;
    this.wallClock = wallClock;
  }

  /** What the consensus side gets of a command. */
  command(command: Command): Command {
    const { on } = this;
    if (on.size === 0) return command;
    const office = 'group' in command && command.group !== null ? this.offices.get(command.group) : undefined;
    if (command.kind === 'propose' && office !== undefined && on.has('lost_office_proposes')) {
      return { ...command, office };
    }
    if (command.kind === 'call' && on.has('forwarded_again_as_new')) {
      return { ...command, payload: this.renamed(command.payload) };
    }
    return command;
  }

  /** Notes what the consensus side says. */
  emitted(event: Event): void {
    if (event.kind === 'leading') this.offices.set(event.group, event.office);
    else if (event.kind === 'following') this.offices.delete(event.group);
  }

  /** What the engine side gets of an event, null for nothing. */
  event(event: Event, send: (command: Command) => void): Event | null {
    const { on } = this;
    if (on.size === 0) return event;
    if (event.kind === 'read' && event.index !== null && on.has('read_before_applied')) {
      return { ...event, index: 0 };
    }
    if (event.kind === 'marked' && on.has('log_cut_before_checkpoint')) {
      send({ kind: 'checkpointed', group: event.group, applied: event.applied });
    }
    if (event.kind === 'membership' && on.has('membership_not_stored')) return null;
    if (event.kind === 'entries' && on.has('error_swallowed_in_apply')) {
      return { ...event, entries: event.entries.filter((entry) => !this.fails(entry)) };
    }
    return event;
  }

  private renamed(payload: Uint8Array): Uint8Array {
    if (payload[0] !== CallKind.Forward) return payload;
    const request = decodeRequest(payload.subarray(1));
    return Buffer.concat([
      payload.subarray(0, 1),
      encodeRequest({ ...request, sequence: this.nextSequence++ }),
    ]);
  }

  private fails({ index }: CommittedEntry): boolean {
    return (index * 31 + this.nodeId) % 16 === 0;
  }

  /** Changes a session, and what it holds, before it is used. */
  session(session: GroupSession): void {
    if (this.on.size === 0) return;
    if (!this.planted.has(session.results)) {
      this.planted.add(session.results);
      this.changeResults(session.results);
    }
    if (this.planted.has(session)) return;
    this.planted.add(session);
    this.changeSession(session);
  }

  private changeResults(results: Results): void {
    const { on, wallClock } = this;
    if (on.has('retry_made_twice')) results.find = () => ({ kind: 'new' });
    if (on.has('key_made_twice')) results.findKey = () => ({ kind: 'new' });
    if (on.has('map_order_stored')) {
      const note = results.note.bind(results);
      const order = new Set<NodeId>();
      results.note = (head) => {
        if (head.request !== null) order.add(head.request.origin);
        note(head);
      };
      const capture = results.capture.bind(results);
      results.capture = (further) => inOrder(capture(further), order);
    }
    if (on.has('results_by_local_clock')) {
      const note = results.note.bind(results);
      results.note = (head) => note({ ...head, time: Math.floor(wallClock()) });
    }
  }

  private changeSession(session: GroupSession): void {
    const { on } = this;
    if (on.has('results_not_in_checkpoints')) {
      session.captureResults = () => ({ write: () => {}, written: () => {} });
    }
    const believesItself = session.id === ROOT_GROUP && on.has('rights_not_doubted');
    if (believesItself || on.has('read_without_asking')) session.readIndex = (done) => done(true);
    const propose = session.propose.bind(session);
    if (on.has('answer_before_commit')) {
      session.propose = (change, reply, respond, names) => {
        propose(change, reply, () => {}, names);
        respond(reply);
      };
    } else if (on.has('no_undo')) {
      session.propose = (change, reply, respond, names) =>
        propose({ ...change, undo: [] }, reply, respond, names);
    } else if (on.has('names_not_in_entries')) {
      session.propose = (change, reply, respond) => propose(change, reply, respond);
    }
  }
}

/** Higher than the sequences that a node comes to. */
const SEQUENCES_OF_BUGS = 2 ** 30;

function inOrder(capture: ResultsCapture, order: ReadonlySet<NodeId>): ResultsCapture {
  const text = Buffer.from([...order].join());
  return {
    written: () => capture.written(),
    write: (sink) =>
      capture.write({
        delete: (kind, id, part) => sink.delete(kind, id, part),
        put: (kind, id, part, value) =>
          sink.put(kind, id, part, kind === ResultKind.TABLE ? Buffer.concat([value, text]) : value),
      }),
  };
}
