/**
 * The least cost of storing things one by one in JavaScript: the loop of a stored push, written by hand for nothing else. It
 * does what an engine with a log can't leave out: a thing with an id that a table finds, whose references are counted and that
 * the next checkpoint must write; the effect in bytes; the way back; and what the query has left to spend.
 *
 * It has no language, no types, no limits but the budget, no other effects, and no memory but that of these things. What the
 * real one takes longer is the price of all that; what this takes longer than plain JavaScript nobody can save who keeps things so.
 */

/** Values of a thing lie apart from it, so that things with the same keys share a shape. */
class BareThing {
  id = 0;
  refs = 0;
  holders = 0;
  bits = 1;

  constructor(
    readonly shape: readonly string[],
    readonly slots: readonly (string | number)[],
  ) {}
}

const ROOT = 1;
const KEY = 'things';

const PAGE_THINGS = 1024;
const DIRTY = 4;
const USED = 2;
const STEPS_PER_CHECK = 10_000;

/** Items of one effect at most, as in the engine. */
const RUN_ITEMS = 127;

/** The buffer that effects are written to; it stays for the next query. */
const buffer = Buffer.allocUnsafeSlow(1 << 23);

/** One collection with one list. */
export class BareStore {
  private list: BareThing[] = [];
  private readonly pages: (BareThing | undefined)[][] = [];
  private nextId = ROOT + 1;
  /** First id of each run of changed things, and how many there are in it. */
  private readonly dirty: number[] = [];
  private readonly shape: readonly string[] = ['name', 'age'];
  private readonly buffer = buffer;
  private position = 0;
  private countAt = 0;
  private steps = STEPS_PER_CHECK;
  /** Ways back, and how long they take. */
  private undos: (() => void)[] = [];
  private undoNs = 0;
  /** The effects of the last query, byte by byte those of the real one. */
  effects: Uint8Array = new Uint8Array(0);

  /** Appends so many things `{name: 'name', age: i}` one by one; gives the length of the list. */
  fill(count: number): number {
    const start = this.list.length;
    const base = this.nextId;
    this.position = 0;
    this.undos = [() => this.takeBack(start, base)];
    let inRun = 0;
    for (let i = 0; i < count; i++) {
      if (--this.steps < 0) this.check();
      const thing = new BareThing(this.shape, ['name', i]);
      if (inRun === 0) this.beginRun();
      this.store(thing);
      this.write(thing);
      thing.refs = 1;
      thing.holders = 1;
      thing.bits |= USED;
      this.list.push(thing);
      this.undoNs += 800;
      inRun += 1;
      if (inRun < RUN_ITEMS) continue;
      this.endRun(inRun);
      inRun = 0;
    }
    if (inRun > 0) this.endRun(inRun);
    this.effects = Uint8Array.prototype.slice.call(this.buffer, 0, this.position);
    return this.list.length;
  }

  private store(thing: BareThing): void {
    const id = this.nextId++;
    thing.id = id;
    const place = id % PAGE_THINGS;
    const page = this.pages[Math.floor(id / PAGE_THINGS)] ?? this.newPage(id);
    page[place] = thing;
    thing.bits |= DIRTY;
    const { dirty } = this;
    const last = dirty.length - 1;
    if (last > 0 && (dirty[last - 1] as number) + (dirty[last] as number) === id) {
      dirty[last] = (dirty[last] as number) + 1;
    } else dirty.push(id, 1);
  }

  private newPage(id: number): (BareThing | undefined)[] {
    const page = new Array<BareThing | undefined>(PAGE_THINGS).fill(undefined);
    this.pages[Math.floor(id / PAGE_THINGS)] = page;
    return page;
  }

  /** Begins the effect of new things, whose number is there at the end. */
  private beginRun(): void {
    this.buffer[this.position++] = 1;
    this.varint(this.nextId);
    this.countAt = this.position++;
  }

  /** The effect that puts the things of a run at the end of the list, which is a property of the root. */
  private endRun(count: number): void {
    this.buffer[this.countAt] = count;
    this.buffer[this.position++] = 7;
    this.varint(ROOT);
    this.text(KEY);
    this.varint(this.list.length - count);
    this.varint(0);
    this.varint(count);
    for (let id = this.nextId - count; id < this.nextId; id++) {
      this.buffer[this.position++] = 11;
      this.varint(id);
    }
  }

  /** The properties of a thing: keys and values, each value with its kind in front. */
  private write(thing: BareThing): void {
    const { shape, slots } = thing;
    const before = this.position;
    this.text('');
    this.varint(shape.length);
    for (let i = 0; i < shape.length; i++) {
      this.text(shape[i] as string);
      const value = slots[i] as string | number;
      if (typeof value === 'string') {
        this.buffer[this.position++] = 6;
        this.text(value);
      } else {
        this.buffer[this.position++] = 3;
        this.varint(2 * value);
      }
    }
    this.steps -= (this.position - before) >> 6;
  }

  private varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.buffer[this.position++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.buffer[this.position++] = rest;
  }

  private text(value: string): void {
    const { buffer } = this;
    let at = this.position;
    buffer[at++] = value.length;
    for (let i = 0; i < value.length; i++) buffer[at++] = value.charCodeAt(i);
    this.position = at;
  }

  /** Where the real one looks at clock and heap. */
  private check(): void {
    this.steps = STEPS_PER_CHECK;
    if (performance.now() < 0) throw new Error('the query takes too long');
  }

  /** Takes the last query back. */
  private takeBack(start: number, base: number): void {
    this.list.length = start;
    for (let id = base; id < this.nextId; id++) {
      const page = this.pages[Math.floor(id / PAGE_THINGS)];
      if (page !== undefined) page[id % PAGE_THINGS] = undefined;
    }
    this.nextId = base;
  }

  /** Takes what the last query did back; gives the length of the list. */
  rollback(): number {
    for (const undo of this.undos.reverse()) undo();
    this.undos = [];
    this.undoNs = 0;
    this.dirty.length = 0;
    return this.list.length;
  }
}
