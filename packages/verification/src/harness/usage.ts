/** The programs here: help, exit codes, wrong usage, and numbers and times that people write. */

/** Wrong usage of a program: its message is for people, and its exit code is 2. */
export class UsageError extends Error {}

/** Runs a program with the arguments of this process; its exit code is what `main` gives, 2 for wrong usage, 1 for other errors. */
export async function runProgram(
  help: string,
  main: (args: readonly string[]) => Promise<number>,
): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    console.log(help);
    return;
  }
  try {
    process.exitCode = await main(args);
  } catch (error) {
    const isUsage = isWrongUsage(error);
    console.error(isUsage ? `${error.message}\n--help tells more` : error);
    process.exitCode = isUsage ? 2 : 1;
  }
}

/** True if an error tells of wrong usage: ours, or one of `parseArgs`. */
export function isWrongUsage(error: unknown): error is { readonly message: string } {
  if (error instanceof UsageError) return true;
  if (typeof error !== 'object' || error === null || !('code' in error && 'message' in error)) return false;
  return typeof error.code === 'string' && error.code.startsWith('ERR_PARSE_ARGS');
}

/**
 * A whole number.
 *
 * @param option with its dashes
 * @throws {UsageError} for anything else, and beyond the bounds
 */
export function wholeIn(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(`${option} must be a whole number from ${min} to ${max}`);
}

/**
 * The seed that was given, or another one each time.
 *
 * @throws {UsageError}
 */
export function seedOf(text: string | undefined): number {
  return text === undefined ? Date.now() % 1_000_000 : wholeIn('--seed', text, 0, 2 ** 31);
}

/** Prints what happens, each time with the seconds from now on. */
export function tellingTime(): (text: string) => void {
  const start = performance.now();
  return (text) => console.log(`${((performance.now() - start) / 1000).toFixed(1).padStart(7)} s  ${text}`);
}

const UNIT_MS: Readonly<{ [unit: string]: number }> = { s: 1000, m: 60_000, h: 3_600_000 };

/**
 * A time as 90s, 10m or 1h, in milliseconds.
 *
 * @throws {UsageError} for anything else, and for nothing at all
 */
export function durationOf(option: string, text: string): number {
  const [, number, unit = ''] = /^(\d+)([smh])$/.exec(text) ?? [];
  const ms = Number(number) * (UNIT_MS[unit] ?? Number.NaN);
  if (ms > 0) return ms;
  throw new UsageError(`${option} must be a time, as 90s, 10m or 1h`);
}
