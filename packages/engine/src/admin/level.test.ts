import { describe, expect, test } from '@jest/globals';
import { FormatError } from '../bytes.js';
import { RecordKind } from '../state/records.js';
import { takeBack } from '../state/transaction.js';
import { bootstrap } from './bootstrap.js';
import { LEVEL_FIRST, LEVEL_NEWEST, LEVELS, LevelError } from './level.js';
import { RootRestore } from './restore.js';
import { changeRoot } from './root-change.js';
import { RootGroup } from './root-group.js';

const PASSWORD = { salt: new Uint8Array(16), hash: new Uint8Array(32), logN: 0, r: 1, p: 1 };

/** A level that software to come will know. */
const NEXT = LEVEL_NEWEST + 1;

test('levels rise by one from the first', () => {
  expect(LEVELS.map(({ level }) => level)).toEqual(LEVELS.map((_, at) => LEVEL_FIRST + at));
  expect(LEVEL_NEWEST).toBe(LEVELS.at(-1)?.level);
});

describe('the level of a cluster', () => {
  test('is the first until it is raised, and the same wherever the effects are applied', () => {
    const leader = new RootGroup(NEXT);
    const { effects } = raise(leader, NEXT);
    expect(leader.level).toBe(LEVEL_FIRST);
    leader.confirmLevel();
    const follower = new RootGroup(NEXT);
    follower.apply(effects);

    expect([leader.level, follower.level]).toEqual([NEXT, NEXT]);
    expect(recordOf(follower)).toEqual(recordOf(leader));
  });

  test('comes back from a checkpoint, and leaves no record where it is the first', () => {
    const root = new RootGroup(NEXT);
    expect(recordOf(root)).toBeNull();
    root.apply(raise(new RootGroup(NEXT), NEXT).effects);

    const loaded = new RootGroup(NEXT);
    loaded.loadRecord(RecordKind.LEVEL, 0, recordOf(root) ?? new Uint8Array());
    expect(loaded.level).toBe(NEXT);
    loaded.clear();
    expect(loaded.level).toBe(LEVEL_FIRST);
  });

  test('is what it was when the change is taken back', () => {
    const root = new RootGroup(NEXT);
    takeBack(raise(root, NEXT).undo);
    root.confirmLevel();
    expect(root.level).toBe(LEVEL_FIRST);
    expect(recordOf(root)).toBeNull();
  });

  test('the level of a new cluster is what its founders are known to know', () => {
    const root = new RootGroup(NEXT);
    const { effects } = bootstrap(root, 1, PASSWORD, [], NEXT);
    const other = new RootGroup(NEXT);
    other.apply(effects);
    expect(other.level).toBe(NEXT);

    const old = new RootGroup();
    old.apply(bootstrap(new RootGroup(NEXT), 1, PASSWORD, []).effects);
    expect(old.level).toBe(LEVEL_FIRST);
  });

  test('a level that the software does not know is refused by effects and by records, with the way out', () => {
    const { effects } = raise(new RootGroup(NEXT), NEXT);
    expect(() => new RootGroup().apply(effects)).toThrow(LevelError);
    expect(() => new RootGroup().loadRecord(RecordKind.LEVEL, 0, Uint8Array.of(NEXT))).toThrow(
      `the cluster works at level ${NEXT}, and this version of Althing knows the levels up to ${LEVEL_NEWEST} only: start a newer version`,
    );
    expect(new LevelError(NEXT, LEVEL_NEWEST)).toBeInstanceOf(FormatError);
  });
});

describe('a backup', () => {
  test('does not bring its level, and waits for a cluster at that level', () => {
    const backup = new RootRestore();
    backup.add({ kind: RecordKind.LEVEL, id: 0, part: 0, value: Uint8Array.of(NEXT) });
    const live = new RootGroup(NEXT);
    expect(backup.levelProblem(live)).toContain(`level ${NEXT}`);

    live.apply(raise(new RootGroup(NEXT), NEXT).effects);
    expect(backup.levelProblem(live)).toBeNull();
    expect(new RootRestore().levelProblem(live)).toBeNull();
  });

  test('a backup of a level that the software does not know is told to be so', () => {
    const backup = new RootRestore();
    backup.add({ kind: RecordKind.LEVEL, id: 0, part: 0, value: Uint8Array.of(NEXT) });
    expect(backup.problem).toContain('start a newer version');
  });
});

function raise(root: RootGroup, level: number): ReturnType<typeof changeRoot> {
  return changeRoot(root, (editor) => editor.setLevel(level));
}

function recordOf(root: RootGroup): Uint8Array | null {
  const records = [...root.dirty.freeze(() => {}).records.values()];
  root.dirty.refreeze(() => {});
  return records.find(({ kind }) => kind === RecordKind.LEVEL)?.value ?? null;
}
