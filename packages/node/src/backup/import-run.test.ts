import { ByteWriter, RecordKind } from '@althing/engine';
import { expect, test } from '@jest/globals';
import { type ImportedTasks, importedWith } from './import-run.js';

function taskOf(owner: number) {
  const out = new ByteWriter();
  out.varint(5);
  out.varint(owner);
  out.text('what follows');
  return { kind: RecordKind.TASK, id: 5, part: 0, value: Buffer.from(out.take()) };
}

test.each<[ImportedTasks, number, number | null]>([
  ['none', 3, null],
  ['of importer', 3, 9],
  ['of owners', 3, 3],
  ['of owners', 4, 9],
])('an import that takes tasks "%s" makes that of user %i one of %s', (tasks, owner, wanted) => {
  const take = importedWith(tasks, 9, (id) => id === 3);
  expect(take(taskOf(owner))).toEqual(wanted === null ? null : taskOf(wanted));
});
