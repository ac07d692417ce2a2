/**
 * The world of a command: streams, environment, signals. Tests hand in their own.
 */
import { isUtf8 } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { hideVariables } from './hidden-variables.js';

export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Takes variables away from the environment of the process, and not from `environment`; false where others still see one. */
  hideVariables(names: readonly string[]): boolean;
  /** Calls back at every SIGTERM and SIGINT; returns how to stop that. */
  onStopSignal(callback: (signal: NodeJS.Signals) => void): () => void;
  /** Calls back at every SIGHUP; returns how to stop that. */
  onReloadSignal(callback: () => void): () => void;
}

/** The world of a real process. */
export function processIo(): Io {
  // A write to a pipe that was closed tells its writer; without a listener the event would end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: { ...process.env },
    hideVariables,
    onStopSignal(callback) {
      process.on('SIGTERM', callback);
      process.on('SIGINT', callback);
      return () => {
        process.off('SIGTERM', callback);
        process.off('SIGINT', callback);
      };
    },
    onReloadSignal(callback) {
      process.on('SIGHUP', callback);
      return () => {
        process.off('SIGHUP', callback);
      };
    },
  };
}

/** Does some work, with a signal that SIGTERM and SIGINT abort. */
export async function stoppable<T>(io: Io, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const unsubscribe = io.onStopSignal(() => stop.abort());
  try {
    return await work(stop.signal);
  } finally {
    unsubscribe();
  }
}

/** Writes and waits until the stream has taken it, so that the process may end afterwards. A closed pipe is no error. */
export function write(stream: Writable, content: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    stream.write(content, () => resolve());
  });
}

/** Time that a process that is about to end waits for who reads its output, in milliseconds. */
const LAST_WORDS_MS = 1000;

/**
 * Writes before the process ends, and waits a while until the stream has taken this and all that came before: a node must
 * end also when nobody reads its log.
 */
export async function writeLast(stream: Writable, content: string): Promise<void> {
  const enough = new AbortController();
  const waited = pause(LAST_WORDS_MS, undefined, { signal: enough.signal }).catch(() => {});
  await Promise.race([write(stream, content), waited]);
  enough.abort();
}

/** Writes a line for people. */
export function tell(io: Io, line: string): Promise<void> {
  return write(io.stderr, `${line}\n`);
}

/** Bytes of a text at most: a node takes less in one request, and a device has no end. */
const TEXT_BYTES_MAX = 64 * 1024 ** 2;

/** The whole standard input, as UTF-8. */
export function readInput(io: Io): Promise<string> {
  return readStream(io.stdin, 'the standard input');
}

/**
 * All of a stream, as UTF-8.
 *
 * @param name of the stream in errors
 * @throws {Error} when it is too long, or no text; what the stream ends with
 */
export async function readStream(stream: Readable, name: string): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > TEXT_BYTES_MAX) throw new Error(`${name} has more than ${TEXT_BYTES_MAX / 1024 ** 2} MB`);
    parts.push(bytes);
  }
  const text = utf8Text(Buffer.concat(parts));
  if (text === null) throw new Error(`${name} is no text in UTF-8`);
  return text;
}

/**
 * The text in bytes; null where they are no UTF-8, in which case a text would have other characters in the place of some, and nobody would
 * notice. A mark of the encoding, with which editors on Windows begin a text, is no part of it.
 */
export function utf8Text(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString('utf8').replace(/^\uFEFF/, '') : null;
}
