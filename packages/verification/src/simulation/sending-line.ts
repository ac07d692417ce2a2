/**
 * Frames that wait at a simulated node to be sent to another, as in an outbox: frames of Raft that yield leave one after the
 * other, as fast as the line takes them, and only so much may wait.
 */

import { type LinkSizes, readRaftFrame } from '@althing/node/parts';
import { encodeMessage, type Message } from 'raft-ts';
import type { Thread } from './thread.js';

/** The sender of a node. */
export interface LinkQuality extends LinkSizes {
  /** Bytes of frames that yield, in a millisecond. */
  readonly bytesPerMs: number;
}

export class SendingLine {
  /** Bytes of frames that wait, in order. */
  waitingBytes = 0;
  private freeAt = 0;

  /** @param onLow is called when little waits any more */
  constructor(
    private readonly quality: LinkQuality,
    private readonly thread: Thread,
    private readonly onLow: () => void,
  ) {}

  /** False: too much waits already. A single frame is always taken. */
  push(bytes: number, now: number, leave: () => void): boolean {
    const { roomBytes, bytesPerMs } = this.quality;
    if (this.waitingBytes > 0 && this.waitingBytes + bytes > 2 * roomBytes) return false;
    this.waitingBytes += bytes;
    this.freeAt = Math.max(this.freeAt, now) + bytes / bytesPerMs;
    this.thread.at(this.freeAt, () => {
      this.waitingBytes -= bytes;
      leave();
      if (this.waitingBytes < roomBytes / 4) this.onLow();
    });
    return true;
  }
}

/** True if a frame of Raft was closed in time: without its last message it is not too large. */
export function isCutInTime(frame: Uint8Array, { frameBytes }: LinkSizes): boolean {
  if (frame.length <= frameBytes) return true;
  const messages: Message[] = [];
  readRaftFrame(frame, (_, message) => messages.push(message));
  const sizes = messages.map((message) => encodeMessage(message).length);
  return sizes.slice(0, -1).reduce((sum, size) => sum + size, 0) <= frameBytes;
}
