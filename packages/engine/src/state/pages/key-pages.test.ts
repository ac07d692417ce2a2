import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ByteReader, ByteWriter, FormatError } from '../../bytes.js';
import { sortKey } from '../../value/sort-key.js';
import { KeyPage } from './key-page.js';
import { KeyPages } from './key-pages.js';
import { aim, firstIn } from './key-record.js';
import { type PageSink, PageState } from './page-table.js';

/** A tree, its records, and what it should have. */
class World {
  records = new Map<number, Uint8Array>();
  tree = this.open({ root: 0, nextNumber: 1, count: 0 });
  model: string[] = [];
  private next: Map<number, Uint8Array> | null = null;
  private steps: Generator<void, void, undefined> | null = null;
  private durable = { head: this.tree.head, model: this.model };
  private frozen = this.durable;

  private open(head: KeyPages['head']): KeyPages {
    return new KeyPages((number) => {
      const record = this.records.get(number);
      if (record === undefined) throw new Error(`page ${number} is missing`);
      return record;
    }, head);
  }

  change(key: string, id: number): void {
    const entry = textOf(key, id);
    const place = this.model.findIndex((other) => other >= entry);
    if (this.model[place] === entry) {
      this.tree.remove(key, id);
      this.model = this.model.toSpliced(place, 1);
    } else {
      this.tree.insert(key, id);
      this.model = this.model.toSpliced(place < 0 ? this.model.length : place, 0, entry);
    }
  }

  begin(): void {
    if (this.next !== null) return;
    this.next = new Map(this.records);
    this.tree.freeze();
    this.frozen = { head: this.tree.head, model: this.model };
    this.steps = this.tree.rest(this.sink);
  }

  step(count: number): void {
    for (let i = 0; i < count; i++) this.steps?.next();
  }

  end(succeeds: boolean): void {
    if (this.next === null) return;
    while (this.steps?.next().done === false);
    if (succeeds) {
      this.records = this.next;
      this.durable = this.frozen;
      this.checkRecords();
    } else this.tree.again();
    this.next = null;
  }

  evict(): void {
    if (this.next !== null) return;
    // A page that was used since the last call stays.
    for (let i = 0; i < 2; i++) this.tree.leave();
  }

  /** Looks for first entries in leaves that are not in memory. */
  look(): void {
    for (let n = 0; n < 41; n += 3) {
      const one = `k${String(n).padStart(3, '0')}`;
      const entry = this.model.find((other) => other.startsWith(`${one} `));
      expect(this.tree.firstOf(one)).toBe(entry === undefined ? undefined : Number(entry.slice(5)));
    }
  }

  restart(): void {
    this.next = null;
    this.tree = this.open(this.durable.head);
    this.model = this.durable.model;
  }

  check(): void {
    expect(entriesOf(this.tree)).toEqual(this.model);
    expect(this.tree.problems()).toEqual([]);
  }

  private get sink(): PageSink {
    return {
      put: (number, record) => this.next?.set(number, record),
      delete: (number) => this.next?.delete(number),
    };
  }

  /** The records are those of the state that was frozen, and no others. */
  private checkRecords(): void {
    const read = new Set<number>();
    const copy = new KeyPages((number) => {
      read.add(number);
      return this.records.get(number) as Uint8Array;
    }, this.durable.head);
    expect(entriesOf(copy)).toEqual(this.durable.model);
    expect(copy.problems()).toEqual([]);
    expect([...this.records.keys()].filter((number) => !read.has(number))).toEqual([]);
  }
}

const key = fc.oneof(
  fc.nat(40).map((n) => `k${String(n).padStart(3, '0')}`),
  fc.nat(3).map((n) => 'long'.repeat(50 * (n + 1))),
  fc.constantFrom('', 'same', '\xff'),
);
const step = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({ kind: fc.constant('change' as const), key, id: fc.nat(200), count: fc.nat(60) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'begin' as const,
        'step' as const,
        'step' as const,
        'end' as const,
        'fail' as const,
        'evict' as const,
        'restart' as const,
      ),
      count: fc.nat(10),
    }),
  },
);

test('a tree has what a sorted array has, through checkpoints, evictions and restarts', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 80, size: 'max' }), (steps) => {
      const world = new World();
      for (const one of steps) {
        if (one.kind === 'change')
          for (let i = 0; i < one.count; i++) world.change(one.key, (one.id + i) % 230);
        else if (one.kind === 'begin') world.begin();
        else if (one.kind === 'step') world.step(one.count);
        else if (one.kind === 'end' || one.kind === 'fail') world.end(one.kind === 'end');
        else if (one.kind === 'evict') world.evict();
        else world.restart();
        // A check goes through all pages: a look-up alone leaves them as records, to be changed from there.
        if (one.kind === 'evict' || one.kind === 'restart') world.look();
        else world.check();
      }
    }),
    { numRuns: 25 },
  );
});

test('a tree of many entries is walked and counted from any place in either direction', () => {
  const tree = new KeyPages(() => new Uint8Array(), { root: 0, nextNumber: 1, count: 0 });
  const entries = Array.from({ length: 3000 }, (_, i) => ({ key: `k${(i * 7919) % 500}`, id: i + 1 }));
  for (const { key: one, id } of entries) tree.insert(one, id);
  const sorted = entries.map((entry) => textOf(entry.key, entry.id)).sort();
  fc.assert(
    fc.property(fc.nat(510), fc.nat(3010), (n, id) => {
      const place = { key: `k${n}`, id };
      const rank = sorted.filter((text) => text < textOf(place.key, id)).length;
      expect(tree.rank(place)).toBe(rank);
      const [up, down] = [[], []] as string[][];
      tree.ascend(place, (other, otherId) => (up as string[]).push(textOf(other, otherId)) < 20);
      tree.between(
        FIRST,
        place,
        true,
        (otherId, keys, at) => (down as string[]).push(textOf(keys.keyAt(at), otherId)) < 20,
      );
      expect(up).toEqual(sorted.slice(rank, rank + 20));
      const end = { key: `k${n + 40}`, id };
      const within: string[] = [];
      tree.between(
        place,
        end,
        false,
        (otherId, keys, at) => within.push(textOf(keys.keyAt(at), otherId)) > 0,
      );
      expect(within).toEqual(sorted.slice(rank, Math.max(rank, tree.rank(end))));
      expect(down).toEqual(sorted.slice(Math.max(0, rank - 20), rank).reverse());
    }),
    { numRuns: 50 },
  );
  // The first entry of some keys is the first one of its leaf.
  for (let n = 0; n < 510; n++)
    expect(tree.firstOf(`k${n}`)).toBe(entries.find((entry) => entry.key === `k${n}`)?.id);
  for (const { key: one, id } of entries) tree.remove(one, id);
  expect(tree.head.root).toBe(0);
  expect(tree.count).toBe(0);
});

test('an entry that is looked up in a leaf that is not in memory costs one read, also of what comes next', () => {
  const world = new World();
  for (let i = 0; i < 5000; i++) world.change(`k${(i * 7919) % 5003}`, i + 1);
  world.begin();
  world.end(true);
  let reads = 0;
  const tree = new KeyPages((number) => {
    reads += 1;
    return world.records.get(number) as Uint8Array;
  }, world.tree.head);
  const keys = ['k1', 'k77', 'k5002', 'k4', 'k50025'];
  const ids = keys.map((one) => tree.firstOf(one));
  const entries = world.model.map((text) => text.split(' '));
  expect(ids).toEqual(
    keys.map((one) => {
      const id = entries.find(([other]) => other === one)?.[1];
      return id === undefined ? undefined : Number(id);
    }),
  );
  const before = reads;
  expect(keys.map((one) => tree.firstOf(one))).toEqual(ids);
  tree.insert('k50026', 9999);
  expect(tree.firstOf('k50026')).toBe(9999);
  expect(reads).toBe(before);
});

test('ascending keys leave full pages behind', () => {
  const tree = new KeyPages(() => new Uint8Array(), { root: 0, nextNumber: 1, count: 0 });
  for (let i = 0; i < 5000; i++) tree.insert(`key ${String(i).padStart(6, '0')}`, i + 1);
  // An entry counts 16 bytes of 1024.
  expect(tree.presentCount).toBeLessThan(1.1 * (5000 / 63));
});

test('the longest keys and greatest ids are read as they were written; entries that can not be are refused', () => {
  const longest = sortKey('\0'.repeat(300)).repeat(4);
  const page = new KeyPage(7, 0, PageState.DIRTY);
  const ids = [2 ** 32 + 1, Number.MAX_SAFE_INTEGER];
  for (const [at, key] of [longest, `${longest.slice(0, -1)}\x03`].entries()) {
    aim(key);
    page.insert(at, ids[at]!);
  }
  const out = new ByteWriter();
  page.write(out);
  expect(KeyPage.read(7, new ByteReader(out.take()))).toMatchObject({ keys: page.keys, ids });
  expect(page).toMatchObject({ keys: [longest, `${longest.slice(0, -1)}\x03`], ids });
  // The first key shares something with the one before it; a key has more bytes than any; there are less bytes than it says.
  for (const bytes of [
    [1, 0, 1, 1, 1, 65, 1],
    [1, 0, 1, 0, 0x81, 0x40, 65, 1],
    [1, 0, 1, 0, 3, 65, 1],
    // The form is unknown.
    [2, 0, 1, 0, 1, 65, 1],
  ]) {
    const input = (): ByteReader => new ByteReader(Uint8Array.from(bytes));
    expect(() => KeyPage.read(7, input())).toThrow(FormatError);
    expect(() => firstIn(7, input())).toThrow(FormatError);
  }
  // Looked for in a leaf, but it is none.
  expect(() => firstIn(7, new ByteReader(Uint8Array.from([1, 1, 0])))).toThrow(FormatError);
});

test('a tree is measured by a few pages of each level', () => {
  const tree = new KeyPages(() => new Uint8Array(), { root: 0, nextNumber: 1, count: 0 });
  for (let i = 0; i < 40_000; i++) tree.insert(`key ${String((i * 7919) % 40_009).padStart(6, '0')}`, i + 1);
  let looks = 0;
  const { pages, bytes } = tree.measure(() => {
    looks += 1;
  });
  expect(looks).toBeLessThanOrEqual(3 * 8);
  expect(Math.abs(pages / tree.presentCount - 1)).toBeLessThan(0.15);
  // An entry takes two or three bytes of its key, three of its id and two lengths.
  expect(bytes / 40_000).toBeGreaterThan(5);
  expect(bytes / 40_000).toBeLessThan(10);
});

test('the records of a tree that goes are all deleted, though its leaves are not read', () => {
  const world = new World();
  for (let i = 0; i < 3000; i++) world.change(`k${(i * 7919) % 3001}`, i + 1);
  world.begin();
  world.end(true);
  world.restart();
  const records = new Set(world.records.keys());
  const sink = { put: () => {}, delete: (number: number) => records.delete(number) };
  for (const _ of world.tree.deleteAll(sink));
  expect([...records]).toEqual([]);
  expect(world.tree.presentCount).toBe(0);
});

const FIRST = { key: '', id: 0 };

function textOf(one: string, id: number): string {
  return `${one} ${String(id).padStart(5, '0')}`;
}

function entriesOf(tree: KeyPages): string[] {
  const entries: string[] = [];
  tree.ascend({ key: '', id: 0 }, (one, id) => entries.push(textOf(one, id)) > 0);
  return entries;
}
