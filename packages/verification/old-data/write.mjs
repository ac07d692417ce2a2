/**
 * Writes what the test `durability/old-data.test.ts` reads: data folders of an older version of Althing, and what a node of that
 * version answered about them.
 *
 *   git worktree add ../old COMMIT && (cd ../old && npm ci && npm run build)
 *   node packages/verification/old-data/write.mjs ../old COMMIT
 *
 * makes COMMIT.json and COMMIT.tar.gz in this folder. The archive holds two data folders: `stopped` was left by a node that was
 * stopped, so that everything is in its checkpoint; `killed` is the same one after further changes by a node that was killed
 * before another checkpoint.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ASKED, WRITTEN, WRITTEN_LATER } from './contents.mjs';

const [checkout, name] = process.argv.slice(2);
if (checkout === undefined || name === undefined) throw new Error('usage: write.mjs CHECKOUT COMMIT');
const { RealNode } = await import(resolve(checkout, 'packages/node/dist/testing/real-node.js'));

const RARE = { checkpoint_interval_ms: 3_600_000, checkpoint_size_mb: 1000, garbage_interval_ms: 86_400_000 };

const place = mkdtempSync(join(tmpdir(), 'althing-old-data-'));
const first = await RealNode.start();
await write(first, WRITTEN);
const stopped = await answers(first);
await first.stop({ keep: true });
cpSync(join(first.folder, 'data'), join(place, 'stopped'), { recursive: true });

const second = await RealNode.start(RARE, first.folder, first.authorization);
await write(second, WRITTEN_LATER);
const killed = await answers(second);
await second.kill();
cpSync(join(first.folder, 'data'), join(place, 'killed'), { recursive: true });

const here = dirname(fileURLToPath(import.meta.url));
const { authorization } = first;
writeFileSync(join(here, `${name}.json`), lines({ authorization, stopped, killed }));
execFileSync('tar', ['--sort=name', '-C', place, '-czf', join(here, `${name}.tar.gz`), 'stopped', 'killed'], {
  env: { ...process.env, GZIP: '-9' },
});
rmSync(place, { recursive: true });
first.clear();

async function write(node, queries) {
  for (const [scope, code] of queries) await node.value(scope, code);
}

/** Questions with their answers: the value, or the name of the error. */
async function answers(node) {
  const found = [];
  for (const [scope, code] of ASKED) {
    const { json } = await node.query(scope, code);
    found.push({ scope, code, answer: json?.error?.name ?? json });
  }
  return found;
}

/** As JSON with one answer a line. */
function lines({ authorization, stopped, killed }) {
  const list = (found) => `[\n${found.map((each) => JSON.stringify(each)).join(',\n')}\n]`;
  return `{"authorization": ${JSON.stringify(authorization)},\n"stopped": ${list(stopped)},\n"killed": ${list(killed)}}\n`;
}
