/**
 * Costs of the requests of this node, by query shape and by procedure: see `queries_info()` and `procedure_stats()`. A request
 * counts on the node that ran it.
 *
 * A text that is kept gets its shape once, and costs some additions from then on. Of texts that come once, which may be as many as
 * requests, one of several is looked at and counts for all of them where many come in a second.
 */
import {
  getOrInsertComputed,
  type Prepared,
  type ProcedureFigures,
  type QueryFigures,
  QueryShape,
  RunFigures,
  type RunNote,
  type Scope,
  type Target,
} from '@althing/engine';
import type { PendingRequest, RequestEnd } from './request.js';

/** Shapes that are told, and figures that are kept at most: beyond that, those with the least time go. */
const QUERIES_TOLD = 200;
const QUERIES_MAX = 400;
const PROCEDURES_MAX = 1000;

/** Characters of a shape. Texts that begin alike for so long are taken for one. */
const SHAPE_LENGTH_MAX = 1000;

/**
 * Texts that come for the first time in a second, of which each is looked at; of the next as many it is each second one, of the
 * next each third, and so on. A look takes about 10 microseconds.
 */
const EACH_MAX = 100;

/** A run that takes so many milliseconds is never passed over: to find its shape is little beside that. */
const LONG_RUN_MS = 10;

/** The beginning of the names of the scopes of collections. */
const COLLECTION_PREFIX = '@collection:';

export interface RequestFiguresOptions {
  /** Monotonic time, and the wall clock, in milliseconds. */
  readonly now: () => number;
  readonly wallClock: () => number;
  /** The scope of a target in words; null for a collection that is gone. */
  readonly scopeOf: (target: Target) => string | null;
  /** Procedures that are told of one by one, as `COLLECTION.PROCEDURE`; none by default. */
  readonly told?: readonly string[];
  /** Called with the place among these of one that ran. */
  readonly ranTold?: (place: number, isOk: boolean, ranMs: number) => void;
}

export class RequestFigures {
  private shapes = new Map<string, QueryShape>();
  private shapeCount = 0;
  private procedures = new Map<Target, Map<string, RunFigures>>();
  private procedureCount = 0;
  /** Texts that came for the first time since `since`, in the present second, and those behind the last that was looked at. */
  private newTexts = 0;
  private since = 0;
  private passedOver = 0;
  /** One of so many was looked at in the end of the last second. */
  private stride = 1;

  constructor(private readonly options: RequestFiguresOptions) {}

  /**
   * Counts a request that was answered, if a call ran for it here.
   *
   * @param now the time, where somebody has just looked at the clock
   */
  note(
    { ranCall, ranMs, thingsRead, coldReads, begun }: AnsweredRequest,
    end: RequestEnd,
    now?: number,
  ): void {
    // The counters of an explained run take time.
    if (ranCall === null || ranCall.dryRun === 'explain') return;
    const at = now ?? this.options.now();
    const isOk = end.kind === 'reply' && end.reply.ok;
    const note = { isOk, ranMs, waitedMs: at - begun - ranMs, thingsRead, coldReads, at };
    const { scope, body } = ranCall;
    const target = scope.collectionId ?? (scope.kind === 'node' ? 'node' : 'thingsdb');
    if (body.kind === 'query') this.noteQuery(body.prepared, target, note);
    else if (body.kind === 'run') {
      this.figuresOfProcedure(target, body.procedure.name).note(note);
      this.tell(scope, body.procedure.name, isOk, ranMs);
    }
  }

  private tell({ name: scope }: Scope, procedure: string, isOk: boolean, ranMs: number): void {
    const { told = [], ranTold } = this.options;
    if (told.length === 0) return;
    const place = told.indexOf(`${scope.replace(COLLECTION_PREFIX, '')}.${procedure}`);
    if (place >= 0) ranTold?.(place, isOk, ranMs);
  }

  /** The requests that took the most time, the longest first. */
  queries(): readonly QueryFigures[] {
    const all = [...this.shapes.values()].flatMap(({ text, byTarget }) =>
      [...byTarget].map(([target, figures]) => ({ shape: text, target, figures })),
    );
    return this.told(all).slice(0, QUERIES_TOLD);
  }

  /** All that were called, the longest in all first. */
  procedureCalls(): readonly ProcedureFigures[] {
    const all = [...this.procedures].flatMap(([target, named]) =>
      [...named].map(([name, figures]) => ({ name, target, figures })),
    );
    return this.told(all);
  }

  reset(): void {
    this.shapes = new Map();
    this.shapeCount = 0;
    this.procedures = new Map();
    this.procedureCount = 0;
    this.newTexts = 0;
    this.passedOver = 0;
    this.stride = 1;
  }

  private told<T extends { readonly target: Target; readonly figures: RunFigures }>(
    all: readonly T[],
  ): readonly (Omit<T, 'target'> & { readonly scope: string; readonly last: number })[] {
    const { now, wallClock, scopeOf } = this.options;
    const offset = wallClock() - now();
    return [...all].sort(byTime).flatMap(({ target, ...rest }) => {
      const scope = scopeOf(target);
      return scope === null
        ? []
        : [{ ...rest, scope, last: Math.floor((rest.figures.lastAt + offset) / 1000) }];
    });
  }

  private noteQuery(prepared: Prepared, target: Target, note: RunNote): void {
    const { shape } = prepared;
    if (shape !== null && this.shapes.get(shape.text) === shape) {
      (shape.figuresOf(target) ?? this.addFigures(shape, target)).note(note);
      return;
    }
    const weight = prepared.isKept || note.ranMs >= LONG_RUN_MS ? 1 : this.weightOfNewText(note.at);
    if (weight === 0) return;
    const found = this.shapeOf(prepared);
    prepared.shape = found;
    (found.figuresOf(target) ?? this.addFigures(found, target)).note(note, weight);
  }

  /** The number of texts that one that came for the first time stands for; 0 where it is passed over. */
  private weightOfNewText(now: number): number {
    if (now - this.since >= 1000) {
      this.stride = now - this.since < 2000 ? strideAt(this.newTexts) : 1;
      this.since = now;
      this.newTexts = 0;
    }
    this.passedOver += 1;
    if (this.passedOver < Math.max(this.stride, strideAt(this.newTexts++))) return 0;
    const weight = this.passedOver;
    this.passedOver = 0;
    return weight;
  }

  private shapeOf(prepared: Prepared): QueryShape {
    const text = prepared.shapeText(SHAPE_LENGTH_MAX);
    return getOrInsertComputed(this.shapes, text, () => new QueryShape(text));
  }

  private addFigures(shape: QueryShape, target: Target): RunFigures {
    if (this.shapeCount >= QUERIES_MAX) this.forgetShapes();
    const figures = new RunFigures();
    shape.put(target, figures);
    this.shapeCount += 1;
    // It may have been forgotten just now, being empty.
    this.shapes.set(shape.text, shape);
    return figures;
  }

  private forgetShapes(): void {
    const all = [...this.shapes.values()].flatMap((shape) =>
      [...shape.byTarget].map(([target, figures]) => ({ shape, target, figures })),
    );
    for (const { shape, target } of all.sort(byTime).slice(QUERIES_TOLD)) {
      shape.delete(target);
      this.shapeCount -= 1;
      if (shape.byTarget.size === 0) this.shapes.delete(shape.text);
    }
  }

  private figuresOfProcedure(target: Target, name: string): RunFigures {
    let named = this.procedures.get(target);
    if (named === undefined) {
      named = new Map();
      this.procedures.set(target, named);
    }
    const known = named.get(name);
    if (known !== undefined) return known;
    if (this.procedureCount >= PROCEDURES_MAX) this.forgetProcedures();
    const figures = new RunFigures();
    named.set(name, figures);
    this.procedureCount += 1;
    return figures;
  }

  private forgetProcedures(): void {
    const all = [...this.procedures.values()].flatMap((named) =>
      [...named].map(([name, figures]) => ({ named, name, figures })),
    );
    for (const { named, name } of all.sort(byTime).slice(PROCEDURES_MAX / 2)) {
      named.delete(name);
      this.procedureCount -= 1;
    }
  }
}

/** The figures of a request. */
export type AnsweredRequest = Pick<
  PendingRequest,
  'ranCall' | 'ranMs' | 'thingsRead' | 'coldReads' | 'begun'
>;

interface Timed {
  readonly figures: RunFigures;
}

function strideAt(newTexts: number): number {
  return 1 + Math.floor(newTexts / EACH_MAX);
}

function byTime(a: Timed, b: Timed): number {
  return b.figures.run.totalMs - a.figures.run.totalMs;
}
