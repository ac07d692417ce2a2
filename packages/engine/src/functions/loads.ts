/** Loads: how far the files are that `althing load` brings in. */
import { lookupError, operationError, quotaError, valueError } from '../error.js';
import { CHANGES_COLLECTION, type Entry, func, In } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { CollectionGroup } from '../state/collection-group.js';
import { perform } from '../state/effect.js';
import { LOADS_MAX, type Load, LoadEffect, type Loads } from '../state/parts/loads.js';
import { List, listOf } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';

/** Characters of a name, and of what tells the source. */
const TEXT_LENGTH_MAX = 255;

/** Rows of one step. */
const ROWS_PER_STEP_MAX = 100_000;

/** Seconds after which a load that nobody went on with makes room for others. */
const FORGOTTEN_S = 30 * 86_400;

export const LOADS: readonly Entry[] = [
  func('advance_load', {
    doc:
      'Says in the query that makes rows of a file how far the load of that file is: from which row on, how many, and which of them, counted from 0, were refused. ' +
      'It fails unless the load is at that row, and is of that source: so no row is made twice. Gives the rows that are done.',
    changes: CHANGES_COLLECTION,
    params: [
      p.str('name'),
      p.str('source'),
      p.intBetween('from', 0, Number.MAX_SAFE_INTEGER - ROWS_PER_STEP_MAX),
      p.intBetween('rows', 0, ROWS_PER_STEP_MAX),
      p.array('refused'),
    ],
    run: (rt, name, source, from, rows, refused) => {
      const loads = loadsOf(rt);
      for (const text of [name, source])
        if (text === '' || text.length > TEXT_LENGTH_MAX)
          throw valueError(`the name and the source of a load have 1 to ${TEXT_LENGTH_MAX} characters`);
      const known = loads.slotOf(name);
      const before = known === undefined ? undefined : loads.all.get(known);
      if (before !== undefined && before.source !== source)
        throw operationError(`the load '${name}' is of another source, or another plan`);
      if ((before?.rows ?? 0) !== from)
        throw operationError(`the load '${name}' is at row ${before?.rows ?? 0}, not at ${from}`);
      const lastRefused = refusedRows(refused, rows, from);
      const load: Load = {
        name,
        source,
        rows: from + rows,
        refused: (before?.refused ?? 0) + lastRefused.length,
        lastRefused,
        begunAt: before?.begunAt ?? rt.seconds(),
        movedAt: rt.seconds(),
      };
      perform(rt.transaction, LoadEffect.PUT, loads, known ?? slotFor(rt, loads), load);
      return load.rows;
    },
  }),
  func('load_info', {
    doc: 'How far a load is: name, source, rows, refused, last_refused, begun_at, moved_at; nil for one that is not known.',
    in: In.COLLECTION,
    params: [p.str('name')],
    run: (rt, name) => {
      const loads = loadsOf(rt);
      const load = loads.all.get(loads.slotOf(name) ?? -1);
      return load === undefined ? null : infoOf(rt, load);
    },
  }),
  func('loads_info', {
    doc: 'A list of what `load_info` tells of each load.',
    in: In.COLLECTION,
    run: (rt) => listOf([...loadsOf(rt).all.values()].map((load) => infoOf(rt, load))),
  }),
  func('del_load', {
    doc: 'Forgets how far a load is: the next one of that name begins anew. What it made stays.',
    changes: CHANGES_COLLECTION,
    params: [p.str('name')],
    run: (rt, name) => {
      const loads = loadsOf(rt);
      const slot = loads.slotOf(name);
      if (slot === undefined) throw lookupError(`there is no load '${name}'`);
      perform(rt.transaction, LoadEffect.DELETE, loads, slot);
      return null;
    },
  }),
];

function loadsOf({ group }: Runtime): Loads {
  if (!(group instanceof CollectionGroup)) throw new Error('loads are those of collections');
  return group.loads;
}

/** A free slot; the load that was moved least lately makes room, if it is old. */
function slotFor(rt: Runtime, loads: Loads): number {
  const free = loads.freeSlot();
  if (free !== undefined) return free;
  const [oldest] = [...loads.all].sort(([, a], [, b]) => a.movedAt - b.movedAt);
  if (oldest === undefined || rt.seconds() - oldest[1].movedAt < FORGOTTEN_S)
    throw quotaError(
      `the collection knows of ${LOADS_MAX} loads, the most that there may be: del_load() forgets one`,
    );
  return oldest[0];
}

function refusedRows(refused: List, rows: number, from: number): readonly number[] {
  let before = -1;
  return refused.items.map((row) => {
    if (typeof row !== 'number' || row <= before || row >= rows)
      throw valueError('the rows that were refused are rising numbers below that of the rows');
    before = row;
    return from + row;
  });
}

function infoOf(rt: Runtime, load: Load): Thing {
  rt.charge(64 + load.lastRefused.length);
  const info = new Thing(0, rt.shapes.empty(), []);
  const fields: readonly (readonly [string, Value])[] = [
    ['name', load.name],
    ['source', load.source],
    ['rows', load.rows],
    ['refused', load.refused],
    ['last_refused', new List([...load.lastRefused])],
    ['begun_at', load.begunAt],
    ['moved_at', load.movedAt],
  ];
  for (const [key, value] of fields) info.put(key, value);
  return info;
}
