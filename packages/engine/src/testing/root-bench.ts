/** The root scope of an engine in memory, and another node that knows only the effects of its changes: for tests. */
import { rootLines } from '../admin/describe.js';
import { RootGroup } from '../admin/root-group.js';
import { groupLines } from '../state/describe.js';
import { RecordKind } from '../state/records.js';
import { Harness, type Plain, type RunOptions } from './harness.js';

const ROOT = { scope: 'thingsdb' } as const;

export class RootBench {
  readonly db = new Harness();
  /** The other node. */
  readonly follower = new RootGroup();

  constructor() {
    this.follower.apply(this.db.foundation);
  }

  /** Runs a query of the root scope that must change something; the follower repeats it. */
  readonly change = (code: string, options: RunOptions = {}): void => {
    this.follower.apply(this.db.effects(code, { ...ROOT, ...options }));
  };

  /** Runs a query of the root scope that changes something and has a result. */
  readonly changed = (code: string): Plain => {
    const outcome = this.db.outcome(code, ROOT);
    if (outcome.kind !== 'value' || outcome.change === null) throw new Error(`nothing changed: ${code}`);
    this.follower.apply(outcome.change.effects);
    return this.db.decode(outcome.result);
  };

  /** The result of a query of the root scope. */
  readonly look = (code: string, options: RunOptions = {}): Plain =>
    this.db.run(code, { ...ROOT, ...options });

  /** The name of the error of a query of the root scope. */
  readonly refused = (code: string, options: RunOptions = {}): string =>
    this.db.error(code, { ...ROOT, ...options });
}

/** All that the state of a root scope holds, as text. */
export function linesOf(root: RootGroup): string[] {
  return [...rootLines(root), ...groupLines(root)];
}

/** The root scope that another node reads from the records of one. */
export function reloaded(root: RootGroup): RootGroup {
  const loaded = new RootGroup();
  for (const { kind, id, part, value } of root.dirty.freeze(() => undefined).records.values()) {
    if (value !== null) loaded.loadRecord(kind, id, value, part);
  }
  root.dirty.refreeze(() => undefined);
  loaded.loadRecord(RecordKind.META, 0, root.encodeMeta());
  return loaded;
}
