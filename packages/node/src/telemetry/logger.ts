import { type LogFn, type Logger as PinoLogger, pino } from 'pino';
import { type LogOutput, openLogOutput } from './log-output.js';

export type Logger = PinoLogger;

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warning' | 'error' | 'critical';
  /** `auto` is text on a terminal, else JSON. */
  readonly format: 'auto' | 'json' | 'text';
  readonly nodeName: string;
  /** Called with each line and its level as a number: 20 is debug, 60 the most severe. */
  readonly onLine?: (level: number) => void;
  /** Called for each line that could not be written because the log's reader is too slow. */
  readonly onDrop?: () => void;
}

/** The levels of the settings, as the log calls them. */
export const LOG_LEVELS = {
  debug: 'debug',
  info: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'fatal',
} as const;

/** The log of the process on standard output. Writing never waits for who reads it. */
export function createLogger({ level, format, nodeName, onLine, onDrop }: LoggerOptions): Logger {
  const text = format === 'text' || (format === 'auto' && process.stdout.isTTY === true);
  const options = {
    ...lineOptions(nodeName),
    level: LOG_LEVELS[level],
    hooks: {
      logMethod(this: PinoLogger, args: Parameters<LogFn>, method: LogFn, severity: number) {
        onLine?.(severity);
        method.apply(this, args);
      },
    },
  };
  const output = openLogOutput({
    dropped: onDrop ?? (() => {}),
    recovered: (lines) =>
      logger.warn({ event: 'log_lines_dropped', lines }, `${lines} lines of the log are missing here`),
  });
  const logger = pino(options, text ? new TextLines(output) : output);
  return logger;
}

export function lineOptions(nodeName: string) {
  return {
    base: { node: nodeName },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: cleanFields },
  };
}

/** Characters of one field at most; a stack trace may be longer than what users write. */
const FIELD_LENGTH_MAX = 1000;
const ERROR_LENGTH_MAX = 8000;

/** Control characters that JSON leaves as they are, and what else breaks or turns lines. */
const UNSAFE = /[\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Text of users must neither flood the log nor play tricks on a terminal: it is cut here, and JSON escapes
 * the rest.
 */
function cleanFields(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, cleanField(key, value)]));
}

function cleanField(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const lengthMax = key === 'error' ? ERROR_LENGTH_MAX : FIELD_LENGTH_MAX;
  const short = value.length > lengthMax ? `${value.slice(0, lengthMax)}...` : value;
  return short.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Turns log lines into text for people. */
class TextLines implements LogOutput {
  constructor(private readonly output: LogOutput) {}

  write(line: string): void {
    const { time, level, msg, node: _node, ...fields } = JSON.parse(line) as Record<string, unknown>;
    const details = Object.entries(fields)
      .filter(([key]) => key !== 'event')
      .map(([key, value]) => ` ${key}=${JSON.stringify(value)}`)
      .join('');
    this.output.write(`${String(time)} ${String(level).toUpperCase()} ${String(msg)}${details}\n`);
  }
}
