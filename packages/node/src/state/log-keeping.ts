import { type FeedKeep, KEEP_NOTHING } from '@althing/engine';
import type { GroupId } from '../between/protocol.js';

export interface LogKeepingOptions {
  readonly keepOf: (group: GroupId) => FeedKeep;
  /** True if the disk has so little room that nothing is kept that the node does not need itself. */
  readonly isDiskLow: () => boolean;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** A checkpoint up to which the log may go some time. */
interface Mark {
  readonly index: number;
  readonly at: number;
  /** Bytes of changes since the mark before. */
  readonly bytes: number;
}

/** The log that is kept without being asked for: who is away for a moment is not lost only because of a checkpoint. */
const UNASKED_BYTES_MAX = 64 * 1024 * 1024;

/** The place before the first checkpoint of this process, whose age nobody knows. */
const START: Mark = { index: 0, at: 0, bytes: 0 };

/**
 * Keeps a part of the log for those who follow changes: at each checkpoint of a group, up to which earlier one the log goes. What lay
 * before the first checkpoint of this process is kept until that one is old enough, or has too much behind it.
 */
export class LogKeeping {
  private readonly marks = new Map<GroupId, Mark[]>();

  constructor(private readonly options: LogKeepingOptions) {}

  /**
   * A checkpoint is durable.
   *
   * @param bytes of the changes since the one before
   * @returns the index behind which the log is kept; undefined: that of the checkpoint before
   */
  keptFrom(group: GroupId, index: number, bytes: number): number | undefined {
    const { keepOf, isDiskLow, now } = this.options;
    const keep = isDiskLow() ? KEEP_NOTHING : keepOf(group);
    if (keep.bytes === 0) {
      this.marks.delete(group);
      return isDiskLow() || bytes > UNASKED_BYTES_MAX ? index : undefined;
    }
    const marks = this.marks.get(group) ?? [START];
    this.marks.set(group, marks);
    marks.push({ index, at: now(), bytes });
    // The log begins at the mark that is just old enough, or as far back as the bytes behind it allow.
    let begin = marks.length - 1;
    for (let behind = 0; begin > 0; begin--) {
      const mark = marks[begin] ?? START;
      behind += mark.bytes;
      if (now() - mark.at >= keep.seconds * 1000 || behind > keep.bytes) break;
    }
    marks.splice(0, begin);
    return marks[0]?.index ?? index;
  }
}
