/**
 * Frames between the nodes of the bare path.
 *
 *     frame: length of all that follows (u32)  kind (u8)  a (u32)  payload
 */
const HEAD_BYTES = 9;

export const KINDS = {
  /** Leader: a round `a` of entries, the payload. */
  append: 1,
  /** Follower: it has all rounds up to `a` on disk. */
  stored: 2,
  /** Leader: do you still follow? The question `a`. */
  confirm: 3,
  /** Follower: yes, as to the question `a`. */
  confirmed: 4,
  /** Follower: `a` entries of its clients, the payload. */
  forward: 5,
  /** Leader: the forwarded entries that come next are committed; the first has the index `a`. */
  committed: 6,
  /** Follower: from which index on may reads be answered? */
  ask: 7,
  /** Leader: from `a`, as to the question that comes next. */
  index: 8,
} as const;

export interface Frame {
  readonly kind: number;
  readonly a: number;
  readonly payload: Buffer;
}

export function frameOf(kind: number, a: number, payload: readonly Uint8Array[] = []): Buffer {
  const bytes = payload.reduce((total, part) => total + part.length, 0);
  const frame = Buffer.allocUnsafe(HEAD_BYTES + bytes);
  frame.writeUInt32LE(HEAD_BYTES - 4 + bytes, 0);
  frame[4] = kind;
  frame.writeUInt32LE(a, 5);
  let at = HEAD_BYTES;
  for (const part of payload) {
    frame.set(part, at);
    at += part.length;
  }
  return frame;
}

/** Finds frames in what a socket brings. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that are complete. */
  take(chunk: Buffer): Frame[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Frame[] = [];
    let at = 0;
    while (bytes.length - at >= HEAD_BYTES) {
      const end = at + 4 + bytes.readUInt32LE(at);
      if (end > bytes.length) break;
      frames.push({
        kind: bytes[at + 4]!,
        a: bytes.readUInt32LE(at + 5),
        payload: bytes.subarray(at + HEAD_BYTES, end),
      });
      at = end;
    }
    this.#rest = bytes.subarray(at);
    return frames;
  }
}
