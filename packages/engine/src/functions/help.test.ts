import { expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

const harness = new Harness();

test('tells what a function takes', () => {
  expect(harness.run("help('pow')")).toBe(
    'pow(base, exponent)\nA base raised to a power, as a float.\n  base: an int or float\n  exponent: an int or float',
  );
});

test('tells it for every type that has a method of the name', () => {
  const text = String(harness.run("help('replace')"));
  expect(text).toMatch(/^str\.replace\(old, new, number\?\)$/m);
  expect(text).toMatch(/^datetime\/timeval\.replace\(fields\)$/m);
  expect(text).toContain('\n\n');
});

test('shows further arguments', () => {
  expect(harness.run("help('datetime')")).toMatch(/^datetime\(\.\.\.argument\)\n/);
});

test('knows its limits', () => {
  expect(harness.error("help('nothing')")).toBe('lookup_err');
  expect(harness.error('help(1)')).toBe('type_err');
});

test('knows methods and the functions that make them up', () => {
  expect(harness.run("help('push')")).toBe(
    'list.push(...value)\nAppends values; returns the new length.\n  value: anything\n' +
      'Makes the query a change in a collection, unless nse() stands before it, or the receiver is a variable, a literal, or the result of a function.',
  );
});

test('tells where a function exists, what privilege it takes, and that it makes a change', () => {
  expect(harness.run("help('rename_user')")).toBe(
    'rename_user(name, new_name)\nGives a user another name.\n  name: a str\n  new_name: a str\n' +
      'In @thingsdb only. Takes the privilege GRANT on @thingsdb. Makes the query a change.',
  );
  expect(harness.run("help('shutdown')")).toContain('In @node only. Takes the privilege CHANGE on @node.');
});

test('says what privileges on the root scope are', () => {
  const text = String(harness.run("help('grant')"));
  expect(text).toContain('On @thingsdb they make administrators of the cluster');
  expect(text).toContain('deletes and renames any collection');
  expect(text).toContain('password of any of them, also of admin');
});

test('functions_info tells of every function and method as data', () => {
  expect(
    harness.run(
      "functions_info().load().filter(|f| f.name == 'sort').map(|f| [f.on, f.params.map(|p| p.name), f.rest])",
    ),
  ).toEqual([[['list', 'tuple'], ['closure or descending', 'descending'], null]]);
  expect(harness.run("functions_info().load().find(|f| f.name == 'new_user')")).toMatchObject({
    on: null,
    scopes: ['thingsdb'],
    changes: 'yes',
    doc: expect.stringContaining('Takes the privilege GRANT'),
  });
  expect(harness.run("return functions_info().load().find(|f| f.name == 'push'), 3")).toMatchObject({
    rest: { name: 'value', type: 'anything' },
    changes: 'modifies stored',
  });
});

test('tells of procedures, also of one whose name a function has', () => {
  const db = new Harness();
  db.run(
    "new_procedure('order', |sku: 'str', count: 'pint?'| { 'Orders something.'; .n = count; }, {duration: 50});",
  );
  db.run("new_procedure('pow', |a| a);");
  expect(db.run("help('order')")).toBe(
    'order(sku: str, count: pint?)\nOrders something.\nA procedure of @collection:stuff. It may run for 50 ms. Makes the query a change.',
  );
  expect(db.run("help('pow')")).toMatch(
    /^pow\(base, exponent\)[\s\S]*\n\npow\(a\)\nA procedure of @collection:stuff. run\('pow', ...\) calls it, and not the function.$/,
  );
  expect(db.error("help('order')", { scope: 'node' })).toBe('lookup_err');
});
