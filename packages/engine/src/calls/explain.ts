/**
 * The document of an explained run: its cost as a whole, and by statement, the costliest first.
 *
 *   explain   := {ms, steps, from_memory, from_disk, records, memory, packing, statements?, left_off?}
 *   packing   := {ms, steps, from_memory, from_disk, records}
 *   statement := {in, line, column, code, runs, ms, steps, from_memory, from_disk, records, total_ms, total_steps, memory, changes?,
 *                 indexes?, hints?}
 *   changes   := {CATEGORY: count}
 *   indexes   := [{type, index, look_ups, entries}]      the index `#` has all instances
 *
 * Statements are told to those who may read the sources of procedures, and to nobody else.
 */

import { placesInDefinition, positionOf } from '@althing/language';
import { Privilege } from '../admin/privileges.js';
import { errorName, type QueryError } from '../error.js';
import { getOrInsertComputed } from '../get-or-insert.js';
import type { Info, InfoFields } from '../pack/info.js';
import type { Profile, Search, StatementFigures, Usage } from '../run/profile.js';
import type { Runtime } from '../run/runtime.js';
import { sortKindOf } from '../schema/index-def.js';
import type { Tally } from '../state/tally.js';
import { Float } from '../value/scalars.js';
import { toldPlaces } from './told-places.js';

/** Statements that are told at most. */
const STATEMENTS_MAX = 200;

/** Characters of a statement that are told at most. */
const CODE_LENGTH_MAX = 100;

/** Indexes and hints of one statement that are told at most. */
const NOTES_MAX = 10;

/** Things that a closure looks at in vain before an index is worth a word. */
const SEARCHED_MIN = 100;

export function explanationOf(rt: Runtime, profile: Profile): Info {
  const total = profile.total();
  const shown = rt.access.has(Privilege.QUERY | Privilege.CHANGE) ? costliest(profile) : null;
  const leftOff = shown === null ? 0 : countRun(profile) - shown.length + profile.uncounted;
  const placeOf = places(rt);
  return {
    ...usageOf(total),
    memory: total.memoryBytes,
    packing: usageOf(profile.packing.own),
    statements: shown?.map((figures) => statementOf(rt, figures, placeOf(figures))),
    left_off: leftOff > 0 ? leftOff : undefined,
  };
}

/** The error of a run that failed, as answers over HTTP tell it. */
export function errorInfo(error: QueryError): Info {
  const [place] = toldPlaces(error);
  const { code, message } = error;
  if (place === undefined) return { code, name: errorName(code), message };
  const { line, column, offset, length } = place;
  return { code, name: errorName(code), message, at: { line, column, offset, length }, in: place.in };
}

/** The counts of a dry run by category. */
export function changesOf(tally: Tally): InfoFields {
  return Object.fromEntries(tally.entries());
}

function countRun({ statements }: Profile): number {
  let count = 0;
  for (const inText of statements.values()) {
    for (const { runs } of inText.values()) if (runs > 0) count += 1;
  }
  return count;
}

/** The statements that took most by themselves. */
function costliest({ statements }: Profile): readonly StatementFigures[] {
  const all = [...statements.values()].flatMap((inText) => [...inText.values()]);
  const byCost = (a: StatementFigures, b: StatementFigures): number =>
    b.own.ms - a.own.ms || b.own.steps - a.own.steps || a.place.start - b.place.start;
  return all
    .filter(({ runs }) => runs > 0)
    .sort(byCost)
    .slice(0, STATEMENTS_MAX);
}

/** Where a statement stands in a text that people read. */
interface Shown {
  /** The procedure or method that it is in; null for the text of the query. */
  readonly in: string | null;
  readonly line: number;
  readonly column: number;
  readonly code: string;
}

function places(rt: Runtime): (figures: StatementFigures) => Shown {
  const names = namesOfClosures(rt);
  const layouts = new Map<string, ReturnType<typeof placesInDefinition>>();
  return ({ place }) => {
    const { source } = place;
    const name = source === rt.source ? null : (names.get(source) ?? UNNAMED);
    const layout = getOrInsertComputed(layouts, source, () =>
      name === null ? (span) => ({ ...span, text: source }) : placesInDefinition(source),
    );
    const { text, start, end } = layout(place);
    return { in: name, ...positionOf(text, start), code: firstLine(text.slice(start, end)) };
  };
}

/** A stored closure that is neither a procedure nor a method. */
const UNNAMED = 'closure';

/** The names of procedures and methods by their texts. */
function namesOfClosures({ procedures, schema }: Runtime): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { def } of [...schema.allTypes(), ...schema.allEnums()]) {
    for (const [method, { source }] of def?.methods ?? []) names.set(source, `${def?.name}.${method}`);
  }
  for (const { name, closure } of procedures.values()) names.set(closure.source, name);
  return names;
}

function firstLine(code: string): string {
  const [line = ''] = code.split('\n', 1);
  const isWhole = line.length === code.length && line.length <= CODE_LENGTH_MAX;
  return isWhole ? line : `${Array.from(line).slice(0, CODE_LENGTH_MAX).join('')} ..`;
}

function statementOf(rt: Runtime, figures: StatementFigures, place: Shown): Info {
  const { runs, own, totalMs, totalSteps, memoryBytes } = figures;
  const changes = changesOf(figures.changes);
  const indexes = [...figures.indexUses.values()].slice(0, NOTES_MAX);
  const hints = [...figures.searches.values()]
    .flatMap((search) => hintOf(rt, search) ?? [])
    .slice(0, NOTES_MAX);
  const indexOf = ({ type, index, lookUps, entries }: (typeof indexes)[number]): Info => ({
    type,
    index,
    look_ups: lookUps,
    entries,
  });
  return {
    in: place.in,
    line: place.line,
    column: place.column,
    code: place.code,
    runs,
    ...usageOf(own),
    total_ms: msOf(totalMs),
    total_steps: totalSteps,
    memory: memoryBytes,
    changes: Object.keys(changes).length > 0 ? changes : undefined,
    indexes: indexes.length > 0 ? indexes.map(indexOf) : undefined,
    hints: hints.length > 0 ? hints : undefined,
  };
}

/** A word on a search that an index would serve, or does already; null where none would. */
function hintOf({ store }: Runtime, { type, property, things }: Search): string | null {
  const field = type.def?.fields.find(({ name }) => name === property);
  if (store === null || field === undefined || things < SEARCHED_MIN) return null;
  if (sortKindOf(field.definition) === null) return null;
  const index = store.indexes.of(type).find(({ def, isReady }) => isReady && def.fields[0] === field.id);
  const { size } = type.instances;
  const part = things < size ? `; an index has all ${size} of them` : '';
  const looked = `looked at ${things} \`${type.name}\` for \`${property}\``;
  return index === undefined
    ? `${looked}: one_by and all_by would find them by an index, as new_index('${type.name}', '${property}') makes it${part}`
    : `${looked}: one_by and all_by find them by the index \`${index.def.name}\`${part}`;
}

function usageOf({ ms, steps, fromMemory, fromDisk, records }: Usage): InfoFields {
  return { ms: msOf(ms), steps, from_memory: fromMemory, from_disk: fromDisk, records };
}

/** Milliseconds, to the microsecond. */
function msOf(ms: number): Float {
  return new Float(Math.round(ms * 1000) / 1000);
}
