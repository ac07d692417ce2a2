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

test('levels rise by one from the first', () => {
  expect(LEVELS.map(({ level }) => level)).toEqual(LEVELS.map((_, at) => LEVEL_FIRST + at));
  expect(LEVEL_NEWEST).toBe(LEVELS.length);
});

describe('the level of a cluster', () => {
  test('is the first until it is raised, and the same wherever the effects are applied', () => {
    const leader = new RootGroup();
    const { effects } = raise(leader, 2);
    expect(leader.level).toBe(1);
    leader.confirmLevel();
    const follower = new RootGroup();
    follower.apply(effects);

    expect([leader.level, follower.level]).toEqual([2, 2]);
    expect(recordOf(follower)).toEqual(recordOf(leader));
  });

  test('comes back from a checkpoint, and leaves no record where it is the first', () => {
    const root = new RootGroup();
    expect(recordOf(root)).toBeNull();
    root.apply(raise(new RootGroup(), 2).effects);

    const loaded = new RootGroup();
    loaded.loadRecord(RecordKind.LEVEL, 0, recordOf(root) ?? new Uint8Array());
    expect(loaded.level).toBe(2);
    loaded.clear();
    expect(loaded.level).toBe(1);
  });

  test('is what it was when the change is taken back', () => {
    const root = new RootGroup();
    takeBack(raise(root, 2).undo);
    root.confirmLevel();
    expect(root.level).toBe(1);
    expect(recordOf(root)).toBeNull();
  });

  test('of a new cluster is what its founders are known to know', () => {
    const root = new RootGroup();
    const { effects } = bootstrap(root, 1, PASSWORD, [], 2);
    const other = new RootGroup();
    other.apply(effects);
    expect(other.level).toBe(2);

    const old = new RootGroup(1);
    old.apply(bootstrap(new RootGroup(), 1, PASSWORD, []).effects);
    expect(old.level).toBe(1);
  });

  test('that the software does not know is refused by effects and by records, with the way out', () => {
    const { effects } = raise(new RootGroup(), 2);
    expect(() => new RootGroup(1).apply(effects)).toThrow(LevelError);
    expect(() => new RootGroup(1).loadRecord(RecordKind.LEVEL, 0, Uint8Array.of(2))).toThrow(
      'the cluster works at level 2, and this version of Althing knows the levels up to 1 only: start a newer version',
    );
    expect(new LevelError(2, 1)).toBeInstanceOf(FormatError);
  });
});

describe('a backup', () => {
  test('does not bring its level, and waits for a cluster at that level', () => {
    const backup = new RootRestore();
    backup.add({ kind: RecordKind.LEVEL, id: 0, part: 0, value: Uint8Array.of(2) });
    const live = new RootGroup();
    expect(backup.levelProblem(live)).toContain('level 2');

    live.apply(raise(new RootGroup(), 2).effects);
    expect(backup.levelProblem(live)).toBeNull();
    expect(new RootRestore().levelProblem(live)).toBeNull();
  });

  test('of a level that the software does not know is told to be so', () => {
    const backup = new RootRestore();
    backup.add({ kind: RecordKind.LEVEL, id: 0, part: 0, value: Uint8Array.of(LEVEL_NEWEST + 1) });
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
