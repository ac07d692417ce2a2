/** `althing copy` and `althing test`, against a node. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RealNode } from '@althing/node/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Ended, runAlthing } from '../harness/run-althing.js';

let node: RealNode;
let folder: string;

beforeAll(async () => {
  node = await RealNode.start();
  folder = mkdtempSync(join(tmpdir(), 'althing-copies-'));
  await node.value(
    '//stuff',
    "set_type('T', {n: 'int', until: 'int?'}); mod_type('T', 'ttl', 'until'); .stock = {tea: 10}; .t = T{n: 1}; new_procedure('order', |what, count| { if (.stock[what] < count) raise('too few'); .stock[what] -= count; }, {duration: 500}); nil;",
  );
});

afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<Ended> => runAlthing(node, folder, args);

const collections = (): Promise<unknown> =>
  node.value('/t', 'collections_info().map(|c| c.load().name).sort();');

test('a copy has what the collection has, and is one of its own', async () => {
  expect((await run('copy', '//stuff', 'twin')).code).toBe(0);
  await node.value('//twin', "wse(); order('tea', 3); nil;");
  const look =
    '[.stock.tea, type_count("T"), index_info("T", "ttl").load().expires, procedure_info("order").load().duration];';
  expect(await node.value('//twin', look)).toEqual([7, 1, true, 500]);
  expect(await node.value('//stuff', look)).toEqual([10, 1, true, 500]);
  expect((await run('copy', '//stuff', 'twin')).code).toBe(1);
  await node.value('/t', "del_collection('twin');");
});

test('checks run against a copy, which is gone afterwards, with the definitions of a file', async () => {
  writeFileSync(
    join(folder, 'checks.ti'),
    `.stock.milk = 1;
|| { "An order takes from the stock."; order('tea', 2); assert(.stock.tea == 8); };
|| { "The next check finds it as it was."; assert(.stock.tea == 10 && .stock.milk == 1); };
|| { "A wish."; assert(wish() == 1); };`,
  );
  const before = await collections();
  const failing = await run('test', '//stuff', 'checks.ti');
  expect(failing.code).toBe(1);
  expect(failing.output).toContain('1..3\nok 1 - An order takes from the stock.\nok 2 - The next check');
  expect(failing.output).toMatch(/not ok 3 - A wish\.\n {2}# .*wish.*line 4, column \d+/);

  writeFileSync(join(folder, 'new.ti'), "set_procedure('wish', || 1);");
  const passing = await run('test', '//stuff', 'checks.ti', '--apply', 'new.ti');
  expect(passing).toMatchObject({ code: 0, output: expect.stringContaining('ok 3 - A wish.') });
  expect(await collections()).toEqual(before);
  expect(await node.value('//stuff', "[.stock.has('milk'), has_procedure('wish')];")).toEqual([false, false]);
});
