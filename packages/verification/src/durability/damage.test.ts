import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RealNode, type TestSettings, until } from '@althing/node/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { seeded } from 'raft-ts';
import { Workload } from './workload.js';

const SETTINGS: TestSettings = { checkpoint_interval_ms: 100, checkpoint_size_mb: 1 };

/** Ways to damage a file of a node that was stopped. */
const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  'is missing': (path) => rmSync(path),
  'lost its second half': (path) => truncateSync(path, statSync(path).size >>> 1),
  'has a flipped bit': (path) => {
    const bytes = readFileSync(path);
    const at = Math.min(bytes.length >>> 1, 200);
    bytes[at] = (bytes[at] ?? 0) ^ 4;
    writeFileSync(path, bytes);
  },
};

/** Files that tell nothing: LevelDB's lock and its log of what it did, and the log's file in advance. */
const WORTHLESS = /(^|\/)(LOCK|LOG|LOG\.old|owner|reserve|spare-\d+)$/;

/** The exits of nodes whose folders are damaged. */
const ENDS = ['stopped', 'killed'] as const;

const random = seeded(Number(process.env.ALTHING_TEST_SEED));

/** The end after which a kind of files is damaged in one way, drawn anew for each seed: a node starts for each file. */
const drawn = new Map<string, string>();

function isTried(end: string, damage: string, file: string): boolean {
  const key = `${damage} ${file.replaceAll(/\d+/g, '')}`;
  if (!drawn.has(key)) drawn.set(key, ENDS[Math.floor(random() * ENDS.length)] ?? '');
  return drawn.get(key) === end;
}

describe.each(ENDS)('the folder of a node that was %s', (end) => {
  const workload = new Workload({ clients: 4, random: seeded(7) });
  let folder: string;
  let authorization: string;

  beforeAll(async () => {
    let node = await RealNode.start(SETTINGS);
    ({ folder, authorization } = node);
    await workload.prepare(node);
    await work(node);
    await node.stop({ keep: true });
    // LevelDB makes tables of what it finds in its log.
    node = await RealNode.start(SETTINGS, folder, authorization);
    const load = work(node);
    if (end === 'stopped') {
      await load;
      await node.stop({ keep: true });
    } else {
      await until(() => workload.acknowledged > 500, 'changes are acknowledged');
      await node.kill();
      await load;
    }
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Changes things until enough is acknowledged, or the node ends. */
  async function work(node: RealNode): Promise<void> {
    const acknowledged = workload.acknowledged;
    const load = workload.run(node);
    await until(
      () => workload.acknowledged > acknowledged + 300 || !node.running,
      'changes are acknowledged',
    );
    workload.stop();
    await load;
  }

  test.each(Object.keys(DAMAGES))(
    'a folder with a file %s: another one ends with code 4 and says what to do, or everything is there',
    async (damage) => {
      const refused: string[] = [];
      const tried = filesOf(folder).filter((name) => !WORTHLESS.test(name) && isTried(end, damage, name));
      for (const file of tried) {
        const copy = mkdtempSync(join(tmpdir(), 'althing-damaged-'));
        try {
          cpSync(folder, copy, { recursive: true });
          DAMAGES[damage]?.(join(copy, file));
          if (await isRefused(copy, file)) refused.push(file);
        } finally {
          rmSync(copy, { recursive: true, force: true });
        }
      }
      for (const needed of NEEDED[damage] ?? []) {
        if (tried.some((file) => needed.test(file)))
          expect(refused).toContainEqual(expect.stringMatching(needed));
      }
    },
  );

  /** Starts a node; if it comes up, everything must be right. */
  async function isRefused(copy: string, file: string): Promise<boolean> {
    const node = await RealNode.launch(SETTINGS, copy);
    node.authorization = authorization;
    try {
      const serves = await node.whenReady().then(
        () => true,
        () => false,
      );
      if (serves) {
        await workload.verify(node).catch((error: unknown) => {
          throw node.explained(`${file}: ${String(error)}`);
        });
        return false;
      }
      const code = await node.ended();
      if (code !== 4) throw node.explained(`${file}: the node ended with code ${code}`);
      expect(node.log).toMatch(/(damaged|fit together).*backup/s);
      return true;
    } finally {
      await node.kill();
    }
  }
});

/** Files whose damage must be noticed. */
const NEEDED: Readonly<Record<string, readonly RegExp[]>> = {
  'is missing': [/log\/segment-/, /\.ldb$/, /MANIFEST/, /CURRENT/],
  'lost its second half': [/\.ldb$/, /MANIFEST/],
  'has a flipped bit': [/log\/segment-/, /\.ldb$/, /MANIFEST/, /CURRENT/],
};

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
