import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DiskError } from '../errors.js';
import { type Disk, type DiskFile, writeDurably } from './disk.js';

/** The contract of every `Disk`. Real and simulated ones run this same suite. */
export function describeDisk(name: string, make: () => Promise<Disk>, dispose: () => Promise<void>): void {
  describe(`${name} keeps the contract of Disk`, () => {
    let disk: Disk;
    const open: DiskFile[] = [];

    beforeEach(async () => {
      disk = await make();
    });

    afterEach(async () => {
      for (const file of open.splice(0)) await file.close();
      await dispose();
    });

    async function create(file: string, bytes: number): Promise<DiskFile> {
      const handle = await disk.create(file, bytes);
      open.push(handle);
      return handle;
    }

    test('a new file has the size asked for and is all zeros', async () => {
      const file = await create('a', 3_000_000);
      expect(file.bytes).toBe(3_000_000);
      expect(file.read(2_999_990, 10)).toEqual(Buffer.alloc(10));
      expect(await disk.list()).toEqual([{ name: 'a', bytes: 3_000_000 }]);
    });

    test('the list can be read while files come and go', async () => {
      const comeAndGo = async (name: string): Promise<void> => {
        for (let round = 0; round < 20; round++) {
          await (await disk.create(name, 0)).close();
          await disk.remove(name);
        }
      };
      const reading = async (): Promise<void> => {
        for (let round = 0; round < 60; round++) await disk.list();
      };
      await Promise.all([comeAndGo('a'), comeAndGo('b'), reading(), reading()]);
      expect(await disk.list()).toEqual([]);
    });

    test('the list is sorted by name', async () => {
      await create('b', 1);
      await create('a', 2);
      await create('c', 0);
      expect((await disk.list()).map((entry) => entry.name)).toEqual(['a', 'b', 'c']);
    });

    test('a write is seen by reads, and its buffers follow each other', async () => {
      const file = await create('a', 20);
      await new Promise<void>((resolve, reject) => {
        file.write([Buffer.from('one'), Buffer.from('two')], 4, (error) =>
          error ? reject(error) : resolve(),
        );
      });
      expect(file.read(3, 8).toString('latin1')).toBe('\0onetwo\0');
    });

    test('done is called after write returned', async () => {
      const file = await create('a', 10);
      let returned = false;
      const seen = new Promise<boolean>((resolve) =>
        file.write([Buffer.from('x')], 0, () => resolve(returned)),
      );
      returned = true;
      expect(await seen).toBe(true);
    });

    test('urgent writes are like others, however many there are', async () => {
      const file = await create('a', 100);
      for (let at = 0; at < 200; at++) {
        const returned = await new Promise<boolean>((resolve, reject) => {
          let isBack = false;
          const done = (error: Error | undefined): void =>
            error === undefined ? resolve(isBack) : reject(error);
          file.write([Buffer.from([at]), Buffer.from([0xff])], at, done, true);
          isBack = true;
        });
        expect(returned).toBe(true);
        expect(file.bytes).toBe(Math.max(100, at + 2));
      }
      const wanted = Array.from({ length: 201 }, (_, at) => (at === 200 ? 0xff : at));
      expect([...file.read(0, 300)]).toEqual(wanted);
    });

    test('a read at the end is short, beyond it empty', async () => {
      const file = await create('a', 10);
      expect(file.read(8, 10).length).toBe(2);
      expect(file.read(10, 10).length).toBe(0);
      expect(file.read(99, 10).length).toBe(0);
    });

    test('a write beyond the end extends the file with zeros between', async () => {
      const file = await create('a', 2);
      await writeDurably(file, Buffer.from('end'), 5);
      expect(file.bytes).toBe(8);
      expect(file.read(0, 8).toString('latin1')).toBe('\0\0\0\0\0end');
    });

    test('what was read is a copy', async () => {
      const file = await create('a', 4);
      file.read(0, 4).fill(9);
      expect(file.read(0, 4)).toEqual(Buffer.alloc(4));
    });

    test('resize cuts, and extends with zeros', async () => {
      const file = await create('a', 0);
      await writeDurably(file, Buffer.from('abcdef'), 0);
      await file.resize(3);
      expect(file.bytes).toBe(3);
      await file.resize(5);
      expect(file.read(0, 9).toString('latin1')).toBe('abc\0\0');
    });

    test('create replaces a file of the same name', async () => {
      const old = await create('a', 4);
      await writeDurably(old, Buffer.from('old!'), 0);
      const young = await create('a', 2);
      expect(young.read(0, 4)).toEqual(Buffer.alloc(2));
    });

    test('a reopened file holds what was written', async () => {
      const file = await disk.create('a', 8);
      await writeDurably(file, Buffer.from('kept'), 0);
      await file.close();
      const again = await disk.open('a');
      open.push(again);
      expect(again.bytes).toBe(8);
      expect(again.read(0, 4).toString()).toBe('kept');
    });

    test('rename moves and replaces, and open handles follow', async () => {
      const file = await create('a', 4);
      await create('b', 9);
      await disk.rename('a', 'b');
      await disk.sync();
      await writeDurably(file, Buffer.from('here'), 0);
      expect(await disk.list()).toEqual([{ name: 'b', bytes: 4 }]);
      const again = await disk.open('b');
      open.push(again);
      expect(again.read(0, 4).toString()).toBe('here');
    });

    test('a removed file is off the list and still readable through its handle', async () => {
      const file = await create('a', 4);
      await disk.remove('a');
      expect(await disk.list()).toEqual([]);
      expect(file.read(0, 4).length).toBe(4);
    });

    test('a missing file is an error of the type and name that the contract tells', async () => {
      for (const attempt of [
        () => disk.open('none'),
        () => disk.remove('none'),
        () => disk.rename('none', 'b'),
      ]) {
        const error = await attempt().catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(DiskError);
        expect(error).toMatchObject({ errno: 'ENOENT' });
      }
    });

    test('free space is a positive number', async () => {
      expect(await disk.freeBytes()).toBeGreaterThan(0);
    });
  });
}
