/** Numbers, sizes, times and errors for people. */
import { AlthingError, QueryError } from '@althing/client';

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 'B';
  for (const next of units) {
    if (value < 1000) break;
    value /= 1000;
    unit = next;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** @param seconds since 1970 */
export function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('T', ' ').slice(0, 19);
}

export function durationText(seconds: number): string {
  if (seconds < 1e-3) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** The first words of an error, for people. */
export function errorText(error: unknown): string {
  if (error instanceof QueryError) return `${error.name}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

/** The outcome of the changes; empty where it goes without saying. */
export function outcomeText(error: unknown): string {
  if (!(error instanceof AlthingError)) return '';
  const { outcome } = error;
  if (outcome === 'none') return 'Nothing was changed.';
  if (outcome === 'made') return 'The change was made; only its answer is lost.';
  if (outcome === 'unknown')
    return 'It is not known whether the change was made: look before you run it again.';
  return 'It was not sent.';
}
