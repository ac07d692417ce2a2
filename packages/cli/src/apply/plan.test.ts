import { describe, expect, test } from '@jest/globals';
import { DefinitionsError, definitionsOf } from './definitions.js';
import { planOf } from './plan.js';

const PRESENT = `
  try(commit('Source: collection \`stuff\`'));
  new_type('Customer'); new_type('Order'); new_type('_W', WPO|HID);
  set_enum('Status', {OPEN: 'open', PAID: 'paid'}); set_enum('Big', {A: {}});
  set_type('Customer', {email: 'email', orders: '{Order}', hello: |c| \`hi {c.email}\`});
  set_type('Order', {customer: 'Customer?', total: 'int'});
  set_type('_W', {email: 'str', n: {a: 'int'}});
  mod_type('Customer', 'rel', 'orders', 'customer');
  mod_enum('Big', 'mod', 'A', {x: 1});
  new_procedure('add', |a, b| a + b);
  new_index('Order', 'total', ['total']);
  'DONE';`;

function plan(wanted: string, deletes = false): ReturnType<typeof planOf> {
  return planOf(definitionsOf(PRESENT, 'present'), definitionsOf(wanted, 'file'), deletes);
}

describe('a plan', () => {
  test('is empty for the same definitions, whatever their layout and the side that a relation names', () => {
    const other = PRESENT.replace(
      "'Customer', 'rel', 'orders', 'customer'",
      "'Order', 'rel', 'customer', 'orders'",
    )
      .replace("email: 'email', orders", 'email:   "email" ,\n // an address\n orders')
      .replace('a + b', '(a+b)'.slice(1, -1));
    expect(plan(other)).toEqual({ statements: [], left: [] });
  });

  test.each([
    ["new_index('T', 'a');", "new_index('T', 'a', ['a']);"],
    ["new_index('T', 'a', UNIQUE);", "new_index('T', 'a', ['a'], UNIQUE);"],
    ["new_index('T', 'a', NO_CASE|UNIQUE);", "new_index('T', 'a', ['a'], UNIQUE | NO_CASE);"],
    [
      "new_index('T', 'i', ['a', 'b'], NO_CASE | UNIQUE);",
      "new_index('T', 'i', ['a', 'b'], UNIQUE | NO_CASE);",
    ],
    ["mod_type('T', 'ttl', 'a');", "new_index('T', 'ttl', ['a'], EXPIRES);"],
  ])('takes %s for %s, which is how export() writes it', (written, exported) => {
    expect([...definitionsOf(written, 'file').indexes.values()]).toEqual([exported]);
  });

  test.each([
    "new_index('T', 'a', UNIQUE, UNIQUE);",
    "new_index('T', 'a', ['a'], QUICK);",
    "new_index('T', 'a', {b: 1});",
  ])('takes %s for no index', (written) => {
    expect(() => definitionsOf(written, 'file')).toThrow(DefinitionsError);
  });

  test.each([
    ["new_procedure('a', || 1); set_procedure('a', || 2);", "file:1:27: procedure 'a' is defined twice"],
    ["new_type('T');\nnew_type('T');", 'file:2:1: type `T` is defined twice'],
    ["set_type('T', {a: 'int'}); new_type('T');", 'file:1:28: type `T` is defined twice'],
    [
      "new_type('T'); set_type('T', {}); set_type('T', {a: 'int'});",
      'file:1:35: what type `T` has is defined twice',
    ],
    ["set_type('T', {a: 'int', a: 'str'});", 'file:1:1: type `T`, property `a` is defined twice'],
    ["set_enum('E', {A: 1}); set_enum('E', {B: 1});", 'file:1:24: enum `E` is defined twice'],
    ["set_enum('E', {A: 1, A: 2});", 'file:1:1: enum `E`, member `A` is defined twice'],
    ["mod_type('T', 'ttl', 'a'); mod_type('T', 'ttl', 'b');", 'file:1:28: index `T.ttl` is defined twice'],
    [
      "mod_type('T', 'mod', 'a', 'int', 1); mod_type('T', 'mod', 'a', 'int', 2);",
      'file:1:38: the conversion of type `T`, property `a` is defined twice',
    ],
    [".to_type('T'); .to_type('U');", 'file:1:16: the type of the root is defined twice'],
  ])('says where %s defines something twice', (written, why) => {
    expect(() => definitionsOf(written, 'file')).toThrow(new DefinitionsError(why));
  });

  test('keeps the flags of a type whose properties come with options', () => {
    const { types } = definitionsOf("new_type('T', WPO); set_type('T', {a: 'int'}, {change: true});", 'file');
    expect([...(types.get('T')?.flags ?? [])]).toEqual(['WPO']);
  });

  test('makes a relation once that a file names from both of its sides', () => {
    const both = `${PRESENT} mod_type('Order', 'rel', 'customer', 'orders');`;
    const { statements } = planOf(definitionsOf('', 'present'), definitionsOf(both, 'file'), false);
    expect(statements.filter((statement) => statement.includes("'rel'"))).toHaveLength(1);
  });

  test('makes everything that an empty collection lacks', () => {
    const { statements } = planOf(definitionsOf('', 'present'), definitionsOf(PRESENT, 'file'), false);
    expect(statements).toEqual([
      "new_type('Customer', STRICT);",
      "new_type('Order', STRICT);",
      "new_type('_W', HID|WPO);",
      "set_enum('Status', {OPEN: 'open', PAID: 'paid'});",
      "set_enum('Big', {A: {}});",
      "set_type('Customer', {email: 'email', orders: '{Order}', hello: |c| `hi {c.email}`});",
      "set_type('Order', {customer: 'Customer?', total: 'int'});",
      "set_type('_W', {email: 'str', n: {a: 'int'}});",
      "mod_type('Customer', 'rel', 'orders', 'customer');",
      "new_index('Order', 'total', ['total']);",
      "mod_enum('Big', 'mod', 'A', {x: 1});",
      "set_procedure('add', |a, b| a + b);",
    ]);
  });

  test.each([
    ["total: 'int'", "total: 'str'", "mod_type('Order', 'mod', 'total', 'str');"],
    ["total: 'int'", "total: 'int', note: 'str?'", "mod_type('Order', 'add', 'note', 'str?');"],
    ['hi {c.email}', 'hello {c.email}', "mod_type('Customer', 'mod', 'hello', |c| `hello {c.email}`);"],
    ["PAID: 'paid'", "PAID: 'done'", "mod_enum('Status', 'mod', 'PAID', 'done');"],
    ["PAID: 'paid'", "PAID: 'paid', GONE: 'gone'", "mod_enum('Status', 'add', 'GONE', 'gone');"],
    ["OPEN: 'open', PAID: 'paid'", "PAID: 'paid', OPEN: 'open'", "mod_enum('Status', 'def', 'PAID');"],
    ['{x: 1}', '{x: 2}', "mod_enum('Big', 'mod', 'A', {x: 2});"],
    ['WPO|HID', 'WPO', "mod_type('_W', 'hid', false);"],
    ["new_type('Order')", "new_type('Order', STRICT)", "mod_type('Order', 'strict', true);"],
    [
      "'total', ['total']",
      "'sum', ['total']",
      "new_index('Order', 'sum', ['total']);",
      'index `Order.total`',
    ],
    ['a + b', 'a - b', "set_procedure('add', |a, b| a - b);"],
  ])('turns %s into %s', (before, after, statement, ...left) => {
    expect(plan(PRESENT.replace(before, after))).toEqual({ statements: [statement], left });
  });

  test('makes types strict unless the file says otherwise, and leaves those as they are that are there', () => {
    const loose = "new_type('Customer'); mod_type('Customer', 'strict', false);";
    const strict = PRESENT.replace("new_type('Customer')", "new_type('Customer', STRICT)");
    const planned = (present: string, wanted: string): readonly string[] =>
      planOf(definitionsOf(present, 'present'), definitionsOf(wanted, 'file'), false).statements;
    expect(planned('', loose)).toEqual(["new_type('Customer');"]);
    expect(planned(strict, PRESENT)).toEqual([]);
    expect(planned(strict, `${PRESENT} mod_type('Customer', 'strict', false);`)).toEqual([
      "mod_type('Customer', 'strict', false);",
    ]);
  });

  test('knows what expires by either way to say it', () => {
    const made = "new_index('Order', 'ttl', ['total'], EXPIRES);";
    expect(plan(`${PRESENT} mod_type('Order', 'ttl', 'total');`).statements).toEqual([made]);
    const planned = planOf(
      definitionsOf(PRESENT + made, 'present'),
      definitionsOf(`${PRESENT} mod_type('Order', 'ttl', 'total');`, 'file'),
      false,
    );
    expect(planned.statements).toEqual([]);
  });

  test('gives the root its type', () => {
    expect(plan(`${PRESENT} .to_type('Customer');`).statements).toEqual([".to_type('Customer');"]);
    const customer = definitionsOf(".to_type('Customer');", 'present');
    expect(planOf(customer, customer, false).statements).toEqual([]);
    const order = definitionsOf(".to_type('Order');", 'file');
    expect(planOf(customer, order, false).statements).toEqual(['.to_thing();', ".to_type('Order');"]);
  });

  test('makes an index anew that has other properties', () => {
    expect(plan(PRESENT.replace("['total']", "['total', 'customer'], UNIQUE")).statements).toEqual([
      "del_index('Order', 'total');",
      "new_index('Order', 'total', ['total', 'customer'], UNIQUE);",
    ]);
  });

  test('takes the conversion that the file has, where it is needed', () => {
    const conversion = "mod_type('Order', 'mod', 'total', 'str', |order| str(order.total));";
    expect(plan(PRESENT + conversion).statements).toEqual([]);
    expect(plan(PRESENT.replace("total: 'int'", "total: 'str'") + conversion).statements).toEqual([
      conversion,
    ]);
  });

  test('deletes only when it is told to', () => {
    const less = PRESENT.replace(", total: 'int'", '').replace("new_procedure('add', |a, b| a + b);", '');
    expect(plan(less)).toEqual({
      statements: [],
      left: ['type `Order`, property `total`', "procedure 'add'"],
    });
    expect(plan(less, true)).toEqual({
      statements: ["mod_type('Order', 'del', 'total');", "del_procedure('add');"],
      left: [],
    });
  });
});

test.each([
  ['.x = 1;', 'file:1:1: expected new_type'],
  ["nil;\nset_type('T', {a});", 'file:'],
  ["set_type('T');", 'file:1:1: expected new_type'],
  ["mod_type('T', 'ren', 'a', 'b');", 'file:1:1: expected new_type'],
  ['new_type(', 'file: '],
])('a file with %s is refused, with the place', (source, message) => {
  expect(() => definitionsOf(source, 'file')).toThrow(DefinitionsError);
  expect(() => definitionsOf(source, 'file')).toThrow(message);
});
