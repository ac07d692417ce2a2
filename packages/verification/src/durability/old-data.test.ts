/**
 * Data folders that nodes of older versions left behind are read. They lie in `packages/verification/old-data`, with what the old nodes
 * themselves answered about them; `write.mjs` there tells how they were made.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { basic, RealNode } from '@althing/node/testing';
import { afterEach, describe, expect, test } from '@jest/globals';

interface Recorded {
  readonly authorization: string;
  readonly stopped: readonly Answered[];
  readonly killed: readonly Answered[];
}

/** A question to a node, and the value that it answered, or the name of the error. */
interface Answered {
  readonly scope: string;
  readonly code: string;
  readonly answer: unknown;
}

const OLD_DATA = fileURLToPath(new URL('../../old-data/', import.meta.url));

let node: RealNode | undefined;

afterEach(async () => {
  await node?.kill();
  node?.clear();
});

describe.each(['39483fa', '0548e2d4'])('data of %s', (version) => {
  test.each(['stopped', 'killed'] as const)('data of a node that was %s is read', async (how) => {
    const recorded: Recorded = JSON.parse(readFileSync(join(OLD_DATA, `${version}.json`), 'utf8'));
    const folder = unpacked(version, how);
    node = await RealNode.start({}, folder, recorded.authorization);
    await compare(node, recorded[how]);

    // Users log in as before, and what is written beside it is kept together with it.
    const ann = await node.query('//stuff', 'user_info().load().name', undefined, {
      authorization: basic('ann', 'secret of ann'),
    });
    expect(ann.json).toBe('ann');
    await node.value('//drei', ".a.b.set('new', .a.b.c.id()); .list = range(10); nil");
    await node.stop({ keep: true });
    node = await RealNode.start({}, folder, recorded.authorization);
    await compare(
      node,
      recorded[how].filter(({ scope }) => scope !== '//drei' && scope !== '/t'),
    );
    expect(await node.value('//drei', '[.a.b.new == .a.b.c.id(), .list.len()]')).toEqual([true, 10]);

    // Old things become instances of types.
    await node.value(
      '//stuff',
      "set_type('Guest', {name: 'str', age: 'uint'}); .guests.each(|g| g.to_type('Guest'));",
    );
    const typed = await node.value(
      '//stuff',
      "[type_count('Guest') == .guests.len(), .guests[7].name.len() > 0]",
    );
    expect(typed).toEqual([true, true]);
    await node.stop({ keep: true });
  });
});

function unpacked(version: string, how: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'althing-test-'));
  execFileSync('tar', ['-C', folder, '-xzf', join(OLD_DATA, `${version}.tar.gz`), how]);
  renameSync(join(folder, how), join(folder, 'data'));
  return folder;
}

async function compare(node: RealNode, recorded: readonly Answered[]): Promise<void> {
  expect(recorded.length).toBeGreaterThan(20);
  for (const { scope, code, answer } of recorded) {
    const { json } = await node.query(scope, code);
    expect({ scope, code, answer: errorName(json) ?? json }).toEqual({ scope, code, answer });
  }
}

function errorName(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || !('error' in json)) return undefined;
  const { error } = json;
  return typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined;
}
