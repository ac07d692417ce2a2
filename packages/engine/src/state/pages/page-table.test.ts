import { describe, expect, test } from '@jest/globals';
import { type ByteReader, ByteWriter } from '../../bytes.js';
import {
  type Page,
  type PageHome,
  PageNumbers,
  type PageSink,
  PageState,
  PageTable,
  type Unfinished,
} from './page-table.js';

/** Records in memory; a checkpoint writes to a copy, which takes their place when it is durable. */
class Disk implements PageHome {
  readonly unfinished = new Set<Unfinished>();
  readonly scratch = new ByteWriter();
  records = new Map<number, Uint8Array>();
  next = new Map<number, Uint8Array>();

  readonly sink: PageSink = {
    put: (number, record) => this.next.set(number, record),
    delete: (number) => this.next.delete(number),
  };

  read(number: number): Uint8Array {
    const record = this.records.get(number);
    if (record === undefined) throw new Error(`there is no record ${number}`);
    return record;
  }

  begin(...tables: readonly { freezeAll(sink: PageSink): void }[]): void {
    this.next = new Map(this.records);
    for (const table of tables) table.freezeAll(this.sink);
  }

  end(): void {
    for (const table of this.unfinished) for (const _ of table.rest());
    this.records = this.next;
  }

  fail(...tables: readonly Unfinished[]): void {
    for (const table of tables) table.again();
  }
}

interface TextPage extends Page {
  text: string;
}

/** Pages of one text each. */
class Texts extends PageTable<TextPage> {
  constructor(disk: Disk, texts: readonly string[]) {
    const pages = texts.map((text) => ({ number: 0, entries: 1, state: PageState.DIRTY, text }));
    super(disk, new PageNumbers(10, 20, disk.unfinished), pages);
  }

  get states(): PageState[] {
    return this.pages.map(({ state }) => state);
  }

  get texts(): string[] {
    return this.pages.map((page, index) => {
      this.load(index);
      return page.text;
    });
  }

  set(index: number, text: string): void {
    this.touch(index);
    this.page(index).text = text;
  }

  remove(index: number): void {
    this.replace(index, []);
  }

  leave(): void {
    this.evict((page) => {
      page.text = '';
    });
  }

  freezeAll(sink: PageSink): void {
    this.numbers.freeze(sink);
    this.freeze(sink);
  }

  override again(): void {
    super.again();
    this.numbers.again();
  }

  protected encode(index: number, out: ByteWriter): void {
    out.text(this.page(index).text);
  }

  protected override decode(index: number, input: ByteReader): void {
    this.page(index).text = input.text();
  }
}

function textsOf(records: ReadonlyMap<number, Uint8Array>): Record<number, string> {
  return Object.fromEntries(
    [...records].map(([number, record]) => [number, Buffer.from(record.subarray(1)).toString()]),
  );
}

const { ABSENT, CLEAN, SAVED, DIRTY, FROZEN } = PageState;

describe('a page', () => {
  test('goes from dirty over frozen and saved to absent, and comes back', () => {
    const disk = new Disk();
    const table = new Texts(disk, ['a', 'b']);
    expect(table.states).toEqual([DIRTY, DIRTY]);
    disk.begin(table);
    expect(table.states).toEqual([FROZEN, FROZEN]);
    disk.end();
    expect(table.states).toEqual([SAVED, SAVED]);
    table.leave();
    expect([table.states, table.hasAbsent]).toEqual([[ABSENT, ABSENT], true]);
    expect([table.texts, table.states]).toEqual([
      ['a', 'b'],
      [CLEAN, CLEAN],
    ]);
    table.set(1, 'c');
    expect(table.states).toEqual([CLEAN, DIRTY]);
  });

  test('a page that is about to change is saved as it was when the checkpoint began', () => {
    const disk = new Disk();
    const table = new Texts(disk, ['a', 'b']);
    disk.begin(table);
    table.set(1, 'changed');
    expect(table.states).toEqual([FROZEN, DIRTY]);
    disk.end();
    expect(textsOf(disk.records)).toEqual({ 10: 'a', 11: 'b' });
    disk.begin(table);
    disk.end();
    expect(textsOf(disk.records)).toEqual({ 10: 'a', 11: 'changed' });
  });

  test('a page that was saved in vain is dirty again', () => {
    const disk = new Disk();
    const table = new Texts(disk, ['a', 'b']);
    disk.begin(table);
    Array.from(table.rest());
    disk.fail(table);
    expect(table.states).toEqual([DIRTY, DIRTY]);
    disk.begin(table);
    disk.end();
    expect(textsOf(disk.records)).toEqual({ 10: 'a', 11: 'b' });
  });

  test('can not change while it is absent, go while it is frozen, nor be frozen twice', () => {
    const disk = new Disk();
    const table = new Texts(disk, ['a', 'b']);
    disk.begin(table);
    expect(() => table.remove(0)).toThrow('absent or frozen');
    expect(() => table.leave()).toThrow('while a checkpoint');
    expect(() => table.freezeAll(disk.sink)).toThrow('under way already');
  });

  test('a page that is absent can not change before it is loaded', () => {
    const disk = new Disk();
    const table = new Texts(disk, ['a']);
    disk.begin(table);
    disk.end();
    table.leave();
    expect(() => table.set(0, 'b')).toThrow('absent or frozen');
  });

  test('a page that is dirty stays in memory', () => {
    const disk = new Disk();
    const table = new Texts(disk, ['a', 'b']);
    disk.begin(table);
    disk.end();
    table.set(0, 'c');
    table.leave();
    expect(table.states).toEqual([DIRTY, ABSENT]);
  });
});

describe('the number of a page that goes', () => {
  test('is used again when the checkpoint that deletes its record is durable, and not before', () => {
    const disk = new Disk();
    const numbers = new PageNumbers(1, 3, disk.unfinished);
    const begin = (): void => disk.begin({ freezeAll: (sink) => numbers.freeze(sink) });
    expect([numbers.allocate(), numbers.allocate()]).toEqual([1, 2]);
    disk.records.set(1, new Uint8Array()).set(2, new Uint8Array());
    numbers.free(1);
    begin();
    disk.end();
    expect([...disk.records.keys()]).toEqual([2]);
    // The checkpoint is durable when the next one begins.
    expect(numbers.all).toEqual([1, 2]);
    begin();
    expect(numbers.all).toEqual([2]);
    expect(numbers.allocate()).toBe(1);
  });

  test('has its next turn behind all others: none is looked for from the first one on', () => {
    const disk = new Disk();
    const numbers = new PageNumbers(1, 10, disk.unfinished);
    const begin = (): void => disk.begin({ freezeAll: (sink) => numbers.freeze(sink) });
    expect([numbers.allocate(), numbers.allocate()]).toEqual([1, 2]);
    numbers.free(1);
    begin();
    disk.end();
    begin();
    expect(numbers.all).toEqual([2]);
    expect(Array.from({ length: 8 }, () => numbers.allocate())).toEqual([3, 4, 5, 6, 7, 8, 9, 1]);
  });

  test('is deleted by the next checkpoint when one came to nothing, unless it is in use again', () => {
    const disk = new Disk();
    const numbers = new PageNumbers(1, 10, disk.unfinished);
    for (let i = 0; i < 3; i++) disk.records.set(numbers.allocate(), new Uint8Array());
    for (const number of [1, 2]) numbers.free(number);
    const begin = (): void => disk.begin({ freezeAll: (sink) => numbers.freeze(sink) });
    begin();
    numbers.take(2);
    disk.fail(numbers);
    begin();
    disk.end();
    expect([...disk.records.keys()]).toEqual([2, 3]);
  });

  test('is neither given up twice nor taken twice', () => {
    const numbers = new PageNumbers(1, 10, new Set());
    const number = numbers.allocate();
    expect(() => numbers.take(number)).toThrow('a second page');
    numbers.free(number);
    expect(() => numbers.free(number)).toThrow('no page has');
    expect(() => numbers.free(7)).toThrow('no page has');
    numbers.take(number);
    expect(() => numbers.take(10)).toThrow('a second page');
    for (let left = 8; left > 0; left--) numbers.allocate();
    expect(() => numbers.allocate()).toThrow('all 9 numbers');
  });
});
