/**
 * How commands and events travel between the threads. The payloads of all proposals of a message lie one behind the
 * other in one buffer, which changes hands without being copied; everything else is cloned by the runtime.
 */
import type { Command, GroupId } from './protocol.js';

/** Proposals of one group and office; `sizes` are the lengths of their payloads in the parcel's buffer. */
interface PackedProposals {
  readonly kind: 'proposals';
  readonly group: GroupId;
  readonly office: number;
  readonly sizes: number[];
}

/** What goes over in one message. */
export interface Parcel {
  readonly commands: readonly (Exclude<Command, { kind: 'propose' }> | PackedProposals)[];
  readonly data: Uint8Array<ArrayBuffer>;
}

const FIRST_BYTES = 16 * 1024;

/** Up to this size a copy is cheaper than a new buffer. */
const COPY_BYTES_MAX = 4 * 1024;

/** Collects commands until they are sent. */
export class ParcelPacker {
  private commands: Parcel['commands'][number][] = [];
  private last: PackedProposals | null = null;
  private data: Uint8Array<ArrayBuffer> = new Uint8Array(FIRST_BYTES);
  private size = 0;

  get isEmpty(): boolean {
    return this.commands.length === 0;
  }

  add(command: Command): void {
    if (command.kind !== 'propose') {
      this.commands.push(command);
      this.last = null;
      return;
    }
    const { group, office } = command;
    if (this.last === null || this.last.group !== group || this.last.office !== office) {
      this.last = { kind: 'proposals', group, office, sizes: [] };
      this.commands.push(this.last);
    }
    for (const payload of command.payloads) this.addPayload(this.last, payload);
  }

  /** What was collected, in a buffer of its own; the packer is empty then. */
  take(): Parcel {
    const { commands, size } = this;
    this.commands = [];
    this.last = null;
    this.size = 0;
    if (size <= COPY_BYTES_MAX) return { commands, data: this.data.slice(0, size) };
    const data = this.data.subarray(0, size);
    this.data = new Uint8Array(FIRST_BYTES);
    return { commands, data };
  }

  private addPayload(proposals: PackedProposals, payload: Uint8Array): void {
    const end = this.size + payload.length;
    if (end > this.data.length) {
      const grown = new Uint8Array(Math.max(end, this.data.length * 2));
      grown.set(this.data.subarray(0, this.size));
      this.data = grown;
    }
    this.data.set(payload, this.size);
    this.size = end;
    proposals.sizes.push(payload.length);
  }
}

/** Calls `handle` for each command of a parcel, in order. */
export function unpack({ commands, data }: Parcel, handle: (command: Command) => void): void {
  let at = 0;
  for (const command of commands) {
    if (command.kind !== 'proposals') {
      handle(command);
      continue;
    }
    const payloads = command.sizes.map((size) => {
      const payload = data.subarray(at, at + size);
      at += size;
      return payload;
    });
    handle({ kind: 'propose', group: command.group, office: command.office, payloads });
  }
}
