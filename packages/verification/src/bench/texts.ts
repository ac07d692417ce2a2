/**
 * What a query text costs that was never seen before: processor time of the process, its helpers and collector included, by
 * stages: of this build, or of two builds in turns.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newText, TEXT_KINDS, TEXT_LENGTHS, type TextKind } from './new-texts.js';
import { type Interval, median, medianInterval, table } from './table.js';
import type { TextsMessage, TextsOrder } from './texts-worker.js';

/** How far a text goes in a measurement; each stage has those before it in it. */
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
  readonly ratio: (Interval & { readonly median: number }) | undefined;
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
  const measured = builds.map(
    (): Record<Stage, number[]> => ({ parse: [], analyse: [], prepare: [], run: [] }),
  );
  for (let round = -WARM_ROUNDS; round < rounds; round++) {
    for (const stage of STAGES) {
      // Each is first every other time: what comes second finds another machine.
      const turns = builds.map((build, index) => ({ build, index }));
      if (round % 2 !== 0) turns.reverse();
      for (const { build, index } of turns) {
        const us = await build.measure({ stage, kind, length, count });
        if (round >= 0) measured[index]?.[stage].push(us);
      }
    }
  }
  const [own, other] = measured;
  if (own === undefined) throw new Error('there is no build to measure');
  const ratios = other?.run.map((us, i) => (own.run[i] ?? Number.NaN) / us) ?? [];
  return {
    name,
    own: figuresOf(own),
    other: other === undefined ? undefined : figuresOf(other),
    ratio: other === undefined ? undefined : { median: median(ratios), ...medianInterval(ratios) },
  };
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
      : [
          other.run.toFixed(1),
          ratio.median.toFixed(3),
          `${ratio.low.toFixed(3)} to ${ratio.high.toFixed(3)}`,
        ]),
  ]);
  return table([headings, ...lines]);
}

const workerFile = fileURLToPath(new URL('texts-worker.js', import.meta.url));

/** A process that has the engine of one build. */
class Build {
  private readonly child: ChildProcess;
  private texts = 0;

  /** @param folder of a built checkout */
  constructor(folder: URL) {
    this.child = fork(workerFile, [join(fileURLToPath(folder), 'packages')]);
  }

  close(): void {
    this.child.disconnect();
  }

  /** Processor time of one text, in µs. */
  measure(
    order: Omit<TextsOrder, 'texts'> & { kind: TextKind; length: number; count: number },
  ): Promise<number> {
    const { stage, kind, length, count } = order;
    const texts = Array.from({ length: count }, () => newText(kind, length, ++this.texts));
    const { child } = this;
    return new Promise((done, reject) => {
      const over = (): void => {
        child.off('message', onMessage);
        child.off('exit', onExit);
        child.off('error', onError);
      };
      const onError = (error: Error): void => {
        over();
        reject(error);
      };
      const onExit = (code: number | null): void => {
        over();
        reject(new Error(`the process of a build ended with ${code}`));
      };
      const onMessage = (message: TextsMessage): void => {
        over();
        if ('problem' in message) reject(new Error(message.problem));
        else done(message.us);
      };
      child.on('message', onMessage);
      child.on('exit', onExit);
      child.on('error', onError);
      child.send({ stage, texts } satisfies TextsOrder);
    });
  }
}
