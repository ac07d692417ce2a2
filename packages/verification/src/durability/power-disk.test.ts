import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { testThatNeeds } from '@althing/node/testing/needs';
import { expect } from '@jest/globals';
import { PowerDisk } from './power-disk.js';

testThatNeeds('power cuts', PowerDisk.problem())(
  'a disk has its power again, also where another process still holds what was mounted before the cut',
  async () => {
    const disk = new PowerDisk();
    let holder: ChildProcess | null = null;
    try {
      const before = join(disk.folder, 'before');
      writeSynced(before, 'synced');
      holder = await inNamespaceOfItsOwn();
      disk.cutPower();
      expect(() => writeSynced(join(disk.folder, 'cut'), 'x')).toThrow('EIO');
      disk.powerAgain();
      expect(readFileSync(before, 'utf8')).toBe('synced');
      writeSynced(join(disk.folder, 'after'), 'x');
    } finally {
      holder?.kill();
      disk.discard();
    }
  },
);

function writeSynced(path: string, text: string): void {
  const file = openSync(path, 'w');
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A process that has its own list of mounts, as it is now. */
async function inNamespaceOfItsOwn(): Promise<ChildProcess> {
  const child = spawn(
    'unshare',
    ['--mount', '--propagation', 'private', 'sh', '-c', 'echo here; exec sleep 50'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.stdout?.once('data', resolve);
  });
  return child;
}
