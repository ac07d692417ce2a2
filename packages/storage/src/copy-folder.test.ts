import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { copyData } from './copy-folder.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'althing-copy-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('a copy of data', () => {
  test('holds everything, and does not change with what it was made of', async () => {
    mkdirSync(join(folder, 'a', 'level'), { recursive: true });
    writeFileSync(join(folder, 'a', 'level', '000005.ldb'), 'table');
    writeFileSync(join(folder, 'a', 'level', 'MANIFEST-000004'), 'manifest');
    writeFileSync(join(folder, 'a', 'mark'), 'mark');

    await copyData(join(folder, 'a'), join(folder, 'b'));
    for (const name of ['mark', 'level/MANIFEST-000004']) {
      writeFileSync(join(folder, 'a', name), 'changed', { flag: 'r+' });
    }
    rmSync(join(folder, 'a', 'level', '000005.ldb'));

    expect(readdirSync(join(folder, 'b'), { recursive: true }).sort()).toEqual(
      ['level', 'level/000005.ldb', 'level/MANIFEST-000004', 'mark'].sort(),
    );
    const text = (name: string): string => readFileSync(join(folder, 'b', name), 'utf8');
    expect([text('mark'), text('level/MANIFEST-000004'), text('level/000005.ldb')]).toEqual([
      'mark',
      'manifest',
      'table',
    ]);
  });

  test('takes no room for tables', async () => {
    mkdirSync(join(folder, 'a'));
    writeFileSync(join(folder, 'a', '000005.ldb'), 'table');
    await copyData(join(folder, 'a'), join(folder, 'b'));
    expect(statSync(join(folder, 'b', '000005.ldb')).ino).toBe(statSync(join(folder, 'a', '000005.ldb')).ino);
  });

  test('overwrites nothing', async () => {
    for (const name of ['a', 'b']) writeFileSync(join(folder, name), name);
    await expect(copyData(join(folder, 'a'), join(folder, 'b'))).rejects.toThrow('EEXIST');
  });
});
