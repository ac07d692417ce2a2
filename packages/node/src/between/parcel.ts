/**
 * How commands travel to the consensus thread. The payloads of all proposals, calls and returns of a message
 * lie one behind the other in one buffer, which changes hands without being copied, as do the ends of large calls in buffers of
 * their own; everything else is cloned
 * by the runtime. Equal kinds that come in a row are one object, since the runtime takes its time for each.
 */
import { elementAt } from '../base/element.js';
import type { Command, GroupId, NodeId, PreparedAnswer } from './protocol.js';

/** Proposals of one group and epoch; `sizes` are the lengths of their payloads in the parcel's buffer. */
interface PackedProposals {
  readonly kind: 'proposals';
  readonly group: GroupId;
  readonly epoch: number;
  readonly sizes: number[];
  answers?: PackedAnswers;
}

/** Answers that go along with proposals; `places` tells with which ones, behind whose payloads theirs lie. */
interface PackedAnswers {
  readonly places: number[];
  readonly to: NodeId[];
  readonly ids: number[];
  readonly sizes: number[];
}

/** Calls, or returns, in a row. */
interface PackedCalls {
  readonly kind: 'calls' | 'returns';
  readonly to: NodeId[];
  readonly ids: number[];
  readonly sizes: number[];
}

/** A call is a command of its own where its end has a buffer of its own. */
type Packed = Exclude<Command, { kind: 'propose' | 'return' }> | PackedProposals | PackedCalls;

type Proposals = Extract<Command, { kind: 'propose' }>;

/** The content of one message. */
export interface Parcel {
  readonly commands: readonly Packed[];
  /** Payloads; missing where there are none, since an empty buffer takes the runtime longer than all commands of most messages. */
  readonly data?: Uint8Array<ArrayBuffer>;
  /** Buffers that go with it, besides that of the data. */
  readonly given: readonly ArrayBuffer[];
  /** What comes before it in the same message; nothing for nothing. */
  readonly before?: PostedParcel;
}

/** A parcel as it is posted, without what changes hands beside it. */
export type PostedParcel = Omit<Parcel, 'given'>;

/** What changes hands with a parcel, be it one of commands or of events. */
export function buffersOf({ data, given }: Pick<Parcel, 'data' | 'given'>): ArrayBuffer[] {
  return data === undefined ? [...given] : [data.buffer, ...given];
}

/** A parcel as it is posted. */
export function postedOf({ commands, data }: Parcel): PostedParcel {
  return data === undefined ? { commands } : { commands, data };
}

/** Whether there are proposals in a parcel. */
export function proposes({ commands }: Pick<Parcel, 'commands'>): boolean {
  return commands.some(({ kind }) => kind === 'proposals');
}

const FIRST_BYTES = 16 * 1024;

const NOTHING = new Uint8Array(0);

/** Up to this size a copy is cheaper than a new buffer. */
const COPY_BYTES_MAX = 4 * 1024;

/** Collects commands until they are sent. */
export class ParcelPacker {
  private commands: Packed[] = [];
  private given: ArrayBuffer[] = [];
  private data: Uint8Array<ArrayBuffer> = new Uint8Array(FIRST_BYTES);
  private size = 0;
  private proposed = 0;

  get isEmpty(): boolean {
    return this.commands.length === 0;
  }

  /** Whether there is nothing but proposals, and perhaps how far states are, which nobody waits for. */
  get isProposals(): boolean {
    let has = false;
    for (const { kind } of this.commands) {
      if (kind === 'proposals') has = true;
      else if (kind !== 'applied') return false;
    }
    return has;
  }

  /** Number of payloads that are proposed. */
  get proposals(): number {
    return this.proposed;
  }

  /** Bytes of the payloads so far. */
  get bytes(): number {
    return this.size;
  }

  add(command: Command): void {
    switch (command.kind) {
      case 'propose':
        this.addProposals(command);
        return;
      case 'call':
        if (command.rest === undefined) this.addCall('calls', command);
        else {
          this.commands.push(command);
          this.given.push(command.rest.buffer);
        }
        return;
      case 'return':
        this.addCall('returns', command);
        return;
      default:
        this.commands.push(command);
    }
  }

  private addProposals({ group, epoch, payloads, answers }: Proposals): void {
    let last = this.commands[this.commands.length - 1];
    if (last?.kind !== 'proposals' || last.group !== group || last.epoch !== epoch) {
      last = { kind: 'proposals', group, epoch, sizes: [] };
      this.commands.push(last);
    }
    for (let i = 0; i < payloads.length; i++) {
      last.sizes.push(this.addPayload(elementAt(payloads, i)));
      const answer = answers?.[i];
      if (answer) this.addAnswer(last, answer);
    }
    this.proposed += payloads.length;
  }

  /** The answer that goes along with the last of some proposals. */
  private addAnswer(proposals: PackedProposals, { to, id, payload }: PreparedAnswer): void {
    proposals.answers ??= { places: [], to: [], ids: [], sizes: [] };
    const { answers } = proposals;
    answers.places.push(proposals.sizes.length - 1);
    answers.to.push(to);
    answers.ids.push(id);
    answers.sizes.push(this.addPayload(payload));
  }

  private addCall(
    kind: PackedCalls['kind'],
    { to, id, payload }: Extract<Command, { kind: 'call' | 'return' }>,
  ): void {
    let last = this.commands[this.commands.length - 1];
    if (last?.kind !== kind) {
      last = { kind, to: [], ids: [], sizes: [] };
      this.commands.push(last);
    }
    last.to.push(to);
    last.ids.push(id);
    last.sizes.push(this.addPayload(payload));
  }

  /** Gives the collected bytes in a buffer of their own; the packer is empty then. */
  take(): Parcel {
    const { commands, given, size } = this;
    this.commands = [];
    this.given = [];
    this.size = 0;
    this.proposed = 0;
    if (size === 0) return { commands, given };
    if (size <= COPY_BYTES_MAX) return { commands, data: this.data.slice(0, size), given };
    const data = this.data.subarray(0, size);
    this.data = new Uint8Array(FIRST_BYTES);
    return { commands, data, given };
  }

  /** @returns the size of the payload */
  private addPayload(payload: Uint8Array): number {
    const end = this.size + payload.length;
    if (end > this.data.length) {
      const grown = new Uint8Array(Math.max(end, this.data.length * 2));
      grown.set(this.data.subarray(0, this.size));
      this.data = grown;
    }
    this.data.set(payload, this.size);
    this.size = end;
    return payload.length;
  }
}

/** Calls `handle` for each command of a parcel, in order. */
export function unpack(
  { commands, data = NOTHING, before }: PostedParcel,
  handle: (command: Command) => void,
): void {
  if (before !== undefined) unpack(before, handle);
  let at = 0;
  const next = (size: number): Uint8Array => {
    at += size;
    return data.subarray(at - size, at);
  };
  for (const command of commands) {
    switch (command.kind) {
      case 'proposals':
        handle(proposalsOf(command, next));
        break;
      case 'calls':
      case 'returns': {
        const kind = command.kind === 'calls' ? 'call' : 'return';
        const { to, ids, sizes } = command;
        sizes.forEach((size, i) => {
          handle({ kind, to: elementAt(to, i), id: elementAt(ids, i), payload: next(size) });
        });
        break;
      }
      default:
        handle(command);
    }
  }
}

/** @param next gives the next payload, of a size */
function proposalsOf(
  { group, epoch, sizes, answers }: PackedProposals,
  next: (size: number) => Uint8Array,
): Proposals {
  if (answers === undefined) return { kind: 'propose', group, epoch, payloads: sizes.map(next) };
  const { places, to, ids, sizes: answerSizes } = answers;
  const prepared: (PreparedAnswer | null)[] = [];
  let given = 0;
  const payloads = sizes.map((size, place) => {
    const payload = next(size);
    if (places[given] !== place) {
      prepared.push(null);
      return payload;
    }
    const answer = next(elementAt(answerSizes, given));
    prepared.push({ to: elementAt(to, given), id: elementAt(ids, given), payload: answer });
    given += 1;
    return payload;
  });
  return { kind: 'propose', group, epoch, payloads, answers: prepared };
}
