/** Knowledge of a client after an answer. */
import type { WireValue } from '@althing/client';
import type { Operation } from '../history.js';
import type { Answer } from './session.js';

/** The outcome that a client knows after an answer, or without one. An error that says nothing of it refuses a request that nobody looked at. */
export function judged(answer: Answer | null): {
  readonly outcome: Operation['outcome'];
  readonly value: unknown;
  readonly code: number;
  readonly isMade: boolean;
} {
  if (answer === null) return { outcome: 'unknown', value: null, code: 0, isMade: false };
  if (answer.ok) return { outcome: 'ok', value: plain(answer.value), code: 0, isMade: false };
  const { code, outcome } = answer;
  const isNone = outcome === null || outcome === 'none';
  return { outcome: isNone ? 'failed' : 'unknown', value: null, code, isMade: outcome === 'made' };
}

/** A value as JSON has it. */
export function plain(value: WireValue): unknown {
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
