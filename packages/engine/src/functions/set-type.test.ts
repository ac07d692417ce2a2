import { expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

/** A type with instances, in a relation, and an enum that it names. */
function shop(): Harness {
  const db = new Harness();
  db.run("set_enum('Status', {OPEN: 1, PAID: 2}); new_type('Order'); nil;");
  db.run(
    "set_type('Customer', {name: 'str<1:80>', code: '/^[a-z]+$/<none>', orders: '{Order}', hi: |c| c.name});",
  );
  db.run("set_type('Order', {customer: 'Customer?', status: 'Status', n: 'int<0:9>'});");
  db.run("mod_type('Order', 'rel', 'customer', 'orders');");
  db.run(".ann = Customer{name: 'Ann'}; .ann.orders.add(Order{n: 3}); nil;");
  return db;
}

const CUSTOMER = "{name: 'str<1:80>', code: '/^[a-z]+$/<none>', orders: '{Order}', hi: |c| c.name}";

test('a type with instances gets what it lacks, and wider definitions; the rest stays', () => {
  const db = shop();
  const changes = "set_type('Order', {n: 'int', note: 'str?', twice: |o| 2 * o.n}, {change: true});";
  expect(db.run(changes)).toBeNull();
  expect(db.run('o = .ann.orders.one(); [o.n, o.note, o.twice(), o.status.value()];')).toEqual([
    3,
    null,
    6,
    1,
  ]);
  expect(db.run('.ann.orders.one().n = 77;')).toBe(77);
  // Again: nothing is to be done.
  expect(db.run(changes)).toBeNull();
});

test('a definition that a type has already is no change, be it a pattern or in a relation', () => {
  const db = shop();
  expect(db.run(`set_type('Customer', ${CUSTOMER}, {change: true});`)).toBeNull();
  expect(db.run('[.ann.code, .ann.hi(), .ann.orders.len()];')).toEqual(['none', 'Ann', 1]);
});

test('a type that is not there is made, with the option too', () => {
  const db = new Harness();
  db.run("set_type('T', {a: 'int'}, {change: true}); set_enum('E', {A: 1}, {change: true}); nil;");
  expect(db.run('[T{a: 4}.a, E{A}.value()];')).toEqual([4, 1]);
});

test('an enum gets members and methods, and others another value', () => {
  const db = shop();
  expect(
    db.run("set_enum('Status', {PAID: 4, SENT: 3, twice: |m| 2 * m.value()}, {change: true});"),
  ).toBeNull();
  expect(db.run('[Status{OPEN}.value(), Status{PAID}.twice(), Status(3).name()];')).toEqual([1, 8, 'SENT']);
  expect(db.run('.ann.orders.one().status.value();')).toBe(1);
});

test.each([
  [
    'values that may not fit',
    "set_type('Order', {note: 'str?', n: 'int<0:5>'}, {change: true});",
    'operation_err',
  ],
  ['a type without the option', "set_type('Order', {note: 'str?'});", 'operation_err'],
  ['the option turned off', "set_type('Order', {note: 'str?'}, {change: false});", 'operation_err'],
  [
    'another property of a relation',
    "set_type('Order', {note: 'str?', customer: 'any'}, {change: true});",
    'type_err',
  ],
  [
    'a property in the place of a method',
    "set_type('Customer', {note: 'str?', hi: 'int'}, {change: true});",
    'type_err',
  ],
  ['no definition', "set_type('Order', {note: 'str?', x: 5}, {change: true});", 'type_err'],
  ['an option that nobody knows', "set_type('Order', {note: 'str?'}, {replace: true});", 'value_err'],
  ['an option of another kind', "set_type('Order', {note: 'str?'}, {change: 1});", 'type_err'],
  ['an enum without the option', "set_enum('Status', {SENT: 3});", 'lookup_err'],
  ['an enum with the option turned off', "set_enum('Status', {SENT: 3}, {change: false});", 'lookup_err'],
  ['a member of another kind', "set_enum('Status', {SENT: 3, LOST: 'x'}, {change: true});", 'type_err'],
  [
    'a third argument of an enum that is no thing',
    "set_enum('Status', {SENT: 3}, true);",
    'num_arguments_err',
  ],
])('nothing is changed by %s', (_what, code, error) => {
  const db = shop();
  expect(db.error(code)).toBe(error);
  expect(db.run("type_info('Order').load().fields.len();")).toBe(3);
  expect(db.run("enum_info('Status').load().members.len();")).toBe(2);
});

test.each([
  "try(set_type('Order', {note: 'str?', n: 'int<0:5>'}, {change: true})); nil;",
  "try(set_enum('Status', {SENT: 3, LOST: 'x'}, {change: true})); nil;",
])('an error behind a part that was set ends the query, caught or not: %s', (code) => {
  const db = shop();
  db.error(code);
  expect(db.run("type_info('Order').load().fields.len();")).toBe(3);
  expect(db.run("enum_info('Status').load().members.len();")).toBe(2);
});
