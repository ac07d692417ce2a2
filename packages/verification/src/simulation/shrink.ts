/** Makes the run of a seed that fails as small as it still fails for the same reason. */
import { type Cut, cutSwarm, extrasOf } from './cut.js';
import { deltaDebug } from './delta-debug.js';
import { drawSwarm, type Swarm } from './swarm.js';
import type { Assignment, Result } from './work.js';

export interface ShrinkOptions {
  readonly seed: number;
  readonly mutants: readonly string[];
  /** The parts that are left out to begin with. */
  readonly cut: Cut;
  readonly live: (assignment: Assignment) => Promise<Result>;
  /** Runs that are made at once. */
  readonly workers: number;
  /** True if it has to be enough. */
  readonly isOver: () => boolean;
  /** Called with the progress. */
  readonly report: (line: string) => void;
}

export interface Shrunk {
  readonly cut: Cut;
  readonly error: string;
  /** Runs that were made for it. */
  readonly runs: number;
  /** Faults and operations, before and after. */
  readonly decisionsBefore: number;
  readonly decisions: readonly string[];
}

/** Parts of the time of faults that are tried, from the shortest on. */
const FAULTS_PARTS = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75];

/**
 * @returns null if the run does not fail
 * @throws if it does not come to an end
 */
export async function shrink(options: ShrinkOptions): Promise<Shrunk | null> {
  const { seed, mutants, cut, live } = options;
  const whole = await live({ seed, mutants, cut });
  if (!whole.ended) throw new Error(`seed ${seed}: ${whole.error}`);
  return whole.error === null ? null : new Shrinker(options, whole, whole.error).run();
}

class Shrinker {
  /** The kinds of the decisions that are left. */
  private kinds: readonly string[];
  private cut: Cut;
  private runs = 1;

  constructor(
    private readonly options: ShrinkOptions,
    private readonly whole: Result,
    private error: string,
  ) {
    this.kinds = whole.kinds;
    this.cut = { ...options.cut, keep: whole.decisions };
  }

  async run(): Promise<Shrunk> {
    const extras = extrasOf(this.swarm);
    this.tell('all of it');
    await this.shorten();
    await this.dropActors();
    const kinds = this.swarm.faults.flatMap(([kind]) => (this.kinds.includes(kind) ? [kind] : []));
    await this.dropKinds([...extras, ...kinds]);
    await this.dropDecisions();
    await this.dropActors();
    await this.shorten();
    // The decisions that are left tell which faults come.
    this.cut = { ...this.cut, without: extras.filter((extra) => this.cut.without.includes(extra)) };
    await this.dropKinds(extras.filter((extra) => !this.cut.without.includes(extra)));
    await this.dropDecisions();
    const decisions = this.cut.keep ?? [];
    const decisionsBefore = this.whole.decisions.length;
    return { cut: this.cut, error: this.error, runs: this.runs, decisionsBefore, decisions };
  }

  /** The faults end earlier. */
  private async shorten(): Promise<void> {
    const { faultsMs } = this.swarm;
    await this.first(FAULTS_PARTS.map((part) => ({ ...this.cut, faultsMs: Math.ceil(faultsMs * part) })));
    this.tell('a shorter time of faults');
  }

  private async dropKinds(kinds: readonly string[]): Promise<void> {
    const { without } = this.cut;
    const cutTo = (left: readonly string[]): Cut => ({
      ...this.cut,
      without: [...without, ...kinds.filter((kind) => !left.includes(kind))],
    });
    await deltaDebug(kinds, async (attempts) => {
      const tried = [...attempts];
      const at = await this.first(tried.map(cutTo));
      return at === null ? null : { at, left: tried[at] ?? [] };
    });
    this.tell('fewer kinds of faults');
  }

  /** Fewer clients and nodes. */
  private async dropActors(): Promise<void> {
    const { clients: clientCount, nodes: nodeCount } = this.swarm;
    const upTo = (count: number): number[] => Array.from({ length: count - 1 }, (_none, at) => at + 1);
    await this.first(upTo(clientCount).map((clients) => ({ ...this.cut, clients })));
    await this.first(upTo(nodeCount).map((nodes) => ({ ...this.cut, nodes })));
    this.tell('fewer nodes and clients');
  }

  private async dropDecisions(): Promise<void> {
    await deltaDebug(this.cut.keep ?? [], async (attempts) => {
      const at = await this.first(mapped(attempts, (keep) => ({ ...this.cut, keep })));
      // Decisions that the run did not come to are not needed either.
      return at === null ? null : { at, left: this.cut.keep ?? [] };
    });
    this.tell('fewer decisions');
  }

  /** Makes smaller runs, and takes over the first that fails as the whole one did. */
  private async first(cuts: Iterable<Cut>): Promise<number | null> {
    const { seed, mutants, live, workers, isOver } = this.options;
    const found: { at: number; result: Result; cut: Cut }[] = [];
    const queue = cuts[Symbol.iterator]();
    let next = 0;
    const worker = async (): Promise<void> => {
      while (found.length === 0 && !isOver()) {
        const { value: cut, done } = queue.next();
        if (done) return;
        const at = next++;
        this.runs += 1;
        const result = await live({ seed, mutants, cut });
        if (result.broken === this.whole.broken && result.ended) found.push({ at, result, cut });
      }
    };
    await Promise.all(Array.from({ length: workers }, worker));
    const [best] = found.sort((left, right) => left.at - right.at);
    if (best === undefined) return null;
    this.cut = { ...best.cut, keep: best.result.decisions };
    this.error = best.result.error ?? this.error;
    this.kinds = best.result.kinds;
    return best.at;
  }

  /** As it is now. */
  private get swarm(): Swarm {
    return cutSwarm(drawSwarm(this.options.seed), this.cut);
  }

  private tell(what: string): void {
    const { nodes, clients, faultsMs } = this.swarm;
    this.options.report(
      `${this.runs} runs, ${what}: ${this.cut.keep?.length ?? 0} decisions, ` +
        `${nodes} nodes, ${clients} clients, ${faultsMs} ms`,
    );
  }
}

function* mapped<From, To>(items: Iterable<From>, change: (item: From) => To): Generator<To> {
  for (const item of items) yield change(item);
}
