import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ErrorCode, type ModuleAnswer, type ModuleInfo, RootGroup } from '@althing/engine';
import { LevelStore } from '@althing/storage';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { backgroundClock } from '../base/clock.js';
import { until } from '../testing/until.js';
import { ModuleManager } from './manager.js';
import { encodePackage, type Package, PackageError, PackageReader, PackageType } from './package.js';

/** The environment that a process began with is read from `/proc`. */
const onLinux = process.platform === 'linux' ? test : test.skip;

/** A module without any library, which does what requests say. */
const SCRIPT = `#!/usr/bin/env node
'use strict';
const fs = require('node:fs');
const { spawn } = require('node:child_process');
fs.writeFileSync('pid', String(process.pid));
const send = (type, id, data) => {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(data.length, 0);
  head.writeUInt16LE(id, 4);
  head[6] = type;
  head[7] = type ^ 255;
  fs.writeSync(1, Buffer.concat([head, data]));
};
const text = (words) => {
  const bytes = Buffer.from(words);
  return Buffer.concat([Buffer.from([0xda, bytes.length >> 8, bytes.length & 255]), bytes]);
};
const error = (code, words) => Buffer.concat([Buffer.from([0x92, 0xd0, code & 255]), text(words)]);
let held = null;
const gathered = [];
const acts = {
  echo: (id, data) => send(81, id, data),
  twice: (id, data) => { send(81, id, data); send(81, id, data); },
  fails: (id) => send(82, id, error(-60, 'bad')),
  badError: (id) => send(82, id, text('bad')),
  badCode: (id) => send(82, id, error(-1, 'bad')),
  otherType: (id) => send(99, id, text('bad')),
  hold: (id) => { held = id; },
  free: (id, data) => { send(81, held, data); send(81, id, data); },
  gathers: (id) => { gathered.push(id); },
  scatters: (id, data) => { for (const one of [...gathered.splice(0), id]) send(81, one, data); },
  dies: () => process.exit(3),
  prints: () => console.log('hello world'),
  closes: () => fs.closeSync(1),
  deafens: (id, data) => { process.stdin.destroy(); fs.closeSync(0); send(81, id, data); },
  announces: () => { fs.writeSync(1, Buffer.from([255, 255, 255, 127, 0, 0, 81, 81 ^ 255])); },
  floods: () => { for (;;) send(81, 9999, Buffer.alloc(100)); },
  says: (id, data) => { for (let i = 0; i < 1000; i++) console.error('line ' + i + 'x'.repeat(20000 * (i % 2))); send(81, id, data); },
  environment: (id) => send(81, id, text(JSON.stringify([Object.keys(process.env), process.cwd(), process.argv.length]))),
  files: (id) => send(81, id, text(JSON.stringify(fs.readdirSync('/proc/self/fd').map((fd) => {
    try { return fs.readlinkSync('/proc/self/fd/' + fd); } catch { return ''; }
  })))),
  leaver: (id, data) => {
    const child = spawn('sleep', ['1000'], { stdio: 'ignore', detached: true });
    child.unref();
    fs.writeFileSync('leaver', String(child.pid));
    send(81, id, data);
  },
  child: (id, data) => {
    // Without the mark: it is known by its group alone.
    const child = spawn('sleep', ['1000'], { stdio: 'ignore', env: { PATH: process.env.PATH } });
    process.on('SIGTERM', () => {});
    fs.writeFileSync('child', String(child.pid));
    send(81, id, data);
  },
};
let rest = Buffer.alloc(0);
process.stdin.on('data', (bytes) => {
  rest = Buffer.concat([rest, bytes]);
  while (rest.length >= 8 && rest.length >= 8 + rest.readUInt32LE(0)) {
    const end = 8 + rest.readUInt32LE(0);
    const id = rest.readUInt16LE(4);
    const type = rest[6];
    const data = rest.subarray(8, end);
    rest = rest.subarray(end);
    if (type === 64) {
      if (data.includes('silent')) continue;
      send(data.includes('wrong') ? 66 : 65, 7, Buffer.alloc(0));
    } else acts[Object.keys(acts).find((name) => data.includes('=' + name))](id, data);
  }
});
setInterval(() => {}, 1000);
`;

let folder: string;
let manager: ModuleManager;
let root: RootGroup;
let said: Record<string, unknown>[];
let opening: Promise<unknown>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'althing-modules-'));
  root = new RootGroup();
  said = [];
  opening = Promise.resolve();
  manager = managerOf();
  await opening;
});

afterEach(async () => {
  await opening;
  await manager.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Settings {
  readonly mode?: 'off' | 'local' | 'deploy';
  readonly timeout?: number;
}

function managerOf({ mode = 'local', timeout = 600 }: Settings = {}): ModuleManager {
  const log = pino({ level: 'debug' }, { write: (line: string) => said.push(JSON.parse(line)) });
  const made = new ModuleManager({
    config: {
      enableModules: mode,
      storagePath: folder,
      modulesPath: folder,
      pythonInterpreter: 'no-python',
      moduleTimeout: timeout,
      moduleAnswerLimitMb: 1,
    },
    root: () => root,
    whenCommitted: (callback) => callback(true),
    log,
    clock: backgroundClock,
    pauseMs: 1,
    termMs: 200,
  });
  opening = Promise.all([opening, made.open(0)]);
  return made;
}

/** Puts a file where a module finds it. */
function place(path: string, text = SCRIPT, mode = 0o700): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text, { mode });
}

function define(name: string, more: Partial<ModuleInfo> = {}): ModuleInfo {
  const module: ModuleInfo = {
    id: 10 + root.modules.byId.size,
    name,
    folder: name,
    source: 'run',
    createdAt: 0,
    scope: null,
    confs: 0,
    starts: 0,
    conf: new Uint8Array(0),
    ...more,
  };
  root.modules.put(module);
  manager.consider();
  return module;
}

function change(module: ModuleInfo, more: Partial<ModuleInfo>): ModuleInfo {
  const changed = { ...module, ...more };
  root.modules.put(changed);
  manager.consider();
  return changed;
}

const statusOf = ({ id }: ModuleInfo): string => manager.look(id).status;

/** The module settled with this status. */
async function settled(module: ModuleInfo, status: string | RegExp): Promise<void> {
  await until(
    () =>
      manager.isSettled &&
      (typeof status === 'string' ? statusOf(module) === status : status.test(statusOf(module))),
    `${module.name} is ${status}, not ${statusOf(module)}`,
  );
}

/** The answer to a request: the text, or the code of the error. */
async function ask({ id }: ModuleInfo, what: string): Promise<string | number> {
  const answer = await new Promise<ModuleAnswer>((resolve) =>
    manager.ask({ number: 1, module: id, user: 1, data: Buffer.from(`=${what}`) }, resolve),
  );
  return answer.ok ? Buffer.from(answer.data).toString('latin1') : answer.error.code;
}

function isAlive(file: string): boolean {
  try {
    process.kill(Number(readFileSync(join(folder, file), 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
}

describe('packages', () => {
  test('have the bytes of the protocol', () => {
    expect(encodePackage(PackageType.REQ, 1, Buffer.from('81a17801', 'hex')).toString('hex')).toBe(
      '04000000010050af81a17801',
    );
    expect(encodePackage(PackageType.CONF, 0, Buffer.from('81a4636f6e66a26f6b', 'hex')).toString('hex')).toBe(
      '09000000000040bf81a4636f6e66a26f6b',
    );
  });

  test.each([1, 3, 7, 8, 9, 1000])('are read in pieces of %i bytes', (size) => {
    const bytes = Buffer.concat(
      [0, 1, 300, 5].map((length, i) => encodePackage(80 + i, i, Buffer.alloc(length, i))),
    );
    const reader = new PackageReader(300);
    const read: Package[] = [];
    for (let at = 0; at < bytes.length; at += size)
      reader.take(bytes.subarray(at, at + size), (one) => read.push(one));
    expect(read.map(({ id, type, data }) => [id, type, data.length])).toEqual([
      [0, 80, 0],
      [1, 81, 1],
      [2, 82, 300],
      [3, 83, 5],
    ]);
    expect(read[2]?.data.every((byte) => byte === 2)).toBe(true);
    expect(() => reader.take(Buffer.from('hello wo'), () => {})).toThrow(PackageError);
    expect(() => new PackageReader(300).take(encodePackage(81, 0, Buffer.alloc(301)), () => {})).toThrow(
      /announced/,
    );
  });
});

describe('a module', () => {
  test('answers, in any order, and each request once; errors have its code', async () => {
    place('X/run');
    const x = define('X');
    // It may be asked while it starts.
    expect(await ask(x, 'echo')).toBe('=echo');
    expect(manager.look(x.id)).toMatchObject({ status: 'running', file: 'X/run', tasks: 0, restarts: 0 });
    const held = ask(x, 'hold');
    await until(() => manager.look(x.id).tasks === 1, 'it is asked');
    expect(await ask(x, 'free')).toBe('=free');
    expect(await held).toBe('=free');
    for (const [what, told] of [
      ['twice', '=twice'],
      ['fails', ErrorCode.VALUE],
      ['badError', ErrorCode.BAD_DATA],
      ['badCode', ErrorCode.BAD_DATA],
      ['otherType', ErrorCode.BAD_DATA],
      ['echo', '=echo'],
    ] as const)
      expect([what, await ask(x, what)]).toEqual([what, told]);
    expect(manager.look(x.id).restarts).toBe(0);
  });

  test('sees nothing of the node but a few variables, and is told where it is', async () => {
    process.env.SERVICE_ADMIN_PASSWORD = 'secret';
    place('X/run');
    const x = define('X');
    const told = String(await ask(x, 'environment'));
    delete process.env.SERVICE_ADMIN_PASSWORD;
    const [names, where, args] = JSON.parse(told.slice(3));
    expect(
      names.filter(
        (name: string) =>
          !['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'ALTHING_MODULE', '__CF_USER_TEXT_ENCODING'].includes(
            name,
          ),
      ),
    ).toEqual([]);
    expect(where.endsWith('/X')).toBe(true);
    expect(args).toBe(2);
  });

  onLinux('has no file of the node open', async () => {
    const store = await LevelStore.open(join(folder, 'state'), { createIfMissing: true });
    place('X/run');
    const files: string[] = JSON.parse(String(await ask(define('X'), 'files')).slice(3));
    expect(files.length).toBeGreaterThan(2);
    expect(files.filter((file) => file.startsWith(folder))).toEqual([]);
    await store.close();
  });

  test.each(['dies', 'prints', 'closes', 'announces', 'floods'])(
    'a module that %s is started again, and what it was asked is cancelled',
    async (what) => {
      place('X/run');
      place('Y/run');
      const [x, y] = [define('X'), define('Y')];
      expect(await ask(x, 'echo')).toBe('=echo');
      const pid = readFileSync(join(folder, 'X/pid'), 'utf8');
      const waiting = [ask(x, 'hold'), ask(x, 'hold'), ask(x, what)];
      expect(await ask(y, 'echo')).toBe('=echo');
      expect(await Promise.all(waiting)).toEqual([
        ErrorCode.CANCELLED,
        ErrorCode.CANCELLED,
        ErrorCode.CANCELLED,
      ]);
      await settled(x, 'running');
      expect(manager.look(x.id).restarts).toBe(1);
      expect(await ask(x, 'echo')).toBe('=echo');
      expect(readFileSync(join(folder, 'X/pid'), 'utf8')).not.toBe(pid);
      expect(manager.look(y.id).restarts).toBe(0);
      expect(said.some(({ event }) => event === 'module_violation')).toBe(what !== 'dies');
      manager.restart(x.id);
      await settled(x, 'running');
      expect(manager.look(x.id).restarts).toBe(0);
    },
  );

  test('a module that closes its standard input is ended and started again, and callers are told', async () => {
    place('X/run');
    const x = define('X');
    expect(await ask(x, 'deafens')).toBe('=deafens');
    expect(await ask(x, 'echo')).toBe(ErrorCode.CANCELLED);
    await until(() => statusOf(x) === 'running', 'it runs again');
    expect(await ask(x, 'echo')).toBe('=echo');
  });

  test('a module that dies at each start is given up, until somebody starts it', async () => {
    place('X/run', '#!/bin/sh\nexit 3\n');
    const x = define('X');
    const asked = ask(x, 'echo');
    await settled(x, /^too many restarts: it ended with status 3/);
    expect([ErrorCode.OPERATION, ErrorCode.CANCELLED]).toContain(await asked);
    expect(await ask(x, 'echo')).toBe(ErrorCode.OPERATION);
    expect(manager.look(x.id).restarts).toBe(11);
    place('X/run');
    change(x, { starts: 1 });
    await settled(x, 'running');
    expect(await ask(x, 'echo')).toBe('=echo');
  });

  test('a module that reads nothing gets no more than so much', async () => {
    place('X/run', '#!/bin/sh\nexec sleep 1000\n');
    const x = define('X');
    await settled(x, 'running');
    const large = Buffer.alloc(40 * 1024 * 1024);
    const answers = [0, 1].map(
      () =>
        new Promise<ModuleAnswer>((resolve) =>
          manager.ask({ number: 1, module: x.id, user: 1, data: large }, resolve),
        ),
    );
    expect(await answers[1]).toMatchObject({ error: { code: ErrorCode.MAX_QUOTA } });
    manager.restart(x.id);
    expect(await answers[0]).toMatchObject({ error: { code: ErrorCode.CANCELLED } });
  });

  test.each([
    ['reads nothing', 0],
    ['does not take its configuration', 1],
  ])('a module that %s leaves room to all users', async (_, size) => {
    place('X/run', '#!/bin/sh\nexec sleep 1000\n');
    const x = define('X', { conf: Buffer.alloc(size) });
    if (size === 0) await settled(x, 'running');
    const told = [1, 1, 1, 1, 2, 2].map((user) => {
      let code = 0;
      manager.ask({ number: 1, module: x.id, user, data: Buffer.alloc(15 * 1024 * 1024) }, (answer) => {
        if (!answer.ok) code = answer.error.code;
      });
      return code;
    });
    const refused = ErrorCode.MAX_QUOTA;
    expect(told).toEqual([0, 0, refused, refused, 0, refused]);
  });

  test('a module that does not answer in time is answered for, and a late answer is dropped', async () => {
    manager = managerOf({ timeout: 2 });
    place('X/run');
    const x = define('X');
    await settled(x, 'running');
    expect(await ask(x, 'hold')).toBe(ErrorCode.CANCELLED);
    expect(manager.look(x.id).tasks).toBe(0);
    expect(await ask(x, 'free')).toBe('=free');
    expect(manager.look(x.id).restarts).toBe(0);
  });

  test('a module that answers late is not ended for sending what nobody asked for, however much comes at once', async () => {
    manager = managerOf({ timeout: 2 });
    place('X/run');
    const x = define('X');
    await settled(x, 'running');
    const late = await Promise.all(Array.from({ length: 1500 }, () => ask(x, 'gathers')));
    expect(new Set(late)).toEqual(new Set([ErrorCode.CANCELLED]));
    expect(await ask(x, 'scatters')).toBe('=scatters');
    expect(await ask(x, 'echo')).toBe('=echo');
    expect(manager.look(x.id).restarts).toBe(0);
  });

  test('is configured before it is asked, and told when that changes', async () => {
    place('X/run');
    const conf = (text: string) => Buffer.from(`=${text}`);
    let x = define('X', { conf: conf('right') });
    expect(await ask(x, 'echo')).toBe('=echo');
    x = change(x, { conf: conf('wrong'), confs: 1 });
    await settled(x, /^configuration error/);
    expect(await ask(x, 'echo')).toBe(ErrorCode.OPERATION);
    x = change(x, { conf: conf('right'), confs: 2 });
    await settled(x, 'running');
    x = change(x, { conf: conf('silent'), confs: 3, starts: 1 });
    await until(() => statusOf(x) === 'running', 'it runs');
    expect(manager.isSettled).toBe(false);
    const asked = ask(x, 'echo');
    x = change(x, { conf: conf('right'), confs: 4 });
    expect(await asked).toBe('=echo');
    expect(JSON.stringify(said)).not.toContain('silent');
  });

  test('a module that is started again and again while it starts answers all who asked meanwhile', async () => {
    place('X/run');
    let x = define('X');
    const asked: Promise<string | number>[] = [];
    for (let starts = 1; starts <= 10; starts++) {
      asked.push(ask(x, 'echo'));
      // Somewhere else on the way to its process each time.
      for (let i = 0; i < starts; i++) await new Promise(setImmediate);
      x = change(x, { starts });
    }
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['=echo']));
    expect(manager.look(x.id).restarts).toBe(0);
  });

  test('and what it started are gone when it is deleted, though it does not want to', async () => {
    place('X/run');
    const x = define('X');
    expect(await ask(x, 'child')).toBe('=child');
    expect(isAlive('X/pid') && isAlive('X/child')).toBe(true);
    const asked = ask(x, 'hold');
    root.modules.delete(x.id);
    manager.consider();
    expect(await asked).toBe(ErrorCode.CANCELLED);
    expect(await ask(x, 'echo')).toBe(ErrorCode.CANCELLED);
    await until(() => !isAlive('X/pid') && !isAlive('X/child'), 'nothing of it is there');
    expect(existsSync(join(folder, 'X/run'))).toBe(true);
  });

  onLinux(
    'takes along what it started outside of its group, when it is deleted and when it dies',
    async () => {
      place('X/run');
      const x = define('X');
      expect(await ask(x, 'leaver')).toBe('=leaver');
      expect(isAlive('X/leaver')).toBe(true);
      await ask(x, 'dies');
      await until(() => !isAlive('X/leaver'), 'what the dead one left is gone');
      await settled(x, 'running');
      expect(await ask(x, 'leaver')).toBe('=leaver');
      expect(isAlive('X/leaver')).toBe(true);
      root.modules.delete(x.id);
      manager.consider();
      await until(() => !isAlive('X/pid') && !isAlive('X/leaver'), 'nothing of it is there');
    },
  );

  test('is gone when the node stops, and waiting requests are told', async () => {
    place('X/run');
    const x = define('X');
    await settled(x, 'running');
    const asked = ask(x, 'hold');
    manager.cancel();
    expect(await asked).toBe(ErrorCode.CANCELLED);
    await manager.stop();
    expect(isAlive('X/pid')).toBe(false);
  });

  test('has what it says on standard error in the log, as far as it is not too much', async () => {
    place('X/run');
    const x = define('X');
    expect(await ask(x, 'says')).toBe('=says');
    await until(() => said.some(({ text }) => String(text).startsWith('line 99')), 'it is told');
    const lines = said.filter(({ event }) => event === 'module_log').map(({ text }) => String(text));
    expect(lines.slice(0, 3).map((line) => line.slice(0, 7))).toEqual(['line 0', 'line 1x', 'line 2']);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(8200);
    expect(lines.length).toBeLessThan(300);
  });
});

describe('a module that can not be started says why', () => {
  const cases: readonly [why: string | RegExp, source: string, ...prepare: (() => void)[]][] = [
    ['module not installed', 'run'],
    ['no such file', 'run', () => place('X/other')],
    ['permission denied', 'run', () => place('X/run', SCRIPT, 0o600)],
    ['the file can not be executed', 'run', () => place('X/run', 'no program')],
    [/others may write/, 'run', () => place('X/run'), () => chmodSync(join(folder, 'X'), 0o777)],
    [/^no-python can not be started: no such file/, 'run.py', () => place('X/run.py', 'print(1)')],
    [/outside of/, 'run', () => place('X/a'), () => symlinkSync('/bin/true', join(folder, 'X/run'))],
    [/no regular file/, 'run', () => place('X/run/a')],
    [/invalid module.json: .*version/, 'module.json', () => place('X/module.json', '{"main": "run"}')],
    ['no such file', 'module.json', () => place('X/module.json', '{"main": "none", "version": "1"}')],
  ];
  test.each(cases)('%s', async (why, source, ...prepare) => {
    for (const step of prepare) step();
    const x = define('X', { source });
    await settled(x, why);
    expect(await ask(x, 'echo')).toBe(ErrorCode.OPERATION);
  });
});

test('a manifest says what is started', async () => {
  place('X/sub/bin/go');
  place('X/sub/module.json', '{"main": "bin/go", "version": 2, "exposes": {"f": {}}}');
  const x = define('X', { source: 'sub/module.json' });
  await settled(x, 'running');
  expect(manager.look(x.id)).toMatchObject({ file: 'X/sub/bin/go', manifest: { version: '2' } });
});

test('deployed code is written where it may run, once, and removed with its module', async () => {
  manager = managerOf({ mode: 'deploy' });
  let x = define('X', { source: 'sub/run' });
  await settled(x, 'module not installed');
  root.modules.setCode(x.id, [Buffer.from(SCRIPT.slice(0, 100)), Buffer.from(SCRIPT.slice(100))]);
  x = change(x, { starts: 1 });
  await settled(x, 'running');
  expect(await ask(x, 'echo')).toBe('=echo');
  expect(readFileSync(join(folder, 'X/sub/run'), 'utf8')).toBe(SCRIPT);
  await manager.stop();
  rmSync(join(folder, 'X/pid'));
  rmSync(join(folder, 'X'), { recursive: true });
  for (const [mode, status] of [
    ['local', /was deployed/],
    ['off', 'modules are turned off'],
  ] as const) {
    manager = managerOf({ mode });
    await settled(x, status);
    expect(existsSync(join(folder, 'X'))).toBe(false);
  }
  // A node that was not there when it was deployed.
  manager = managerOf({ mode: 'deploy' });
  await settled(x, 'running');
  expect(await ask(x, 'echo')).toBe('=echo');
  rmSync(join(folder, 'X/pid'));
  root.modules.delete(x.id);
  manager.consider();
  await until(() => !existsSync(join(folder, 'X')), 'it is removed');
  // A node that was not there when it was deleted; what operators placed is not touched.
  place('Y/other');
  const y = define('Y', { id: 50 });
  root.modules.setCode(y.id, [Buffer.from(SCRIPT)]);
  change(y, { starts: 1 });
  await settled(y, 'running');
  await manager.stop();
  root.modules.delete(y.id);
  manager = managerOf({ mode: 'off' });
  await until(() => !existsSync(join(folder, 'Y/run')), 'it is removed');
  expect(existsSync(join(folder, 'Y/other'))).toBe(true);
});

test('nothing runs where modules are turned off', async () => {
  manager = managerOf({ mode: 'off' });
  place('X/run');
  const x = define('X');
  await settled(x, 'modules are turned off');
  expect(await ask(x, 'echo')).toBe(ErrorCode.OPERATION);
  expect(existsSync(join(folder, 'X/pid'))).toBe(false);
  expect(manager.conditions).toEqual({ running: 0, starting: 0, failed: 0, off: 1 });
});
