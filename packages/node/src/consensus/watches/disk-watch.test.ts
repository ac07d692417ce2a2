import { describe, expect, test } from '@jest/globals';
import { DiskWatch } from './disk-watch.js';

function watch(lowBytes: number): { readonly watch: DiskWatch; readonly said: string[] } {
  const said: string[] = [];
  return {
    watch: new DiskWatch({ lowBytes, changed: (level, free) => said.push(`${level} ${free}`) }),
    said,
  };
}

describe('the room on a disk', () => {
  test('is low below the bound, and enough again only at twice as much', () => {
    const { watch: disk, said } = watch(100);
    for (const free of [1000, 100, 99, 150, 199, 200, 150]) disk.noteFree(free);
    expect(said).toEqual(['low 99', 'ok 200']);
  });

  test('a disk on which the log has no room is full, and low behind that, until a look says otherwise', () => {
    const { watch: disk, said } = watch(100);
    disk.noteFree(1000);
    disk.noteBlocked(true);
    disk.noteBlocked(true);
    disk.noteBlocked(false);
    disk.noteFree(1000);
    expect(said).toEqual(['full 1000', 'low 1000', 'ok 1000']);
  });

  test('is judged by the log alone where there is no bound', () => {
    const { watch: disk, said } = watch(0);
    disk.noteFree(0);
    disk.noteBlocked(true);
    disk.noteBlocked(false);
    expect(said).toEqual(['full 0', 'ok 0']);
  });
});
