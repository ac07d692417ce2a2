/** Types with many instances, of which next to none are in memory: what reads them all, and what reads none. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { writeCheckpoint } from '../state/checkpoint.js';
import type { CollectionGroup } from '../state/collection-group.js';
import { stateLines } from '../state/describe.js';
import { Evictor } from '../state/evictor.js';
import { RecordKind, type RecordSource } from '../state/records.js';
import { Harness } from '../testing/harness.js';

const COUNT = 20_000;

/** A collection with many instances on disk, where each thing that is read is counted. */
class Fixture {
  readonly harness = new Harness({ evicts: false });
  /** Records of things that were read. */
  reads = 0;
  private readonly disk = new Map<string, Uint8Array>();

  constructor() {
    const { harness } = this;
    harness.run(
      "set_type('Point', {x: 'int', name: 'str', tags: '[str]', next: 'Point?'}); .points = []; nil",
    );
    for (let i = 0; i < COUNT; i += 5000) {
      harness.run('.points.extend(range(from, from + 5000).map(|i| Point{x: i, name: `p{i}`})); nil', {
        vars: { from: i },
      });
    }
    this.reopen();
  }

  /** Writes a checkpoint, and goes on with nothing of it in memory. */
  reopen(): void {
    const { harness, disk } = this;
    const before = harness.collection;
    writeCheckpoint(before, {
      put: (kind, id, part, value) => disk.set(nameOf(kind, id, part), value.slice()),
      delete: (kind, id, part) => disk.delete(nameOf(kind, id, part)),
    });
    before.dirty.release();
    const source: RecordSource = {
      read: (kind, id, part) => {
        if (kind === RecordKind.THING && part === 0) this.reads += 1;
        return disk.get(nameOf(kind, id, part));
      },
    };
    const after = harness.reopen(source);
    load(after, before, disk);
    this.reads = 0;
  }

  /** Takes everything out of memory that may go: a cache that is far too small. */
  evict(): void {
    const evictor = new Evictor(this.harness.collection.store);
    for (let round = 0; round < 3; round++) while (evictor.step(true));
  }
}

function load(group: CollectionGroup, before: CollectionGroup, disk: ReadonlyMap<string, Uint8Array>): void {
  const names = [...disk.keys()].map((name) => name.split(' ').map(Number));
  for (const [kind = 0, id = 0, part = 0] of names.sort(([a = 0], [b = 0]) => a - b)) {
    if (kind !== RecordKind.THING) {
      group.loadRecord(kind, id, disk.get(nameOf(kind, id, part)) ?? new Uint8Array(), part);
    }
  }
  group.loadRecord(RecordKind.META, 0, before.encodeMeta());
}

function nameOf(kind: number, id: number, part: number): string {
  return `${kind} ${id} ${part}`;
}

let fixture: Fixture;
beforeAll(() => {
  fixture = new Fixture();
});

describe('no instance is read', () => {
  test.each([
    ["type_count('Point')", COUNT],
    ["type_all('Point').len()", COUNT],
    ["type_info('Point').load().name", 'Point'],
    ["mod_type('Point', 'add', 'y', 'int')", null],
    ["mod_type('Point', 'add', 'z', 'float', 1.5)", null],
    ["mod_type('Point', 'add', 'more', '[int]')", null],
    ["mod_type('Point', 'ren', 'x', 'left')", null],
    ["mod_type('Point', 'add', 'sum', |this| this.left + this.y)", null],
    ["mod_type('Point', 'mod', 'left', 'number')", null],
    ["mod_type('Point', 'mod', 'name', 'str?')", null],
    ["mod_type('Point', 'mod', 'more', '[]')", null],
    ["mod_type('Point', 'del', 'name')", null],
    ["set_type('Gone', {g: 'int'}); mod_type('Point', 'add', 'gone', 'Gone?')", null],
    ["mod_type('Point', 'del', 'gone')", null],
    ["mod_type('Point', 'add', 'group', '{Gone}'); mod_type('Point', 'del', 'group')", null],
    ["mod_type('Point', 'add', 'row', '[Gone]'); mod_type('Point', 'del', 'row')", null],
    ["set_enum('Color', {RED: 1, BLUE: 2}); mod_type('Point', 'add', 'color', 'Color?')", null],
    ["mod_type('Point', 'del', 'color')", null],
    ["mod_type('Point', 'add', 'room', 'room?', nil); mod_type('Point', 'del', 'room')", null],
    ["mod_type('Point', 'hid', true)", null],
    ["rename_type('Point', 'Place'); rename_type('Place', 'Point')", null],
  ])('%s', (code, result) => {
    const { harness } = fixture;
    fixture.evict();
    const before = fixture.reads;
    expect(harness.run(code)).toEqual(result);
    expect(fixture.reads - before).toBe(0);
  });

  test('and each has its new form when it is', () => {
    const { harness } = fixture;
    const before = fixture.reads;
    expect(harness.run('p = .points[7]; [p.left, p.y, p.z, p.more, p.sum()]')).toEqual([
      7,
      0,
      harness.run('1.5'),
      [],
      7,
    ]);
    expect(fixture.reads - before).toBeLessThan(5);
  });
});

describe('a property in which next to all have nothing brings next to none into memory when it is deleted', () => {
  test.each([
    ['any', '7', '.more[0]'],
    ['thing?', 'nil', '.more[1]'],
    ['[]', '[]', '[.more[1]]'],
    ['[Other?]', '[]', 'range(5000).map(|| nil)'],
    ['{Other}', 'set()', 'set(.more[1])'],
  ])('%s', (definition, nothing, more) => {
    const { harness } = fixture;
    harness.run("try(set_type('Other', {o: 'int'})); .more = [{a: 1}, Other{o: 1}]; nil");
    harness.run(`mod_type('Point', 'add', 'extra', '${definition}'); .points[5].extra = ${more}; nil`);
    harness.run(`range(100, 200).each(|i| .points[i].extra = ${nothing}); nil`);
    fixture.reopen();
    const { misses } = harness.collection.store;
    harness.run("mod_type('Point', 'del', 'extra'); nil");
    // The instance, and what it refers to.
    expect(harness.collection.store.misses - misses).toBeLessThan(3);
    fixture.reopen();
    expect(harness.run('[.points[5].left, .points[150].left, .more[0].a, .more[1].o]')).toEqual([
      5, 150, 1, 1,
    ]);
  });
});

describe('instances are read where each has to change', () => {
  test('a property that holds an instance of another type, a member or a room lets go of it when it is deleted', () => {
    const { harness } = fixture;
    harness.run(
      "mod_type('Point', 'add', 'gone', 'Gone?'); mod_type('Point', 'add', 'color', 'Color?'); nil",
    );
    harness.run('.points[5].gone = Gone{g: 7}; .points[6].color = Color{BLUE}; nil');
    expect(harness.error("mod_enum('Color', 'del', 'BLUE')")).toBe('operation_err');
    fixture.reopen();
    harness.run("mod_type('Point', 'del', 'gone'); mod_type('Point', 'del', 'color'); nil");
    expect(fixture.reads).toBeGreaterThan(COUNT);
    expect(harness.run("type_count('Gone')")).toBe(0);
    harness.run("mod_enum('Color', 'del', 'BLUE'); nil");
  });

  test('their memory goes again, and the change is whole', () => {
    const { harness } = fixture;
    fixture.reopen();
    expect(harness.run("mod_type('Point', 'mod', 'left', 'int', |p| p.left + 1); .points[9].left")).toBe(10);
    expect(fixture.reads).toBeGreaterThan(COUNT);
    fixture.reopen();
    expect(harness.run('[.points[0].left, .points[-1].left]')).toEqual([1, COUNT]);
  });

  test('a limit ends what takes too long, and nothing has changed', () => {
    // The clock of the harness goes by the looks at it.
    const harness = new Harness({ limits: { durationMs: 3 }, evicts: false });
    harness.run("set_type('T', {a: 'int'}); .l = []; nil");
    for (let i = 0; i < 40; i++) harness.run('.l.extend(range(500).map(|| T{})); nil');
    const before = stateLines(harness.collection);
    expect(harness.error("mod_type('T', 'add', 'own', 'thing')")).toBe('timeout');
    expect(harness.error("del_type('T')")).toBe('timeout');
    expect(stateLines(harness.collection)).toEqual(before);
    expect(harness.run("[type_count('T'), type_info('T').load().fields.len()]")).toEqual([COUNT, 1]);
  });
});
