/**
 * The cost of an explained run, statement by statement. Its code is compiled for that one run, in the first tier, with a counter
 * around each statement: other runs pay nothing for it.
 */
import type { Environment } from '../environment.js';
import type { Type } from '../schema/type.js';
import type { Store } from '../state/store.js';
import { type Counted, Tally } from '../state/tally.js';
import type { Transaction } from '../state/transaction.js';
import type { Closure } from '../value/closure.js';
import { Thing } from '../value/thing.js';
import type { Place } from './place.js';
import type { Cell } from './symbols.js';
import type { Code, Unit } from './unit.js';

/** Statements that are counted at most; what further ones do counts for the statement around them. */
const STATEMENTS_MAX = 5000;

/**
 * The growth of the heap is looked at in the first runs of a statement, and then in one of so many: a look takes as long as some
 * hundred operations.
 */
const FIRST_LOOKS = 8;
const RUNS_PER_LOOK = 64;

/** Gauges from which the amounts are read. */
export interface Gauges {
  readonly environment: Pick<Environment, 'monotonic' | 'heapUsed'>;
  /** Steps since the run began. */
  readonly stepsUsed: number;
  readonly store: Pick<Store, 'hits' | 'misses' | 'recordReads'> | null;
  readonly transaction: Pick<Transaction, 'endRun'>;
}

/** Amounts that rise as code runs. */
export class Usage {
  ms = 0;
  steps = 0;
  /** The number of looks into things in memory, and of things that had to be read. */
  fromMemory = 0;
  fromDisk = 0;
  /** Records that were read: those of things, and pages of what is large. */
  records = 0;
}

/** Look-ups in an index, or in all instances of a type. */
export interface IndexUse {
  readonly type: string;
  readonly index: string;
  lookUps: number;
  entries: number;
}

/** Things of a type of which a closure compared a property, one after the other. */
export interface Search {
  readonly type: Type;
  readonly property: string;
  things: number;
}

/** One statement, or the body of a closure or loop that is a single expression. */
export class StatementFigures {
  runs = 0;
  /** Without the statements in it, and those of what it calls. */
  readonly own = new Usage();
  /** With them; what recursion does inside it counts once. */
  totalMs = 0;
  totalSteps = 0;
  readonly changes = new Tally();
  readonly indexUses = new Map<string, IndexUse>();
  readonly searches = new Map<Type, Search>();
  private active = 0;
  private looks = 0;
  private grownBytes = 0;
  private heapBefore = -1;
  private msBefore = 0;
  private stepsBefore = 0;

  constructor(readonly place: Place) {}

  /** About how many bytes the heap grew in all its runs, with the statements in it. */
  get memoryBytes(): number {
    return this.looks === 0 ? 0 : Math.round((this.grownBytes / this.looks) * this.runs);
  }

  begin(now: Usage, heapUsed: () => number): void {
    this.runs += 1;
    this.active += 1;
    if (this.active > 1) return;
    this.msBefore = now.ms;
    this.stepsBefore = now.steps;
    const looks = this.runs <= FIRST_LOOKS || this.runs % RUNS_PER_LOOK === 0;
    this.heapBefore = looks ? heapUsed() : -1;
  }

  end(now: Usage, heapUsed: () => number): void {
    this.active -= 1;
    if (this.active > 0) return;
    this.totalMs += now.ms - this.msBefore;
    this.totalSteps += now.steps - this.stepsBefore;
    if (this.heapBefore < 0) return;
    this.looks += 1;
    // Garbage may have been collected meanwhile: then the growth is unknown.
    this.grownBytes += Math.max(0, heapUsed() - this.heapBefore);
  }
}

export class Profile {
  /** The statements by the text that they are in, and by the place where they begin in it. */
  readonly statements = new Map<string, Map<number, StatementFigures>>();
  /** The cost outside of all statements, and that of packing the result. */
  readonly rest = new StatementFigures(NOWHERE);
  readonly packing = new StatementFigures(NOWHERE);
  /** The number of statements that are not counted by themselves. */
  uncounted = 0;
  private count = 0;
  private current = this.rest;
  private readonly heapUsed: () => number;
  private readonly seen: Usage;
  private readonly begun: Usage;
  /** Closures whose code was made for this run, with the code that they had. */
  private readonly replaced: (readonly [Closure, Unit | null])[] = [];

  constructor(private readonly gauges: Gauges) {
    this.heapUsed = () => gauges.environment.heapUsed();
    this.begun = readGauges(gauges, new Usage());
    this.seen = readGauges(gauges, new Usage());
    this.rest.begin(this.seen, this.heapUsed);
  }

  /** Leaves out the steps that it took to compile the text: they belong to no statement. */
  noteCompiled(): void {
    this.begun.steps = this.gauges.stepsUsed;
    this.seen.steps = this.begun.steps;
  }

  /** The cost of the whole run. */
  total(): Usage & { readonly memoryBytes: number } {
    this.settle();
    this.rest.end(this.seen, this.heapUsed);
    return { ...difference(this.seen, this.begun), memoryBytes: this.rest.memoryBytes };
  }

  /** Counts changes for the statement that makes them. */
  readonly noteChange = (counted: Counted): void => this.current.changes.add(counted);

  /** Code of a statement, with a counter around it. */
  counted(place: Place, code: Code): Code {
    const figures = this.figuresOf(place);
    return figures === null ? code : () => this.within(figures, code);
  }

  /** Runs something as a part of a statement. */
  within<T>(figures: StatementFigures, run: () => T): T {
    const outer = this.current;
    this.settle();
    this.current = figures;
    figures.begin(this.seen, this.heapUsed);
    try {
      return run();
    } finally {
      this.settle();
      figures.end(this.seen, this.heapUsed);
      this.current = outer;
    }
  }

  /** Code of the body of a closure that compares a property of its first argument, which is counted by the type of that. */
  searching(place: Place, argument: Cell, property: string, code: Code): Code {
    const figures = this.figuresOf(place);
    if (figures === null) return code;
    const { searches } = figures;
    return () => {
      const value = code();
      const thing = argument.value;
      // One that is not in memory has no type before it is looked into.
      if (!(thing instanceof Thing) || thing.id === 0 || thing.type === null) return value;
      const known = searches.get(thing.type);
      if (known !== undefined) known.things += 1;
      else searches.set(thing.type, { type: thing.type, property, things: 1 });
      return value;
    };
  }

  /**
   * Notes a look-up in an index.
   *
   * @returns where to count the entries that it goes over
   */
  noteLookUp(type: string, index: string): IndexUse {
    const { indexUses } = this.current;
    const key = `${type} ${index}`;
    const use = indexUses.get(key) ?? { type, index, lookUps: 0, entries: 0 };
    use.lookUps += 1;
    indexUses.set(key, use);
    return use;
  }

  /** Makes the code of a closure for this run. The time that takes is nobody's. */
  replace(closure: Closure, compile: (closure: Closure) => Unit): Unit {
    this.settle();
    this.replaced.push([closure, closure.unit]);
    const unit = compile(closure);
    this.seen.ms = this.gauges.environment.monotonic();
    return unit;
  }

  /** Gives closures the code back that they had. */
  end(): void {
    for (const [closure, unit] of this.replaced) closure.unit = unit;
  }

  /** Charges what was used since the last look to the statement that runs. */
  private settle(): void {
    const { current, seen, gauges } = this;
    gauges.transaction.endRun();
    const { ms, steps, fromMemory, fromDisk, records } = seen;
    readGauges(gauges, seen);
    const { own } = current;
    own.ms += seen.ms - ms;
    own.steps += seen.steps - steps;
    own.fromMemory += seen.fromMemory - fromMemory;
    own.fromDisk += seen.fromDisk - fromDisk;
    own.records += seen.records - records;
  }

  private figuresOf(place: Place): StatementFigures | null {
    let inText = this.statements.get(place.source);
    if (inText === undefined) {
      inText = new Map();
      this.statements.set(place.source, inText);
    }
    const known = inText.get(place.start);
    if (known !== undefined) return known;
    if (this.count >= STATEMENTS_MAX) {
      this.uncounted += 1;
      return null;
    }
    const figures = new StatementFigures(place);
    this.count += 1;
    inText.set(place.start, figures);
    return figures;
  }
}

const NOWHERE: Place = { source: '', start: 0, end: 0 };

function readGauges({ environment, stepsUsed, store }: Gauges, into: Usage): Usage {
  into.ms = environment.monotonic();
  into.steps = stepsUsed;
  if (store === null) return into;
  into.fromMemory = store.hits;
  into.fromDisk = store.misses;
  into.records = store.recordReads;
  return into;
}

function difference(now: Usage, before: Usage): Usage {
  return {
    ms: now.ms - before.ms,
    steps: now.steps - before.steps,
    fromMemory: now.fromMemory - before.fromMemory,
    fromDisk: now.fromDisk - before.fromDisk,
    records: now.records - before.records,
  };
}
