/** `althing apply` and `althing diff`, as somebody uses them who keeps the definitions of a collection in a file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RealNode } from '@althing/node/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Ended, runAlthing } from '../harness/run-althing.js';

const FIRST = `
set_enum('Status', {OPEN: 'open', PAID: 'paid'});
new_type('Customer'); new_type('Order');
set_type('Customer', {email: 'email', orders: '{Order}'});
set_type('Order', {customer: 'Customer?', status: 'Status{OPEN}', total: 'str'});
mod_type('Order', 'rel', 'customer', 'orders');
set_procedure('buy', |total: 'str'| { .order = Order{total:}; nil; });
`;

let node: RealNode;
let folder: string;

beforeAll(async () => {
  node = await RealNode.start();
  folder = mkdtempSync(join(tmpdir(), 'althing-apply-'));
});

afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<Ended> => runAlthing(node, folder, args);

function file(text: string): void {
  writeFileSync(join(folder, 'shop.ti'), text);
}

test('the definitions of a collection become those of a file, all of them or none', async () => {
  const apply = (...options: string[]): Promise<Ended> => run('apply', '//stuff', 'shop.ti', ...options);
  const differs = async (): Promise<number | null> => (await run('diff', '//stuff', 'shop.ti')).code;

  file(FIRST);
  expect(await differs()).toBe(1);
  expect(await apply('--dry-run')).toMatchObject({
    code: 0,
    output: expect.stringContaining('nothing was changed'),
  });
  expect(await differs()).toBe(1);
  expect((await apply()).code).toBe(0);
  expect(await differs()).toBe(0);
  expect((await run('query', '//stuff', 'wse(); buy("12");')).code).toBe(0);

  const next = FIRST.replace("total: 'str'}", "total: 'int', note: 'str?'}").replace(
    "status: 'Status{OPEN}', ",
    '',
  );
  file(next);
  expect(await apply()).toMatchObject({ code: 1, output: expect.stringContaining('total') });
  expect((await run('query', '//stuff', 'type_info("Order").load().fields.len();')).output).toBe('3\n');

  file(`${next}mod_type('Order', 'mod', 'total', 'int', |order| int(order.total));`);
  expect(await apply()).toMatchObject({ code: 0, output: expect.stringContaining('property `status`') });
  expect((await run('query', '//stuff', '[.order.total, .order.note, .order.status.value()];')).output).toBe(
    '[12,null,"open"]\n',
  );
  expect(await differs()).toBe(1);
  expect((await apply('--delete')).code).toBe(0);
  expect(await differs()).toBe(0);

  file('.x = 1;');
  expect(await apply()).toMatchObject({ code: 2, output: expect.stringContaining('shop.ti:1:1') });
  expect(await differs()).toBe(2);
  file('|| {');
  expect((await run('test', '//stuff', 'shop.ti')).code).toBe(2);
  expect((await run('diff', '//stuff', 'none.ti')).code).toBe(2);
  expect((await run('diff', '//none', 'shop.ti')).code).toBe(2);

  const { output } = await run('query', '//stuff', 'export();', '--format', 'text');
  file(output);
  expect(await differs()).toBe(0);
});
