/**
 * A leader on which random programs run, and a follower that applies what comes of them. After each program the two are
 * compared, and the rules that every state keeps are checked.
 */

import { rootLines } from '../../admin/describe.js';
import { RootGroup } from '../../admin/root-group.js';
import type { Outcome } from '../../calls/call.js';
import { ErrorCode } from '../../error.js';
import type { CollectionGroup } from '../../state/collection-group.js';
import { groupLines } from '../../state/describe.js';
import { takeBack } from '../../state/transaction.js';
import { Harness } from '../harness.js';
import {
  brokenRules,
  copyMeta,
  newGroup,
  reopened,
  savedRecords,
  sharedLines,
  sourceOf,
  stateLines,
} from '../state-lines.js';

/** One program, as statements that may be left out one by one. */
export interface FuzzProgram {
  readonly scope: 'collection' | 'thingsdb';
  readonly statements: readonly string[];
}

export interface WorldOptions {
  readonly seed: number;
  /** See `Runtime.hotRuns`. */
  readonly hotRuns: number;
  /** A planted fault, for tests: changes that the follower does not get. */
  readonly loses?: (effects: Uint8Array) => boolean;
}

/** Programs between two rounds of the dearer checks. */
const ROUND = 20;

const LIMIT_MS = 250;

/** One in so many programs is explained before it runs. */
const EXPLAINED_PART = 4;

/** CPU time that one program may take: the limit, and a slack for a check that comes late. */
const CPU_MAX_MS = LIMIT_MS + 1000;

const PROTOTYPE_KEYS = keysOfPrototypes();

export class World {
  private readonly harness: Harness;
  private readonly follower: CollectionGroup = newGroup();
  private readonly rootFollower = new RootGroup();
  private readonly loses: (effects: Uint8Array) => boolean;
  private count = 0;

  constructor({ seed, hotRuns, loses = () => false }: WorldOptions) {
    this.loses = loses;
    this.harness = new Harness({ seed, limits: { durationMs: LIMIT_MS, memoryBytes: 128 * 1024 * 1024 } });
    this.harness.engine.runtime.hotRuns = hotRuns;
    this.rootFollower.apply(this.harness.foundation);
    // The harness makes its root scope without counting that as a change that was applied.
    this.rootFollower.changeCount = this.harness.engine.root.changeCount;
  }

  /** Things in the collection. */
  get size(): number {
    return this.harness.collection.store.thingCount;
  }

  /** Runs a program; gives what is wrong after it, or null. */
  run({ scope, statements }: FuzzProgram): {
    readonly wrong: string | null;
    readonly outcome: Outcome | null;
  } {
    const { harness } = this;
    const code = statements.join(';\n');
    const before = this.leaderLines();
    let began = process.cpuUsage();
    let outcome: Outcome;
    try {
      // The text decides, so that the same program is explained when a finding is played again.
      const wrong = code.length % EXPLAINED_PART === 0 ? this.wrongExplained(code, scope, before) : null;
      if (wrong !== null) return { wrong, outcome: null };
      began = process.cpuUsage();
      outcome = harness.outcome(code, { scope });
    } catch (error) {
      return { wrong: `it threw ${error instanceof Error ? error.stack : String(error)}`, outcome: null };
    }
    const spent = process.cpuUsage(began);
    try {
      return { wrong: this.wrongAfter(outcome, before, scope, (spent.user + spent.system) / 1000), outcome };
    } catch (error) {
      return {
        wrong: `afterwards it threw ${error instanceof Error ? error.stack : String(error)}`,
        outcome,
      };
    }
  }

  /** The rule that is broken after a program was explained, which must leave nothing; null for none. */
  private wrongExplained(code: string, scope: FuzzProgram['scope'], before: string): string | null {
    const { harness } = this;
    const outcome = harness.outcome(code, { scope, dryRun: 'explain' });
    if (outcome.kind === 'error' && outcome.error.code === ErrorCode.INTERNAL) return outcome.error.message;
    if (harness.changes.length > 0) return 'an explained run made a change';
    if (harness.engine.runtime.symbols.values().length > 0) return 'a variable outlived an explained run';
    return differenceOf('an explained run changed the state', before, this.leaderLines());
  }

  private wrongAfter(
    outcome: Outcome,
    before: string,
    scope: FuzzProgram['scope'],
    cpuMs: number,
  ): string | null {
    const { harness } = this;
    if (cpuMs > CPU_MAX_MS) return `it took ${cpuMs.toFixed(0)} ms of CPU time`;
    if (outcome.kind === 'error' && outcome.error.code === ErrorCode.INTERNAL) return outcome.error.message;
    if (keysOfPrototypes() !== PROTOTYPE_KEYS) return 'a prototype of JavaScript was changed';
    if (harness.engine.runtime.symbols.values().length > 0) return 'a variable outlived the query';
    // A query with futures makes several changes, of which its outcome has the last one only.
    const changes = [...harness.changes];
    const after = this.leaderLines();
    if (changes.length === 0) return differenceOf('what made no change changed the state', before, after);

    const group = scope === 'collection' ? harness.collection : harness.engine.root;
    for (const { undo } of changes.toReversed()) takeBack(undo);
    const wrong = differenceOf('taking back does not lead to what was before', before, this.leaderLines());
    if (wrong !== null) return wrong;
    for (const { effects } of changes) group.apply(effects);
    const again = differenceOf('the leader applied its own effects', after, this.leaderLines());
    if (again !== null) return again;
    const follower = scope === 'collection' ? this.follower : this.rootFollower;
    for (const { effects } of changes) if (!this.loses(effects)) follower.apply(effects);
    return differenceOf('the follower', after, this.followerLines()) ?? this.wrongInRound(after);
  }

  /** Checks that take longer, now and then. */
  private wrongInRound(after: string): string | null {
    this.count += 1;
    if (this.count % ROUND !== 0) return null;
    const { harness, follower } = this;
    const broken = [...brokenRules(harness.collection), ...brokenRules(follower)];
    if (broken.length > 0) return broken.join('; ');
    // The leader goes on with what a checkpoint would have written, from which it reads thing by thing.
    const old = harness.collection;
    const records = savedRecords(old);
    const stored = sharedLines(savedRecords(follower));
    const other = differenceOf('what the follower stores', sharedLines(records), stored);
    if (other !== null) return other;
    const copy = differenceOf(
      'a node that starts',
      this.collectionLines(old),
      this.collectionLines(reopened(old, records), old),
    );
    if (copy !== null) return copy;
    const group = harness.reopen(sourceOf(records));
    copyMeta(old, group);
    for (const procedure of old.procedures.byName.values()) group.procedures.put(procedure);
    return differenceOf('the leader after a restart', after, this.leaderLines());
  }

  private leaderLines(): string {
    return this.linesOf(this.harness.collection, this.harness.engine.root);
  }

  private followerLines(): string {
    return this.linesOf(this.follower, this.rootFollower);
  }

  private linesOf(collection: CollectionGroup, root: RootGroup): string {
    return [...rootLines(root), ...groupLines(root), this.collectionLines(collection)].join('\n');
  }

  /** @param named the group whose procedures count */
  private collectionLines(collection: CollectionGroup, named = collection): string {
    return [...groupLines(named), ...stateLines(collection)].join('\n');
  }
}

function differenceOf(what: string, expected: string, found: string): string | null {
  if (found === expected) return null;
  const lines = found.split('\n');
  const wanted = expected.split('\n');
  const at = wanted.findIndex((line, i) => line !== lines[i]);
  return `${what}: ${wanted[at] ?? 'nothing'} became ${lines[at] ?? 'nothing'}`;
}

function keysOfPrototypes(): string {
  return [Object, Array, Map, Set, String, Number, Function]
    .map(({ prototype }) => Object.getOwnPropertyNames(prototype).join())
    .join(';');
}
