/** Knowledge of a client after an answer. */
import type { WireValue } from '@althing/client';
import type { Operation } from '../history.js';
import type { Answer } from './session.js';

/** The outcome that a client knows after an answer, or without one. An error that says nothing of it refuses a request that nobody looked at. */
export function judged(answer: Answer | null): Pick<Operation, 'outcome' | 'error'> & {
  /** The value of the answer; the code of the error if it was refused. */
  readonly value: unknown;
  readonly isMade: boolean;
} {
  if (answer === null) return { outcome: 'unknown', value: null, error: 'no answer', isMade: false };
  if (answer.ok) return { outcome: 'ok', value: plain(answer.value), error: '', isMade: false };
  const { code, message, outcome } = answer;
  const error = `${code} ${outcome ?? ''} ${message}`;
  if (outcome === null || outcome === 'none') return { outcome: 'failed', value: code, error, isMade: false };
  return { outcome: 'unknown', value: null, error, isMade: outcome === 'made' };
}

/** A value as JSON has it. */
function plain(value: WireValue): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map((item: WireValue) => plain(item));
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  return value;
}

export function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'bigint' ? Number(item) : item instanceof Map ? Object.fromEntries(item) : item,
  );
}
