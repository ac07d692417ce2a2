import { Writable } from 'node:stream';
import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warning' | 'error' | 'critical';
  /** `auto` is text on a terminal, else JSON. */
  readonly format: 'auto' | 'json' | 'text';
  readonly nodeName: string;
}

const LEVELS = { debug: 'debug', info: 'info', warning: 'warn', error: 'error', critical: 'fatal' } as const;

/** Bytes of log that wait for a slow reader at most; what comes then is lost. */
const BUFFER_BYTES_MAX = 1024 * 1024;

/** The log of the process on standard output. Writing never waits for who reads it. */
export function createLogger({ level, format, nodeName }: LoggerOptions): Logger {
  const text = format === 'text' || (format === 'auto' && process.stdout.isTTY === true);
  const options = {
    level: LEVELS[level],
    base: { node: nodeName },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (text) return pino(options, new TextLines());
  const destination = pino.destination({ dest: 1, sync: false, maxLength: BUFFER_BYTES_MAX });
  destination.on('drop', () => {});
  return pino(options, destination);
}

/** Turns log lines into text for people. */
class TextLines extends Writable {
  override _write(line: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const {
      time,
      level,
      msg,
      node: _node,
      ...fields
    } = JSON.parse(line.toString()) as Record<string, unknown>;
    const details = Object.entries(fields)
      .filter(([key]) => key !== 'event')
      .map(([key, value]) => ` ${key}=${JSON.stringify(value)}`)
      .join('');
    process.stdout.write(`${String(time)} ${String(level).toUpperCase()} ${String(msg)}${details}\n`);
    done();
  }
}
