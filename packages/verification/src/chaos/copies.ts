/**
 * Copies of collections that begin with a dump and that the feed of changes keeps, through whatever happens to the nodes: each goes on at any
 * node from its position. No change comes twice, none is missing, and in the end a copy holds what the collection holds. It begins anew where
 * it is told that it is lost, as it is behind a job that gave a property another definition.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type ChangeStep, changes, LostError } from '@althing/client/changes';
import { type Json, JsonCopy, type Step, thingsIn } from '../simulation/json-copy.js';
import type { Final } from './record.js';
import type { Endpoint } from './requests.js';

export interface CopiesOptions {
  readonly endpoints: readonly Endpoint[];
  readonly token: () => string;
  /** The collection in use; empty for none. */
  readonly collection: () => string;
  /** Called for each thing that is wrong. */
  readonly finding: (text: string) => void;
}

const AGAIN_MS = 100;
/** Milliseconds that a dump may take. */
const DUMP_MS = 5000;
/** Time that the last change may be on its way when all nodes have it: a connection that fell silent is given up after 20 s. */
const LAST_MS = 30_000;

/** Lines with the instances of each type, and one with all things. */
const DUMP =
  'types_info().each(|t| { name = t.load().name; out([name, type_all(name).map(|one| one.id())]); }); return thing(.id()), 12;';

interface Kept {
  /** Null before it began. */
  copy: JsonCopy | null;
  at: string;
  /** The reason why it did not begin, when that was last tried. */
  refusal: string;
}

export class Copies {
  private readonly options: CopiesOptions;
  private readonly kept = new Map<string, Kept>();
  private readonly stopping = new AbortController();
  private readonly counts = { dumps: 0, changes: 0, interruptions: 0, lost: 0 };

  constructor(options: CopiesOptions) {
    this.options = options;
  }

  /** Their acts, in words. */
  get summary(): string {
    const { dumps, changes: told, interruptions, lost } = this.counts;
    return `${this.kept.size} copies began with ${dumps} dumps, were told of ${told} changes, went on ${interruptions} times and were lost ${lost} times`;
  }

  start(): void {
    void this.run();
  }

  /** Compares copies and collections when nothing changes any more. */
  async check(finals: readonly Final[]): Promise<void> {
    const end = performance.now() + LAST_MS;
    const states = new Map(finals.map(({ collection, rest }) => [collection, JSON.parse(rest) as Json]));
    for (const [collection, kept] of this.kept) {
      const difference = (): string | null =>
        kept.copy === null
          ? `it could not begin: ${kept.refusal}`
          : kept.copy.differenceFrom(states.get(collection) ?? null);
      while (difference() !== null && performance.now() < end) await pause(AGAIN_MS);
      const problem = difference();
      if (problem !== null) this.options.finding(`a copy of ${collection} at ${kept.at}: ${problem}`);
    }
  }

  stop(): void {
    this.stopping.abort();
  }

  /** Begins a copy of each collection that comes into use. */
  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const collection = this.options.collection();
      if (collection !== '' && !this.kept.has(collection)) {
        const kept: Kept = { copy: null, at: '', refusal: '' };
        this.kept.set(collection, kept);
        void this.keep(collection, kept);
      }
      await pause(AGAIN_MS);
    }
  }

  private async keep(collection: string, kept: Kept): Promise<void> {
    const { signal } = this.stopping;
    for (let turn = 0; !signal.aborted; turn++) {
      try {
        if (kept.copy === null) await this.begin(collection, kept, turn);
        if (kept.copy !== null) await this.follow(collection, kept, kept.copy);
      } catch (error) {
        if (signal.aborted) return;
        if (kept.copy !== null) this.noteEnd(collection, kept, error);
        else kept.refusal = String(error);
        kept.copy = null;
        await pause(AGAIN_MS);
      }
    }
  }

  private noteEnd(collection: string, { at }: Kept, error: unknown): void {
    const oldest = error instanceof LostError ? Number.parseInt(error.oldest ?? '', 10) : 0;
    if (oldest > Number.parseInt(at, 10)) this.counts.lost += 1;
    else this.options.finding(`a copy of ${collection} at ${at}: ${error}`);
  }

  private async begin(collection: string, kept: Kept, turn: number): Promise<void> {
    const { endpoints, token } = this.options;
    const { host, port } = endpoints[turn % endpoints.length] ?? { host: '', port: 0 };
    const response = await fetch(`http://${host}:${port}//${collection}?end=1`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token()}`,
        accept: 'application/x-ndjson',
        consistency: 'snapshot',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ type: 'query', code: DUMP }),
      signal: AbortSignal.timeout(DUMP_MS),
    });
    const text = await response.text();
    const lines = text.trimEnd().split('\n');
    const { end } = JSON.parse(lines.pop() ?? '') as { readonly end?: { readonly at: string } };
    if (end === undefined) throw new Error(`the dump is not whole: ${text.slice(-300)}`);
    const all = JSON.parse(lines.pop() ?? '') as Json;
    const types = new Map<number, string>();
    for (const line of lines) {
      const [name, ids] = JSON.parse(line) as [string, readonly number[]];
      for (const id of ids) types.set(id, name);
    }
    kept.copy = new JsonCopy(thingsIn(all, types));
    kept.at = end.at;
    this.counts.dumps += 1;
  }

  private async follow(collection: string, kept: Kept, copy: JsonCopy): Promise<void> {
    const { endpoints, token } = this.options;
    // Each begins at another node.
    const first = this.counts.dumps % endpoints.length;
    const inTurn = [...endpoints.slice(first), ...endpoints.slice(0, first)];
    const urls = inTurn.map(({ host, port }) => `http://${host}:${port}`);
    const onInterrupted = (): void => {
      this.counts.interruptions += 1;
    };
    const options = { token: token(), since: kept.at, signal: this.stopping.signal, onInterrupted };
    for await (const { at, steps } of changes(urls, `//${collection}`, options)) {
      const [index, before] = [Number.parseInt(at, 10), Number.parseInt(kept.at, 10)];
      if (steps.length > 0 ? index <= before : index < before) throw new Error(`${at} is told`);
      kept.at = at;
      if (steps.length > 0) this.counts.changes += 1;
      for (const step of steps) take(copy, stepOf(step));
    }
  }
}

/** Leaves out what happens to things that the dump did not reach: nothing refers to them from the root. */
function take(copy: JsonCopy, step: Step): void {
  if (step.op === 'gone') copy.take({ ...step, ids: (step.ids ?? []).filter((id) => copy.has(id)) });
  else if (step.op === 'new' || step.id === undefined || copy.has(step.id)) copy.take(step);
}

/** A step as a copy takes it: its shape is what `docs/feed.md` says. */
function stepOf(step: ChangeStep): Step {
  return step as unknown as Step;
}
