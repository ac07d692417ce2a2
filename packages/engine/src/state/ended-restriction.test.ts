import { expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { savedRecords, sharedLines } from '../testing/state-lines.js';

test.each([
  ['a type', "new_type('T'); set_type('T', {})", "{}.restrict('T')", "del_type('T')"],
  ['an enum', "set_enum('T', {A: 1})", "{}.restrict('T')", "del_enum('T')"],
])('a thing restricted to %s that was deleted is compared without it, whenever it was written', (...row) => {
  const [, make, restricted, remove] = row;
  const harness = new Harness();
  const { collection } = harness;
  harness.run(`${make}; .a = ${restricted}`);
  const { schema } = collection.store;
  const before = savedRecords(collection);
  const inForce = sharedLines(before, schema);
  harness.run(remove);
  const after = savedRecords(collection);
  expect(sharedLines(before, schema)).toBe(sharedLines(after, schema));
  expect(sharedLines(before, schema)).not.toBe(inForce);
});
