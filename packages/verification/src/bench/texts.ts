/**
 * The cost of a query text that was never seen before: processor time of the process, its helpers and collector included, by
 * stages: of this build, or of two builds in turns.
 */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { intervalText, median, table } from '../harness/table.js';
import { Child } from './child.js';
import { inTurns, type Ratio, ratioOf } from './contest.js';
import { newText, TEXT_KINDS, TEXT_LENGTHS, type TextKind } from './new-texts.js';
import type { TextsMessage, TextsOrder } from './texts-worker.js';

/** The stage up to which a text goes in a measurement; each has those before it in it. */
export type Stage = 'parse' | 'analyse' | 'prepare' | 'run';

export const STAGES: readonly Stage[] = ['parse', 'analyse', 'prepare', 'run'];

export interface TextsOptions {
  /** Folder of another built checkout; undefined to measure this one alone. */
  readonly against: string | undefined;
  readonly rounds: number;
  /** Only rows whose name contains this. */
  readonly only: string;
}

/** Microseconds of processor time for each text, up to the end of each stage. */
export type StageFigures = Readonly<Record<Stage, number>>;

export interface TextsRow {
  readonly name: string;
  readonly own: StageFigures;
  readonly other: StageFigures | undefined;
  /** Time of this build to that of the other, all stages together. */
  readonly ratio: Ratio | undefined;
}

/** Characters of all texts that one round of one stage takes. */
const CHARACTERS_PER_ROUND = 200_000;
const TEXTS_PER_ROUND_MAX = 2000;

/** Rounds before the first that counts: code has its last form by then. */
const WARM_ROUNDS = 6;

export async function benchTexts(
  { against, rounds, only }: TextsOptions,
  onRow: (row: TextsRow) => void = () => undefined,
): Promise<TextsRow[]> {
  const builds = [new Build(new URL('../../../..', import.meta.url))];
  try {
    if (against !== undefined) builds.push(new Build(new URL(`file://${resolve(against)}/`)));
    const rows: TextsRow[] = [];
    for (const kind of TEXT_KINDS) {
      for (const length of TEXT_LENGTHS) {
        const name = `${length} characters, other ${kind}`;
        if (!name.includes(only)) continue;
        const row = await measureRow(builds, name, kind, length, rounds);
        rows.push(row);
        onRow(row);
      }
    }
    return rows;
  } finally {
    for (const build of builds) build.close();
  }
}

async function measureRow(
  builds: readonly Build[],
  name: string,
  kind: TextKind,
  length: number,
  rounds: number,
): Promise<TextsRow> {
  const count = Math.min(TEXTS_PER_ROUND_MAX, Math.ceil(CHARACTERS_PER_ROUND / length));
  for (const build of builds) build.measured = noFigures();
  await inTurns(builds, WARM_ROUNDS + rounds, async (build) => {
    for (const stage of STAGES) {
      build.measured[stage].push(await build.measure(stage, kind, length, count));
    }
  });
  for (const { measured } of builds) for (const stage of STAGES) measured[stage].splice(0, WARM_ROUNDS);
  const [own, other] = builds.map(({ measured }) => measured);
  if (own === undefined) throw new Error('there is no build to measure');
  return {
    name,
    own: figuresOf(own),
    other: other === undefined ? undefined : figuresOf(other),
    ratio: other === undefined ? undefined : ratioOf(own.run, other.run),
  };
}

function noFigures(): Record<Stage, number[]> {
  return { parse: [], analyse: [], prepare: [], run: [] };
}

function figuresOf({
  parse,
  analyse,
  prepare,
  run,
}: Readonly<Record<Stage, readonly number[]>>): StageFigures {
  return { parse: median(parse), analyse: median(analyse), prepare: median(prepare), run: median(run) };
}

/** The figures as text: what each stage adds, and all of them. */
export function textsText(rows: readonly TextsRow[]): string {
  const [first] = rows;
  if (first === undefined) return 'no row has such a name';
  const comparison = first.other === undefined ? [] : ['other', 'ratio', '95 %'];
  const headings = ['new texts, µs CPU', 'parse', 'analyse', 'compile', 'first run', 'in all', ...comparison];
  const lines = rows.map(({ name, own, other, ratio }) => [
    name,
    own.parse.toFixed(1),
    (own.analyse - own.parse).toFixed(1),
    (own.prepare - own.analyse).toFixed(1),
    (own.run - own.prepare).toFixed(1),
    own.run.toFixed(1),
    ...(other === undefined || ratio === undefined
      ? []
      : [other.run.toFixed(1), ratio.median.toFixed(3), intervalText(ratio)]),
  ]);
  return table([headings, ...lines]);
}

/** The engine of one build in a process of its own. */
class Build {
  measured = noFigures();
  private readonly child: Child;
  private texts = 0;

  /** @param folder of a built checkout */
  constructor(folder: URL) {
    this.child = new Child(import.meta.url, 'texts-worker.js', [join(fileURLToPath(folder), 'packages')]);
  }

  close(): void {
    this.child.close();
  }

  /** Processor time of one text, in µs. */
  measure(stage: Stage, kind: TextKind, length: number, count: number): Promise<number> {
    const texts = Array.from({ length: count }, () => newText(kind, length, ++this.texts));
    return this.child.ask({ stage, texts } satisfies TextsOrder, (message: TextsMessage) => {
      if ('problem' in message) throw new Error(message.problem);
      return message.us;
    });
  }
}
