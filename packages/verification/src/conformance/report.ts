/**
 * The report of a run of the cases.
 */
import type { Case, CaseFile } from './cases.js';
import { type KnownFailures, reasonFor } from './known.js';
import type { CaseResult } from './run-case.js';

export interface Report {
  readonly lines: readonly string[];
  /** Exactly the known failures failed. */
  readonly isAsKnown: boolean;
}

export interface ReportOptions {
  readonly format: 'msgpack' | 'json';
  /** Tell about failures and nothing else. */
  readonly onlyFailures: boolean;
}

/** Sums up the results, file by file. */
export function report(
  files: readonly CaseFile[],
  results: ReadonlyMap<Case, CaseResult>,
  known: KnownFailures,
  options: ReportOptions,
): Report {
  const lines: string[] = [];
  const details: string[] = [];
  const total = { passed: 0, run: 0, skipped: 0, unexpected: 0 };
  for (const file of files) {
    const count = { passed: 0, run: 0, skipped: 0 };
    for (const item of file.cases) {
      const result = results.get(item);
      if (result === undefined) continue;
      const reason = reasonFor(known, file.name, item.name, options.format);
      if (result.kind === 'skipped') {
        count.skipped++;
        continue;
      }
      count.run++;
      if (result.kind === 'passed') {
        count.passed++;
        if (reason !== undefined) {
          total.unexpected++;
          details.push(`PASSES NOW  ${file.name}: ${item.name}\n  listed as failing because: ${reason}`);
        }
      } else {
        if (reason === undefined) total.unexpected++;
        const mark = reason === undefined ? 'FAILED' : `known (${reason})`;
        details.push(
          `${mark}  ${file.name}: ${item.name}\n  ${cut(result.step)}\n  expected: ${cut(result.expected)}\n  actual:   ${cut(result.actual)}`,
        );
      }
    }
    total.passed += count.passed;
    total.run += count.run;
    total.skipped += count.skipped;
    const isWorthALine = !options.onlyFailures || count.passed < count.run;
    if (isWorthALine && count.run + count.skipped > 0) lines.push(`${file.name}: ${scoreText(count)}`);
  }
  const shown = options.onlyFailures ? details : details.filter((detail) => !detail.startsWith('known'));
  lines.push(...shown, `total: ${scoreText(total)}`);
  const failed = total.run - total.passed;
  if (total.unexpected > 0) {
    lines.push(`${total.unexpected} of these came out differently from the list of known failures`);
  } else if (failed > 0) {
    lines.push(`the ${failed} failures are exactly those that are known`);
  }
  return { lines, isAsKnown: total.unexpected === 0 };
}

function scoreText(count: { passed: number; run: number; skipped: number }): string {
  return `${count.passed}/${count.run}${count.skipped === 0 ? '' : ` (skipped ${count.skipped})`}`;
}

function cut(text: string): string {
  const oneLine = text.replaceAll('\n', '\n            ');
  return oneLine.length > 1500 ? `${oneLine.slice(0, 1500)}...` : oneLine;
}
