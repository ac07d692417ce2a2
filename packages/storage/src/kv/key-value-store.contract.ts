import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRange, KeyValuePair, KeyValueStore } from './key-value-store.js';
import { PackedPairs } from './packed-pairs.js';

const NOTHING = Buffer.alloc(0);

/** The contract of every `KeyValueStore`. Real and simulated ones run this same suite. */
export function describeKeyValueStore(
  name: string,
  make: () => Promise<KeyValueStore>,
  dispose: () => Promise<void>,
): void {
  describe(`${name} keeps the contract of KeyValueStore`, () => {
    let store: KeyValueStore;

    beforeEach(async () => {
      store = await make();
    });

    afterEach(async () => {
      await store.close();
      await dispose();
    });

    const key = (text: string): Buffer => Buffer.from(text, 'latin1');
    const everything: KeyRange = { from: key(''), to: key('\xff\xff') };

    async function put(pairs: Record<string, string>, sync = false): Promise<void> {
      const batch = store.batch();
      for (const [name, value] of Object.entries(pairs)) batch.put(key(name), Buffer.from(value));
      await batch.write({ sync });
    }

    async function all(range: KeyRange, options = {}, step = 2): Promise<string[]> {
      const cursor = store.iterate(range, options);
      const found: KeyValuePair[] = [];
      for (;;) {
        const pairs = await cursor.next(step);
        if (pairs.length === 0) break;
        expect(pairs.length).toBeLessThanOrEqual(step);
        found.push(...pairs);
      }
      await cursor.close();
      return found.map(([name, value]) => `${name.toString('latin1')}=${value.toString()}`);
    }

    test('a missing key has no value, an empty value is one', async () => {
      await put({ empty: '' });
      expect(store.getSync(key('none'))).toBeUndefined();
      expect(store.getSync(key('empty'))?.length).toBe(0);
    });

    test('a batch puts, replaces and deletes, in the order of its calls', async () => {
      await put({ a: '1', b: '2' }, true);
      const batch = store.batch();
      batch.put(key('b'), Buffer.from('3'));
      batch.delete(key('a'));
      batch.put(key('c'), Buffer.from('4'));
      batch.delete(key('c'));
      batch.delete(key('never there'));
      await batch.write({ sync: true });
      expect(await all(everything)).toEqual(['b=3']);
    });

    test('an empty batch can be written', async () => {
      await store.batch().write({ sync: true });
      expect(await all(everything)).toEqual([]);
    });

    test('what was given to a batch may change afterwards', async () => {
      const name = key('abc');
      const value = Buffer.from('value');
      const batch = store.batch();
      batch.put(name, value);
      name.fill(0);
      value.fill(0);
      await batch.write({ sync: false });
      expect(await all(everything)).toEqual(['abc=value']);
    });

    test('what was read is the own copy of the reader', async () => {
      await put({ a: 'value' });
      store.getSync(key('a'))?.fill(0);
      expect(store.getSync(key('a'))?.toString()).toBe('value');
    });

    test('keys are ordered as bytes, and a range excludes its end', async () => {
      await put({ '\x00': 'a', '\x7f': 'b', '\x80': 'c', '\xff': 'd', '\x80\x00': 'e' });
      expect(await all(everything)).toEqual(['\x00=a', '\x7f=b', '\x80=c', '\x80\x00=e', '\xff=d']);
      expect(await all({ from: key('\x7f'), to: key('\x80\x00') })).toEqual(['\x7f=b', '\x80=c']);
      expect(await all({ from: key('b'), to: key('b') })).toEqual([]);
    });

    test('keys alone come without values', async () => {
      await put({ a: '1', b: '2' });
      expect(await all(everything, { keysOnly: true })).toEqual(['a=', 'b=']);
    });

    test('a cursor does not see what is written after it was made', async () => {
      await put({ a: '1', b: '2', c: '3' });
      const cursor = store.iterate(everything);
      expect((await cursor.next(1)).length).toBe(1);
      await put({ b: 'new', bb: 'new' });
      const rest = await cursor.next(10);
      await cursor.close();
      expect(rest.map(([name, value]) => `${name}=${value}`)).toEqual(['b=2', 'c=3']);
    });

    test('a snapshot stays as it was, for gets and for ranges', async () => {
      await put({ a: '1', b: '2' });
      const snapshot = store.snapshot();
      await put({ a: 'new', c: 'new' });
      const batch = store.batch();
      batch.delete(key('b'));
      await batch.write({ sync: true });
      expect(store.getSync(key('a'), snapshot)?.toString()).toBe('1');
      expect(store.getSync(key('b'), snapshot)?.toString()).toBe('2');
      expect(store.getSync(key('c'), snapshot)).toBeUndefined();
      expect(await all(everything, { snapshot })).toEqual(['a=1', 'b=2']);
      expect(await all(everything)).toEqual(['a=new', 'c=new']);
      await snapshot.close();
    });

    test('a flush changes nothing that can be read', async () => {
      await store.flush();
      await put({ a: '1' });
      await store.flush();
      await put({ b: '2' });
      expect(await all(everything)).toEqual(['a=1', 'b=2']);
    });

    test('a compaction gives back the room of what was deleted, and keeps the rest', async () => {
      for (const from of [0, 2000]) {
        const batch = store.batch();
        for (let i = from; i < from + 2000; i++)
          batch.put(key(String(i).padStart(6, '0')), Buffer.alloc(1000, i));
        await batch.write({ sync: false });
      }
      await store.flush();
      const batch = store.batch();
      for (let i = 0; i < 3000; i++) batch.delete(key(String(i).padStart(6, '0')));
      await batch.write({ sync: true });
      await store.compact({ from: key('000000'), to: key('003000') });
      expect(await store.approximateBytes({ from: key('000000'), to: key('003000') })).toBeLessThan(100_000);
      const found = await all(everything, { keysOnly: true }, 700);
      expect([found.length, found[0]]).toEqual([1000, '003000=']);
    });

    /** The next pairs that are read ahead, however late they come. */
    async function nextAhead(): Promise<Buffer> {
      for (;;) {
        const bytes = store.readAhead.next();
        if (bytes !== undefined) return bytes;
        await new Promise(setImmediate);
      }
    }

    /** The entries of a range that are read ahead. */
    async function ahead(range: KeyRange, valuesOnly = false): Promise<string[]> {
      await store.readAhead.prepare();
      store.readAhead.begin(range, valuesOnly);
      const found: string[] = [];
      for (;;) {
        const bytes = await nextAhead();
        if (bytes.length === 0) return found;
        for (const pairs = new PackedPairs(bytes); !pairs.isAtEnd; pairs.next()) {
          const name = bytes.subarray(pairs.keyAt, pairs.valueAt).subarray(0, 6).toString('latin1');
          found.push(`${name}=${bytes.toString('hex', pairs.valueAt, pairs.end)}`);
        }
      }
    }

    test('reads the first range ahead at once when it got ready for that', async () => {
      await put({ '000200': 'some' });
      await store.readAhead.prepare();
      store.readAhead.begin(everything, false);
      expect((await nextAhead()).includes('some')).toBe(true);
    });

    test('reads a range ahead as it is, and the next one in its place', async () => {
      const batch = store.batch();
      const expected: string[] = [];
      for (let i = 0; i < 3000; i++) {
        const value = Buffer.alloc(i % 300, i);
        batch.put(key(String(i).padStart(6, '0')), value);
        if (i >= 100 && i < 2900) expected.push(`${String(i).padStart(6, '0')}=${value.toString('hex')}`);
      }
      await batch.write({ sync: false });
      expect(await ahead({ from: key('000100'), to: key('002900') })).toEqual(expected);
      await put({ '000200': 'new' });
      store.readAhead.begin(everything, false);
      expect(await ahead({ from: key('000200'), to: key('000201') })).toEqual([
        `000200=${Buffer.from('new').toString('hex')}`,
      ]);
      expect(await ahead({ from: key('5'), to: key('6') })).toEqual([]);
    });

    test('reads values alone ahead, between keys of any bytes', async () => {
      const batch = store.batch();
      for (const byte of [0x7f, 0x80, 0x81, 0xc3, 0xff]) batch.put(Buffer.alloc(6, byte), Buffer.of(byte));
      await batch.write({ sync: false });
      const range = { from: Buffer.alloc(6, 0x80), to: Buffer.alloc(6, 0xff) };
      expect(await ahead(range, true)).toEqual(['=80', '=81', '=c3']);
    });

    test('gives nothing more of a range that was given up', async () => {
      await put({ '000001': 'a', '000002': 'b' });
      expect(await ahead(everything)).toHaveLength(2);
      store.readAhead.begin(everything, false);
      store.readAhead.end();
      expect(store.readAhead.next() ?? NOTHING).toHaveLength(0);
    });

    test('reads ahead as of one moment, as long as that is held', async () => {
      const names = ['000001', '000002'];
      await put({ '000001': 'a', '000003': 'c' });
      const held = await store.readAhead.hold(names.map(key));
      expect(held?.map((value) => value?.toString())).toEqual(['a', undefined]);
      await put({ '000001': 'b', '000002': 'b' });
      const hex = (text: string): string => Buffer.from(text).toString('hex');
      expect(await ahead(everything)).toEqual([`000001=${hex('a')}`, `000003=${hex('c')}`]);
      store.readAhead.release();
      expect((await ahead(everything))[0]).toBe(`000001=${hex('b')}`);
    });

    test('a large range comes whole', async () => {
      const batch = store.batch();
      for (let i = 0; i < 5000; i++) batch.put(key(String(i).padStart(6, '0')), Buffer.alloc(500, i));
      await batch.write({ sync: false });
      const found = await all(everything, { keysOnly: true }, 700);
      expect(found.length).toBe(5000);
      expect(found.at(-1)).toBe('004999=');
    });
  });
}
