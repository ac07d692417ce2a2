import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RealNode, until } from '../testing/index.js';
import { verifyBackup } from './contents.js';
import { BackupError } from './format.js';
import { pathOf } from './place.js';
import { decodeSchedule, encodeSchedule, Schedule, ScheduleFileError } from './schedule.js';
import { ScheduledBackups, type ScheduledEvent } from './scheduled.js';
import { nextTurn, type StandingOrder, turnOf } from './standing.js';

/** 2026-01-31 02:30:00Z */
const NOW = 1_769_826_600;

let root: string;
let folder: string;
let clock: number;
let monotonic: number;
let content: string;
let failure: Error | null;
let isBusy: boolean;
let told: ScheduledEvent[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'althing-scheduled-'));
  folder = join(root, 'kept');
  clock = NOW * 1000;
  monotonic = 5;
  content = 'backup';
  failure = null;
  isBusy = false;
  told = [];
});

afterEach(() => rmSync(root, { recursive: true }));

function open(standing: StandingOrder | null = null): ScheduledBackups {
  return new ScheduledBackups({
    schedule: new Schedule(root),
    backups: {
      get isBusy() {
        return isBusy;
      },
      take: async (write) => {
        await write(Buffer.from(content));
        if (failure !== null) throw failure;
      },
    },
    standing,
    folder,
    changes: () => 42,
    report: (event) => told.push(event),
    onFailure: (error) => {
      throw error;
    },
    now: () => clock,
    clock: { now: () => monotonic },
  });
}

const order = (template: string, rest: { start?: number; repeat?: number; maxFiles?: number } = {}) => ({
  template,
  createdAt: NOW,
  start: 0,
  repeat: 0,
  maxFiles: 7,
  ...rest,
});

/** Takes what is due. */
async function run(scheduled: ScheduledBackups): Promise<void> {
  const count = told.length;
  scheduled.consider();
  await until(() => told.length > count, 'a backup has ended');
  // The last notice is not all.
  await until(() => scheduled.all().every(({ nextRun }) => nextRun !== 'pending'), 'it is remembered');
}

describe('the place of a backup', () => {
  test('has variables, in UTC, any number of times', () => {
    expect(pathOf('a/{DATE}-{TIME}-{CHANGE_ID}-{DATE}{X}.backup', '/b', NOW, 7)).toBe(
      '/b/a/20260131-023000-7-20260131{X}.backup',
    );
    // Where anything may lie, names count from the working folder on.
    expect(pathOf('a/b.backup', '/', NOW, 7)).toBe(join(process.cwd(), 'a/b.backup'));
    expect(pathOf('/a/b.backup', '/', NOW, 7)).toBe('/a/b.backup');
  });

  test('is anywhere where that is meant', async () => {
    const there = join(folder, 'there', 'x.backup');
    folder = '/';
    const scheduled = open();
    scheduled.add(order(there));
    await run(scheduled);
    expect(scheduled.all()).toMatchObject([{ result: { code: 0 }, files: [there] }]);

    // There a backup takes the place of another one, and of nothing else.
    const other = join(root, 'other.tar.gz');
    for (const [before, code] of [
      ['ALTHBACK of long ago', 0],
      ['ALTHBOOK', -63],
      ['', -63],
    ] as const) {
      writeFileSync(other, before);
      const id = scheduled.add(order(other));
      await run(scheduled);
      expect(scheduled.all().find((each) => each.id === id)).toMatchObject({ result: { code } });
      expect(readFileSync(other, 'utf8')).toBe(code === 0 ? content : before);
    }
  });

  test('is below the folder, in folders that are made', async () => {
    const scheduled = open();
    scheduled.add(order('a/b/{DATE}.backup'));
    await run(scheduled);
    const path = join(folder, 'a/b/20260131.backup');
    expect(scheduled.all()[0]).toMatchObject({ files: [path], nextRun: null, result: { code: 0 } });
    expect(readFileSync(path, 'utf8')).toBe('backup');
    expect(readdirSync(join(folder, 'a/b'))).toEqual(['20260131.backup']);
  });

  test('may be given as a whole', async () => {
    const scheduled = open();
    scheduled.add(order(join(folder, 'c.backup')));
    await run(scheduled);
    expect(readdirSync(folder)).toEqual(['c.backup']);
  });

  test.each([
    '../x.backup',
    'a/../../x.backup',
    '/althing-outside/x.backup',
    'link/x.backup',
    'link/a/x.backup',
  ])('is not outside: %s', async (template) => {
    mkdirSync(join(root, 'elsewhere'));
    mkdirSync(folder);
    symlinkSync(join(root, 'elsewhere'), join(folder, 'link'));
    const scheduled = open();
    scheduled.add(order(template));
    await run(scheduled);
    expect(scheduled.all()[0]).toMatchObject({
      files: [],
      result: { code: -63, message: expect.stringContaining('does not lie below backup_path') },
    });
    expect([readdirSync(join(root, 'elsewhere')), readdirSync(folder)]).toEqual([[], ['link']]);
    expect(existsSync('/althing-outside')).toBe(false);
  });

  test('is not one where something else is', async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.backup'), 'precious');
    symlinkSync(join(folder, 'a.backup'), join(folder, 'b.backup'));
    const scheduled = open();
    for (const template of ['a.backup', 'b.backup']) {
      scheduled.add(order(template));
      await run(scheduled);
    }
    expect(scheduled.all().map(({ result }) => result?.code)).toEqual([-63, -63]);
    expect(readFileSync(join(folder, 'a.backup'), 'utf8')).toBe('precious');
    expect(readdirSync(folder)).toEqual(['a.backup', 'b.backup']);
  });
});

describe('a backup that repeats', () => {
  test('is taken at its times, skips those that passed, and keeps the newest files', async () => {
    const scheduled = open();
    scheduled.add(order('{TIME}.backup', { start: NOW + 10, repeat: 60, maxFiles: 2 }));
    scheduled.consider();
    expect([told, scheduled.waiting]).toEqual([[], 1]);
    const times = [10, 70, 130, 330].map((seconds) => NOW + seconds);
    for (const time of times) {
      clock = time * 1000 + 500;
      expect(scheduled.all()[0]?.nextRun).toBe('pending');
      await run(scheduled);
    }
    expect(scheduled.all()[0]?.nextRun).toBe(NOW + 370);
    expect(readdirSync(folder)).toEqual(['023210.backup', '023530.backup']);
    expect(scheduled.all()[0]?.files).toEqual(
      ['023210', '023530'].map((name) => join(folder, `${name}.backup`)),
    );
  });

  test('replaces its own file when the name is always the same', async () => {
    const scheduled = open();
    scheduled.add(order('same.backup', { repeat: 60 }));
    await run(scheduled);
    content = 'newer';
    clock += 60_000;
    await run(scheduled);
    expect(scheduled.all()[0]?.files).toEqual([join(folder, 'same.backup')]);
    expect(readFileSync(join(folder, 'same.backup'), 'utf8')).toBe('newer');
  });

  test('a backup that fails leaves the files that are there, says why, and goes on', async () => {
    const scheduled = open();
    scheduled.add(order('{TIME}.backup', { repeat: 60, maxFiles: 1 }));
    await run(scheduled);
    failure = new BackupError('busy', 'no leader');
    clock += 60_000;
    await run(scheduled);
    expect(scheduled.all()[0]).toMatchObject({
      nextRun: NOW + 120,
      result: { code: -51, message: expect.stringContaining('no leader') },
      files: [join(folder, '023000.backup')],
    });
    expect(readdirSync(folder)).toEqual(['023000.backup']);
  });

  test('waits behind another one, also where the wall clock is set back meanwhile', async () => {
    const scheduled = open();
    scheduled.add(order('a.backup'));
    isBusy = true;
    scheduled.consider();
    expect([told, scheduled.all()[0]?.nextRun]).toEqual([[], 'pending']);
    isBusy = false;
    clock -= 3_600_000;
    scheduled.consider();
    expect(told).toEqual([]);
    monotonic += 1000;
    await run(scheduled);
    expect(told).toMatchObject([{ error: null }]);
  });

  test('comes at its time again when a clock that was ahead is set right', async () => {
    const scheduled = open();
    scheduled.add(order('{TIME}.backup', { repeat: 3600 }));
    scheduled.add(order('first.backup', { start: NOW + 40 * 86_400, repeat: 3600 }));
    await run(scheduled);
    clock += 30 * 86_400_000 + 600_000;
    await run(scheduled);
    const next = (): unknown[] => scheduled.all().map(({ nextRun }) => nextRun);
    expect(next()).toEqual([NOW + 30 * 86_400 + 3600, NOW + 40 * 86_400]);
    clock = (NOW + 660) * 1000;
    scheduled.consider();
    expect(next()).toEqual([NOW + 3600, NOW + 40 * 86_400]);
    // A clock that is set back by less than a period has nothing taken twice.
    clock = (NOW + 3601) * 1000;
    await run(scheduled);
    clock = (NOW + 3599) * 1000;
    scheduled.consider();
    expect([next(), told.length]).toEqual([[NOW + 7200, NOW + 40 * 86_400], 3]);
  });
});

test('a repeated backup that is taken off leaves its files, or takes only those with it', async () => {
  const scheduled = open();
  for (const template of ['a.backup', 'b.backup']) {
    scheduled.add(order(template));
    await run(scheduled);
  }
  writeFileSync(join(folder, 'c'), '');
  expect([scheduled.remove(0, false), scheduled.remove(1, true), scheduled.remove(1, true)]).toEqual([
    true,
    true,
    false,
  ]);
  await until(() => readdirSync(folder).length === 2, 'the file is gone');
  expect(readdirSync(folder)).toEqual(['a.backup', 'c']);
});

describe("a node's record of its backups", () => {
  test('stays, and ids are not used again', () => {
    const first = new Schedule(root);
    first.add(order('a.backup', { repeat: 5 }));
    first.add(order('b.backup'));
    first.remove(1);
    first.noteNewest(NOW * 1000);
    const second = new Schedule(root);
    expect([second.all, second.newest]).toEqual([first.all, NOW * 1000]);
    expect(second.add(order('c.backup'))).toBe(2);
    // One that was begun by a clock that was ahead would be the newest for as long.
    second.noteNewest((NOW - 86_400) * 1000);
    expect(second.newest).toBe((NOW - 86_400) * 1000);
  });

  test('is not taken for something else when it is damaged', () => {
    const state = { nextId: 3, newest: 7, backups: [] };
    const file = encodeSchedule(state);
    expect(decodeSchedule(file)).toEqual(state);
    for (let at = 0; at < file.length; at++) {
      const changed = Buffer.from(file);
      changed[at] = (changed[at] ?? 0) ^ 4;
      expect(() => decodeSchedule(changed)).toThrow(ScheduleFileError);
      expect(() => decodeSchedule(file.subarray(0, at))).toThrow(ScheduleFileError);
    }
  });
});

test('a node takes what it is told to, remembers it, and tells when', async () => {
  let node = await RealNode.start({ backup_path: folder });
  await node.value('//stuff', '.x = 1;');
  expect(await node.value('/n', "new_backup('{DATE}/{CHANGE_ID}.tar.gz');")).toBe(0);
  expect(await node.value('/n', "new_backup('/b.tar.gz', datetime(2090, 1, 1), 60);")).toBe(1);
  await until(
    async () => (await node.value('/n', 'backup_info(0).load().files.len();')) === 1,
    'it is taken',
  );
  const info = 'b = backup_info(0).load(); [b.result_code, b.files[0], b.has("next_run"), backups_ok()];';
  const [code, path, ...rest] = (await node.value('/n', info)) as [number, string, boolean, boolean];
  expect([code, ...rest]).toEqual([0, false, true]);
  expect(path.startsWith(folder)).toBe(true);
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield readFileSync(path);
  }
  const { head } = await verifyBackup(bytes());
  const newest = async (): Promise<number> => {
    const { text } = await node.probe('/metrics');
    return Number(/^althing_backup_last_success_timestamp_seconds (.*)$/m.exec(text)?.[1]);
  };
  expect(await newest()).toBe(head.begunAt / 1000);
  expect((await node.probe('/metrics')).text).toContain('althing_backups_total{outcome="ok"} 1\n');

  await node.stop({ keep: true });
  node = await RealNode.start({ backup_path: folder }, node.folder, node.authorization);
  expect(await node.value('/n', '[backups_info().len(), node_info().load().scheduled_backups];')).toEqual([
    2, 1,
  ]);
  expect(await newest()).toBe(head.begunAt / 1000);
  await node.stop();
});

describe('a backup that the settings order', () => {
  const DAY = 86_400;
  /** 2026-01-31 00:00:00Z */
  const MIDNIGHT = NOW - (NOW % DAY);
  const member = (number: number, leaving = false) => ({
    nodeId: 100 + number,
    number,
    name: `node${number}`,
    host: `node${number}`,
    port: 9220,
    leaving,
  });
  const order = (repeat: number, place = 1): StandingOrder => ({
    repeat,
    maxFiles: 2,
    turn: () => ({ place, count: 3 }),
  });

  test('comes of one node after the other', () => {
    const times = [0, 1, 2].map((place) => nextTurn(NOW, DAY, { place, count: 3 }) - MIDNIGHT);
    expect(times).toEqual([DAY, 8 * 3600, 16 * 3600]);
    // The moment itself is over.
    expect(nextTurn(MIDNIGHT, DAY, { place: 0, count: 3 })).toBe(MIDNIGHT + DAY);
  });

  test('is taken by a node in its place among those that stay', () => {
    const members = [member(4), member(0), member(2), member(1, true)];
    expect([100, 102, 104, 101, 7].map((nodeId) => turnOf(members, nodeId))).toEqual([
      { place: 0, count: 3 },
      { place: 1, count: 3 },
      { place: 2, count: 3 },
      null,
      null,
    ]);
  });

  test('waits until the place of the node is known, and is there once, whatever is started again', () => {
    const unknown = open({ ...order(DAY), turn: () => null });
    unknown.consider();
    expect(unknown.all()).toEqual([]);
    for (let count = 0; count < 2; count++) {
      const scheduled = open(order(DAY));
      scheduled.consider();
      expect(scheduled.all()).toMatchObject([
        {
          id: 0,
          nextRun: MIDNIGHT + 8 * 3600,
          repeat: DAY,
          maxFiles: 2,
          template: expect.stringContaining('standing/'),
        },
      ]);
    }
  });

  test('is taken when it is due, also late, keeps its files, and comes again in its turn', async () => {
    open(order(DAY)).consider();
    clock = (MIDNIGHT + 9 * 3600) * 1000;
    const scheduled = open(order(DAY));
    await run(scheduled);
    for (let day = 1; day < 3; day++) {
      clock = (MIDNIGHT + day * DAY + 8 * 3600) * 1000;
      await run(scheduled);
    }
    expect(readdirSync(join(folder, 'standing'))).toEqual([
      '20260201T080000Z.backup',
      '20260202T080000Z.backup',
    ]);
    expect(scheduled.all()).toMatchObject([{ nextRun: MIDNIGHT + 3 * DAY + 8 * 3600, result: { code: 0 } }]);
  });

  test('follows the settings, and ends with them; its files stay', async () => {
    open(order(DAY)).consider();
    const often = open(order(3600));
    often.consider();
    expect(often.all()).toMatchObject([{ nextRun: NOW - (NOW % 3600) + 3600 + 1200, repeat: 3600 }]);
    clock += 3600_000;
    await run(often);
    const none = open();
    none.consider();
    expect(none.all()).toMatchObject([{ nextRun: null, repeat: 0, files: [expect.any(String)] }]);
    expect(readdirSync(join(folder, 'standing')).length).toBe(1);
    expect(none.remove(0, false)).toBe(true);
  });

  test('can not be deleted by a query', () => {
    const scheduled = open(order(DAY));
    scheduled.consider();
    expect(() => scheduled.remove(0, false)).toThrow('ordered by the settings');
    expect(scheduled.all().length).toBe(1);
  });

  test('stands beside those that are ordered by queries', () => {
    const scheduled = open(order(DAY));
    scheduled.consider();
    expect(
      scheduled.add({ template: 'a.backup', createdAt: NOW, start: NOW + 5, repeat: 0, maxFiles: 1 }),
    ).toBe(1);
    expect(scheduled.remove(1, false)).toBe(true);
  });
});

test('a node knows what its settings order, as one among its backups', async () => {
  const node = await RealNode.start({ backup_interval_ms: '1d', backup_keep: 3 });
  try {
    const ask = 'backups_info().map(|b| { b = b.load(); [b.file_template, b.repeat, b.max_files]; });';
    await until(async () => (await node.value('/n', 'backups_info().len();')) === 1, 'it is in the schedule');
    expect(await node.value('/n', ask)).toEqual([['standing/{DATE}T{TIME}Z.backup', 86_400, 3]]);
    expect((await node.query('/n', 'del_backup(0);')).error.message).toContain('backup_interval_ms');
  } finally {
    await node.stop();
  }
});
