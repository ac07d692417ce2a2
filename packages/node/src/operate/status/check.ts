/** One thing that a health endpoint looks at. */
export interface Check {
  /** In snake case. */
  readonly name: string;
  /** Null while it is as it should be, else why not, in words. */
  readonly problem: string | null;
}

/** The first problem of some checks: those that explain others stand first. */
export function problemOf(checks: readonly Check[]): string | null {
  return checks.find(({ problem }) => problem !== null)?.problem ?? null;
}

/** A duration in words. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
