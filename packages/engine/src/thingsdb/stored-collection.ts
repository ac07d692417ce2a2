/** A collection of a store of ThingsDB, with the changes that its files do not hold yet. */
import type { CollectionGroup } from '../state/collection-group.js';
import type { Charge } from '../state/transaction.js';
import { checkContents } from '../state/transfer.js';
import type { Thing } from '../value/thing.js';
import { CollectionBuilder, dropTasks } from './builder.js';
import type { ArchivedChanges } from './changes.js';
import { NoThingsdbDumpError, readDumpInto } from './dump.js';
import type { DataInput } from './input.js';
import { CollectionRecords, readRecordHead } from './records.js';

/** The result of reading a collection of ThingsDB. */
export interface ThingsdbCollection {
  /** Its tasks have no owners here. */
  readonly group: CollectionGroup;
  /** The ids of the users that they belong to there, by the ids of the tasks. */
  readonly taskOwners: ReadonlyMap<number, number>;
}

/** The record by which a dump is imported. */
const IMPORT = 78;

/**
 * Repeats the changes of a collection, and ends it: what nothing reaches is left out.
 *
 * @param begun what its files hold; for a new one, an empty collection whose root has the id that it has there
 * @throws FormatError, with the place
 */
export function endCollection(
  begun: CollectionBuilder,
  changes: ArchivedChanges,
  scope: number,
  charge: Charge,
): ThingsdbCollection {
  let builder = begun;
  builder.isReplaying = true;
  void builder.root;
  let open: { readonly input: DataInput; readonly records: CollectionRecords } | null = null;
  changes.each(scope, (input, id) => {
    const number = readRecordHead(input);
    if (number === IMPORT) {
      builder = imported(input, builder, charge);
      open = null;
      return;
    }
    if (open?.input !== input) open = { input, records: new CollectionRecords(input, builder, () => null) };
    open.records.run(number, () => targetOf(builder, id, input));
  });
  const { store } = builder;
  for (const thing of store.all()) store.load(thing);
  builder.removeUnreached();
  builder.isReplaying = false;
  builder.finish();
  checkContents(store, [...store.all()], charge);
  return { group: builder.group, taskOwners: builder.taskOwners };
}

function targetOf(builder: CollectionBuilder, id: number, input: DataInput): Thing {
  return builder.find(id) ?? input.fail(`there is no thing ${id}`);
}

/** Reads an import, {import_tasks, dump}, which takes the place of a collection in which there is nothing. */
function imported(input: DataInput, before: CollectionBuilder, charge: Charge): CollectionBuilder {
  if (input.map('an import') !== 2) input.fail('an import has two values');
  input.skip();
  const takesTasks = input.bool();
  input.skip();
  const builder = new CollectionBuilder(charge);
  const { offset } = input;
  try {
    readDumpInto(input, builder);
  } catch (error) {
    if (error instanceof NoThingsdbDumpError) input.fail(error.message, offset);
    throw error;
  }
  builder.rootId ??= before.rootId;
  if (!takesTasks) dropTasks(builder.group);
  builder.isReplaying = true;
  return builder;
}
