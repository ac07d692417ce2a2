/**
 * Standard output, as the log writes to it. A line is written or dropped, and nothing ever waits: who reads a
 * pipe may stop, and a disk may hang.
 */
import { fstatSync } from 'node:fs';
import { pino } from 'pino';

/** The part of a stream that the output needs. */
export interface OutputStream {
  readonly writable: boolean;
  readonly writableLength: number;
  write(line: string): boolean;
  on(event: 'drain' | 'error', listener: () => void): unknown;
}

export interface LogOutput {
  write(line: string): void;
}

export interface LogOutputEvents {
  readonly dropped: () => void;
  /** There is room again, after so many lines were dropped. */
  readonly recovered: (lines: number) => void;
}

/** Bytes of log that wait for a slow reader at most; what comes then is lost. */
const WAITING_BYTES_MAX = 1024 * 1024;

const STANDARD_OUTPUT = 1;

export function openLogOutput(events: LogOutputEvents): LogOutput {
  return isFile(STANDARD_OUTPUT) ? fileOutput(events) : new StreamOutput(process.stdout, events);
}

/**
 * A pipe, a socket or a terminal. What fits is written at once, so that last words are out before the process
 * ends; the rest waits in memory, and not in a thread that could not end.
 */
export class StreamOutput implements LogOutput {
  private droppedLines = 0;

  constructor(
    private readonly stream: OutputStream,
    private readonly events: LogOutputEvents,
  ) {
    // Nobody reads any more: then all lines are dropped.
    stream.on('error', () => {});
    stream.on('drain', () => this.drained());
  }

  write(line: string): void {
    const { stream } = this;
    if (stream.writable && stream.writableLength + line.length <= WAITING_BYTES_MAX) {
      stream.write(line);
      return;
    }
    this.droppedLines += 1;
    this.events.dropped();
  }

  private drained(): void {
    const lines = this.droppedLines;
    this.droppedLines = 0;
    if (lines > 0) this.events.recovered(lines);
  }
}

/** A file: it is written by another thread, since that may take long. */
function fileOutput({ dropped }: LogOutputEvents): LogOutput {
  const output = pino.destination({ dest: STANDARD_OUTPUT, sync: false, maxLength: WAITING_BYTES_MAX });
  output.on('drop', dropped);
  return output;
}

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    // It is closed: the stream drops everything.
    return false;
  }
}
