/**
 * The package as others get it: packed, installed in an empty folder without a network, and its examples run
 * there.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';

// A busy machine may need long for npm and for elections.
jest.setTimeout(240_000);

const PACKAGE = fileURLToPath(new URL('../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'raft-package-'));
const example = (name: string): string => join(folder, 'node_modules/raft-ts/example', name);
const running = new Set<ChildProcess>();

beforeAll(() => {
  const npm = (args: readonly string[], cwd: string): string =>
    execFileSync('npm', [...args, '--cache', join(folder, 'cache')], {
      cwd,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  npm(['pack', '--pack-destination', folder], PACKAGE);
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  npm(['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], folder);
});

afterAll(async () => {
  for (const child of running) await killed(child);
  rmSync(folder, { recursive: true, force: true });
});

describe('the packed package', () => {
  test('holds what it needs and nothing else', () => {
    const home = join(folder, 'node_modules/raft-ts');
    expect(readdirSync(home).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'example', 'package.json']);
    const files = readdirSync(join(home, 'dist'), { recursive: true, encoding: 'utf8' });
    expect(files).toContain('index.d.ts');
    expect(files.filter((name) => /\.(test\.|map$)|exploration/.test(name))).toEqual([]);
    const texts = files
      .filter((name) => /^[^/]*\.js$/.test(name))
      .map((name) => readFileSync(join(home, 'dist', name), 'utf8'));
    for (const text of texts) expect(text).not.toMatch(/from '(?!\.\/)/);
  });

  test('runs the example in memory', () => {
    const said = execFileSync(process.execPath, [example('three-nodes.mjs')], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(said).toMatch(/dead[^\n]*\n?/);
    expect(said.match(/hello world again/g)).toHaveLength(2);
  });

  test('has a core with planted bugs behind its second door', () => {
    const code = [
      "const name = 'raft-ts';",
      'const [{ RaftNode }, doors] = [await import(name), await import(name + "/testing")];',
      'const planter = new doors.Planter();',
      'const plants = doors.MUTANT_NAMES.map((name) => planter.plant(new Set([name])));',
      'console.log((await Promise.all(plants)).filter((core) => core !== RaftNode).length);',
    ].join('\n');
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(Number(said)).toBeGreaterThanOrEqual(30);
  });
});

describe('the persistent host', () => {
  test('has at most 150 lines', () => {
    expect(readFileSync(example('persistent-host.mjs'), 'utf8').split('\n').length).toBeLessThanOrEqual(151);
  });

  test('loses nothing when nodes are killed, one or all', async () => {
    const ports = await freePorts(6);
    const start = (id: number): Promise<ChildProcess> => started(id, ports);
    const nodes = [await start(1), await start(2), await start(3)];
    const written: string[] = [];
    for (let n = 0; n < 20; n += 1) written.push(await append(ports, `first ${n}`));

    const leader = await leaderOf(ports);
    await killed(nodes[leader - 1]!);
    for (let n = 0; n < 20; n += 1) written.push(await append(ports, `without ${leader}: ${n}`));
    nodes[leader - 1] = await start(leader);
    // The one that was killed answers as well, and has all of it.
    expect(await readAt(ports, leader)).toEqual(expect.arrayContaining(written));

    // All at once, while writes are under way.
    const last = Array.from({ length: 10 }, (_, n) => tryAppend(ports, leader, `last ${n}`));
    for (const node of nodes) node.kill('SIGKILL');
    const acknowledged = (await Promise.all(last)).filter((text) => text !== null);
    await Promise.all(nodes.map(killed));
    await Promise.all([start(1), start(2), start(3)]);
    written.push(...acknowledged, await append(ports, 'at the end'));
    for (const id of [1, 2, 3]) expect(await readAt(ports, id)).toEqual(expect.arrayContaining(written));
  });

  test('leaves out a write that was cut, and refuses a journal that was damaged before its end', async () => {
    const ports = await freePorts(2);
    const home = join(folder, 'alone');
    const journal = join(home, 'journal');
    await killed(await started(1, ports, home));
    const one = await started(1, ports, home);
    await append(ports, 'kept');
    await killed(one);
    const sound = readFileSync(journal);
    writeFileSync(journal, Buffer.concat([sound, Buffer.from('01234567 {"hardState":nu')]));
    const two = await started(1, ports, home);
    await append(ports, 'after the cut');
    expect(await readAt(ports, 1)).toEqual(['kept', 'after the cut']);
    await killed(two);
    const damaged = readFileSync(journal);
    damaged[12]! ^= 1;
    writeFileSync(journal, damaged);
    await expect(started(1, ports, home)).rejects.toThrow('ended');
  });
});

/** Starts a node of the example; resolves when it takes requests. */
async function started(
  id: number,
  ports: readonly number[],
  home = join(folder, `node-${id}`),
): Promise<ChildProcess> {
  const args = [example('persistent-host.mjs'), String(id), home, ...ports.map(String)];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  running.add(child);
  const said = await Promise.race([once(child.stdout!, 'data'), once(child, 'exit').then(() => null)]);
  if (said === null) throw new Error(`node ${id} ended`);
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Appends a text by any node, again and again until one of them acknowledges it. */
async function append(ports: readonly number[], text: string): Promise<string> {
  for (let at = 0; ; at += 1) {
    if ((await tryAppend(ports, (at % (ports.length / 2)) + 1, text)) !== null) return text;
    await pause();
  }
}

/** Appends a text; null if that is not known to have happened. */
async function tryAppend(ports: readonly number[], id: number, text: string): Promise<string | null> {
  const response = await ask(ports, id, { method: 'POST', body: text });
  return response?.status === 200 ? text : null;
}

/** The text that a node reads, once it answers. */
async function readAt(ports: readonly number[], id: number): Promise<unknown> {
  for (;;) {
    const response = await ask(ports, id, {});
    if (response?.status === 200) return await response.json();
    await pause();
  }
}

/** The node that takes an entry without leading elsewhere. */
async function leaderOf(ports: readonly number[]): Promise<number> {
  for (let at = 0; ; at += 1) {
    const id = (at % (ports.length / 2)) + 1;
    const response = await ask(ports, id, { method: 'POST', body: 'who leads?', redirect: 'manual' });
    if (response?.status === 200) return id;
    await pause();
  }
}

function ask(ports: readonly number[], id: number, init: RequestInit): Promise<Response | null> {
  return fetch(`http://127.0.0.1:${ports[2 * id - 1]}/`, init).catch(() => null);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  const ports: number[] = [];
  for (const server of servers) {
    if (!server.listening) await once(server, 'listening');
    const address = server.address();
    if (typeof address === 'object' && address !== null) ports.push(address.port);
  }
  for (const server of servers) server.close();
  return ports;
}
