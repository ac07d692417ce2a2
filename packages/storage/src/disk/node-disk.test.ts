import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describeDisk } from './disk.contract.js';
import { NodeDisk } from './node-disk.js';

let folder: string;
describeDisk(
  'NodeDisk',
  async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'althing-disk-'));
    return NodeDisk.make(path.join(folder, 'files'));
  },
  () => rm(folder, { recursive: true }),
);
