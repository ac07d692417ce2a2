/** What a child process of the pool does: lives, one after the other. */
import { inspect } from 'node:util';
import { simulate } from './simulate.js';

/** What the parent asks for. */
export interface Assignment {
  readonly seed: number;
  readonly mutants: readonly string[];
}

/** What came of it; `error` is null when all was well. */
export interface Result {
  readonly seed: number;
  readonly error: string | null;
  /** Whether the life came to its end; its process may have died, or taken too long. */
  readonly ended: boolean;
  readonly events: number;
  readonly operations: number;
  readonly acknowledged: number;
  /** Situations that it came into. */
  readonly reached: readonly string[];
}

export function workAsChild(): void {
  process.on('message', (assignment: Assignment) => {
    live(assignment).then((result) => process.send?.(result));
  });
}

async function live({ seed, mutants }: Assignment): Promise<Result> {
  try {
    const { events, operations, acknowledged, reached } = await simulate({ seed, mutants: new Set(mutants) });
    return { seed, error: null, ended: true, events, operations, acknowledged, reached };
  } catch (error) {
    return {
      seed,
      error: textOf(error),
      ended: true,
      events: 0,
      operations: 0,
      acknowledged: 0,
      reached: [],
    };
  }
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.name}: ${error.cause.message})` : '';
  return `${error.message}${cause}`.slice(0, 1000);
}
