import { readdirSync, readFileSync } from 'node:fs';
import { crc32c } from '@althing/storage';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Answer, RealNode as RealNodeType } from '../testing/index.js';
import { RealNode } from '../testing/real-node.js';

const SNAPSHOT = { headers: { Consistency: 'snapshot' } };
/** Accounts, between which the writers move money. */
const ACCOUNTS = 200;
const MONEY = 100 * ACCOUNTS;
const SETTINGS = {
  checkpoint_interval_ms: 100,
  snapshot_threads: 1,
  snapshot_memory_limit_mb: 64,
  snapshot_duration_limit_ms: 2500,
};
const SUM = `sum = 0; .accounts.each(|a| sum += a.money); sum;`;

const onLinux = process.platform === 'linux' ? test : test.skip;

describe('snapshot reads of a node', () => {
  let node: RealNodeType;

  const read = (code: string, headers: Record<string, string> = {}): Promise<Answer> =>
    node.query('//stuff', code, undefined, { headers: { ...SNAPSHOT.headers, ...headers } });

  beforeAll(async () => {
    node = await RealNode.start(SETTINGS);
    await node.value(
      '//stuff',
      `set_type('Account', {money: 'int'});
       .accounts = range(${ACCOUNTS}).map(|| Account{money: 100});
       new_procedure('move', |from, to, amount| {
         .accounts[from].money -= amount;
         .accounts[to].money += amount;
       });
       new_procedure('total', || { ${SUM} });`,
    );
  });

  afterAll(() => node.stop());

  test('show a whole state while others change it, and say which', async () => {
    let isOver = false;
    const writers = [1, 2, 3].map(async (step) => {
      for (let i = step; !isOver; i += step)
        await node.run('//stuff', 'move', [i % ACCOUNTS, (7 * i) % ACCOUNTS, i % 10]);
    });
    let last = 0;
    for (let round = 0; round < 8; round++) {
      const answer = round % 2 === 0 ? await read(SUM) : await node.run('//stuff', 'total', [], SNAPSHOT);
      expect([answer.status, answer.json]).toEqual([200, MONEY]);
      expect(answer.headers.get('althing-consistency')).toBe('snapshot');
      expect(Number(answer.headers.get('althing-snapshot-age'))).toBeGreaterThanOrEqual(0);
      const index = Number(answer.headers.get('althing-index'));
      expect(index).toBeGreaterThanOrEqual(last);
      last = index;
    }
    isOver = true;
    await Promise.all(writers);
  });

  test('show the values of a property that a job has still to give to instances', async () => {
    await node.value(
      '//stuff',
      `mod_type('Account', 'all', |a| { range(4000).each(|i| i); }, {background: true});
       mod_type('Account', 'add', 'label', 'str', |a| 'account ' + str(a.id()), {background: true}); nil;`,
    );
    for (let round = 0; round < 3; round++) {
      const answer = await read(
        "[.accounts.every(|a| a.label == 'account ' + str(a.id())), .accounts[199]];",
        {
          'Althing-Max-Age': '0',
        },
      );
      expect(answer.json).toEqual([
        true,
        expect.objectContaining({ label: expect.stringContaining('account ') }),
      ]);
    }
    await node.value(
      '//stuff',
      "jobs_info().each(|job| try(cancel_job(job.id))); mod_type('Account', 'del', 'label');",
    );
  });

  test('hold all that was acknowledged where that is asked for', async () => {
    for (let round = 1; round <= 3; round++) {
      const change = await node.query('//stuff', `.round = ${round};`);
      const headers: Record<string, string> =
        round === 3
          ? { 'Althing-Min-Index': change.headers.get('althing-index') ?? '' }
          : { 'Althing-Max-Age': '0' };
      const answer = await read('.round;', headers);
      expect(answer.json).toBe(round);
      expect(Number(answer.headers.get('althing-index'))).toBeGreaterThanOrEqual(
        Number(change.headers.get('althing-index')),
      );
    }
    expect((await read('1;', { 'Althing-Max-Age': 'new' })).status).toBe(400);
  });

  test.each([
    ['.round = 1;', 'changes nothing'],
    ['.accounts[0].money += 1;', 'changes nothing'],
    ["run('move', 0, 1, 1);", 'the closure makes changes'],
    ['future(|| 1);', 'no futures are made'],
    ['export();', 'no exports are made'],
    [".lobby.emit('hello');", 'no events are sent'],
  ])('do not take %s', async (code, why) => {
    await node.value('//stuff', '.lobby = room();');
    const answer = await read(code, { 'Althing-Max-Age': '0' });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('operation_err');
    expect(answer.text).toContain(why);
    expect(answer.text).toContain('"outcome":"none"');
  });

  test.each(['nobody();', 'nobody(1);', 'nobody;', 'nobody.knows();', "x = {y: 'nobody'}; x.z;"])(
    'say of %s that there is none',
    async (code) => {
      const answer = await read(code);
      expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('lookup_err')]);
    },
  );

  test('are of collections alone, and of procedures that change nothing', async () => {
    for (const scope of ['/t', '/n']) {
      const answer = await node.query(scope, '1;', undefined, SNAPSHOT);
      expect(answer.text).toContain('a snapshot is read of a collection');
    }
    const answer = await node.run('//stuff', 'move', [0, 1, 1], SNAPSHOT);
    expect(answer.text).toContain('changes nothing');
  });

  test('end at their limits, alone', async () => {
    const endless = read('range(100000).each(|| range(100000).each(|i| i));');
    // Others go on meanwhile.
    expect(await node.value('//stuff', '1 + 1;')).toBe(2);
    const late = await endless;
    expect([late.status, late.text]).toEqual([504, expect.stringContaining('snapshot_duration_limit_ms')]);
    const greedy = await read('l = []; range(1000).each(|| l.push(range(100000))); l.len();');
    expect(greedy.text).toContain('max_quota_err');
    expect((await read(SUM)).json).toBe(MONEY);
  });

  onLinux('run in threads that give way to the others of the node', async () => {
    expect((await read(SUM)).json).toBe(MONEY);
    // Behind the name of the thread, which may have spaces.
    const nices = readdirSync(`/proc/${node.pid}/task`).map((thread) => {
      const fields = readFileSync(`/proc/${node.pid}/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ');
      return Number(fields?.[16]);
    });
    const least = Math.min(...nices);
    expect(Math.max(...nices)).toBe(Math.min(least + 10, 19));
    expect(nices.filter((nice) => nice === least).length).toBeGreaterThan(nices.length / 2);
  });

  test('answer with a line for each value, and with more than goes into a result', async () => {
    const asked = { Accept: 'application/x-ndjson' };
    const answer = await read('.accounts.each(|a, i| out({nr: i})); "end";', asked);
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    expect(Number(answer.headers.get('althing-index'))).toBeGreaterThan(0);
    const lines = answer.text.split('\n');
    expect(lines.length).toBe(ACCOUNTS + 2);
    expect(lines[ACCOUNTS - 1]).toBe(`{"nr":${ACCOUNTS - 1}}`);
    expect(lines.slice(-2)).toEqual(['"end"', '']);
    const text = 'x'.repeat(100_000);
    const large = await node.query(
      '//stuff',
      'range(250).each(|| out(text)); nil;',
      { text },
      {
        headers: { ...SNAPSHOT.headers, ...asked },
      },
    );
    expect(large.text.length).toBe(250 * (100_000 + 3));
    expect((await read('out(1);')).text).toContain('application/x-ndjson');
    expect((await read('lookup_err("none").code(); .missing;', asked)).status).toBe(404);
  });

  test('say at the end of lines what there was, where that is asked for, and what it took', async () => {
    const asked = { ...SNAPSHOT.headers, Accept: 'application/x-ndjson' };
    expect((await read('out(1); out(2); raise("stop");', asked)).text).toContain('stop');
    const whole = await node.query('//stuff?end=1', '.accounts.each(|a| out(a.money)); "end";', undefined, {
      headers: asked,
    });
    const lines = whole.text.trim().split('\n');
    expect(lines.slice(-2)[0]).toBe('"end"');
    const { end } = JSON.parse(lines.at(-1) ?? '');
    expect(end).toMatchObject({ lines: ACCOUNTS + 1, cost: expect.stringMatching(COST) });
    const before = Buffer.from(`${lines.slice(0, -1).join('\n')}\n`);
    expect(end.crc).toBe(crc32c(before).toString(16).padStart(8, '0'));
    expect(end.index).toBe(Number(whole.headers.get('althing-index')));
    await node.value('//stuff', '.behind = 1;');
    const changes = await fetch(`${node.url}/@changes/stuff?since=${end.at}`, {
      headers: { accept: 'application/json', authorization: node.authorization },
    });
    expect((await changes.text()).match(/"key":"\w+"/g)?.at(-1)).toBe('"key":"behind"');
    const none = await node.query('//stuff?end=1', 'nil;', undefined, { headers: asked });
    expect(JSON.parse(none.text)).toMatchObject({ end: { lines: 0, crc: '00000000' } });
    expect((await read(SUM)).headers.get('althing-cost')).toMatch(COST);
    for (const path of ['//stuff?end=1', '//stuff?end=2'])
      expect((await node.query(path, '1;', undefined, SNAPSHOT)).status).toBe(404);
    expect(
      (await node.query('//stuff?end=1', '1;', undefined, { headers: { Accept: 'application/x-ndjson' } }))
        .status,
    ).toBe(400);
  });

  test('end when their user loses the privilege', async () => {
    await node.value(
      '/t',
      `new_user('reader'); set_password('reader', 'pass'); grant('//stuff', 'reader', QUERY);`,
    );
    const authorization = `Basic ${Buffer.from('reader:pass').toString('base64')}`;
    for (const lines of [{}, { Accept: 'application/x-ndjson' }]) {
      await node.value('/t', "grant('//stuff', 'reader', QUERY);");
      const code = 'range(100000).each(|| range(100000).each(|i| i));';
      const headers = { ...SNAPSHOT.headers, ...lines };
      const answer = node.query('//stuff', code, undefined, { headers, authorization });
      await new Promise((resolve) => setTimeout(resolve, 100));
      await node.value('/t', "revoke('//stuff', 'reader', QUERY);");
      expect((await answer).text).toContain('lacks the privilege');
    }
  });
});

const COST = /^steps=\d+ things=\d+ cold=\d+ ms=[\d.]+$/;
