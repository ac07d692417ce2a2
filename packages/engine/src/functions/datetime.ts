import {
  checkField,
  checkMoveUnit,
  type DateTime,
  type DateTimeKind,
  extract,
  extractField,
  FIELD_NAMES,
  type FieldName,
  format,
  fromFields,
  fromFloat,
  fromMoment,
  inPlace,
  type MoveUnit,
  move,
  type Place,
  parseFormat,
  parseIso,
  parsePlace,
  replace,
  week,
  weekday,
  withKind,
  yday,
} from '@althing/datetime';
import { typeError } from '../error.js';
import { type Entry, func, method, type Receiver, variadic } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import type { Code } from '../run/unit.js';
import { DateTimeValue, withDates } from '../value/datetime-value.js';
import { isInt } from '../value/numbers.js';
import { Float } from '../value/scalars.js';
import { Tag } from '../value/tag.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';

const DATE: Receiver<DateTimeValue> = { tags: [Tag.DATETIME, Tag.TIMEVAL] };

/** Year, month, day, hour, minute, second, zone. */
const ARGUMENTS_MAX = 7;

/** Units charged for working a date out, and for each character of the form that it is shown in. */
const PER_DATE = 1280;
const PER_FORMATTED = 64;

/** The clock, and dates with their methods. */
export const DATETIME: readonly Entry[] = [
  func('now', {
    doc: 'Seconds since the epoch, as a float.',
    run: (rt) => new Float(rt.environment.now() / 1000),
  }),
  constructorOf('datetime', 'the ISO 8601 text'),
  constructorOf('timeval', 'the seconds since the epoch'),
  method(DATE, 'extract', {
    doc: 'A thing with year, month, day, hour, minute, second and gmt_offset, or the one of these that is named.',
    params: [p.optional(p.str('field'))],
    run: (rt, { time }, field) => {
      if (field !== undefined) return withDates(() => extractField(time, field));
      const thing = new Thing(0, rt.shapes.empty(), []);
      for (const [name, value] of Object.entries(withDates(() => extract(time)))) thing.put(name, value);
      return thing;
    },
  }),
  method(DATE, 'format', {
    doc: 'The date as a text in a format such as %Y-%m-%d.',
    params: [p.str('format')],
    run: (rt, { time }, text) => {
      rt.charge(PER_DATE + PER_FORMATTED * text.length);
      return withDates(() => format(time, text));
    },
  }),
  method(DATE, 'move', {
    doc: 'The date moved by a number of years, months, weeks, days, hours, minutes or seconds.',
    params: [unitParam(), p.int('number')],
    run: (rt, { time }, unit, number) => {
      rt.charge(PER_DATE);
      return dateOf(() => move(time, unit, number));
    },
  }),
  method(DATE, 'replace', {
    doc: 'The date with other values for year, month, day, hour, minute or second, given as a thing.',
    params: [p.thing('fields')],
    run: (rt, { time }, thing) => {
      rt.load(thing);
      const changes: Partial<Record<FieldName, Value>> = {};
      for (const name of FIELD_NAMES) {
        const value = thing.get(name);
        if (value !== undefined) changes[name] = value;
      }
      return dateOf(() => replace(time, changes));
    },
  }),
  method(DATE, 'to', {
    doc: 'The same moment in another time zone, given by name or as an offset such as +0530.',
    params: [p.str('zone')],
    run: (rt, { time }, zone) => {
      rt.charge(PER_DATE);
      return dateOf(() => inPlace(time, parsePlace(zone)));
    },
  }),
  method(DATE, 'zone', {
    doc: 'The name of the time zone; nil for a fixed offset.',
    run: (_rt, { time }) => time.zone?.name ?? null,
  }),
  method(DATE, 'week', {
    doc: 'Number of the week, 0 to 53; week 1 begins on the first Sunday of the year.',
    run: (_rt, { time }) => withDates(() => week(time)),
  }),
  method(DATE, 'weekday', {
    doc: 'Day of the week, 0 (Sunday) to 6.',
    run: (_rt, { time }) => withDates(() => weekday(time)),
  }),
  method(DATE, 'yday', {
    doc: 'Day of the year, 0 to 365.',
    run: (_rt, { time }) => withDates(() => yday(time)),
  }),
];

/** Runs work that makes a date. */
function dateOf(work: () => DateTime): DateTimeValue {
  return new DateTimeValue(withDates(work));
}

/** The name of a unit that dates are moved by. */
export function unitParam(): p.Param<MoveUnit> {
  return p.checked(p.str('unit'), (unit) => withDates(() => checkMoveUnit(unit)));
}

function constructorOf(kind: DateTimeKind, shown: string): Entry {
  return variadic(kind, {
    doc: `A moment, which clients see as ${shown}: now, or from a number, date, text (with format), or year, month, day ... zone.`,
    readsState: true,
    rest: p.lazy('argument'),
    max: ARGUMENTS_MAX,
    run: (rt, args) => {
      rt.charge(PER_DATE);
      return dateOf(() => construct(rt, kind, args));
    },
  });
}

function construct(rt: Runtime, kind: DateTimeKind, args: readonly Code[]): DateTime {
  const [first, second] = args;
  if (first === undefined) return fromMoment(kind, rt.seconds(), defaultPlace(rt));
  if (args.length > 2) return fromArguments(rt, kind, args);
  const value = first();
  if (second === undefined) return fromValue(rt, kind, value);
  const text = p.str('text').accept(value, { function: kind, position: 1 });
  const fmt = p.str('format').accept(second(), { function: kind, position: 2 });
  return parseFormat(kind, text, fmt, defaultPlace(rt));
}

function fromValue(rt: Runtime, kind: DateTimeKind, value: Value): DateTime {
  if (isInt(value)) {
    return fromMoment(kind, value, defaultPlace(rt));
  }
  if (value instanceof Float) return fromFloat(kind, value.value, defaultPlace(rt));
  if (value instanceof DateTimeValue) return withKind(value.time, kind);
  if (typeof value === 'string') return parseIso(kind, value, defaultPlace(rt));
  throw typeError(`${kind}() takes a number, date or text, not ${typeName(value)}`);
}

/** `f(y, m, d, H?, M?, S?, zone?)`; the zone may come directly after any of d, H, M and S. */
function fromArguments(rt: Runtime, kind: DateTimeKind, args: readonly Code[]): DateTime {
  const fields: number[] = [];
  let place = defaultPlace(rt);
  for (const [i, code] of args.entries()) {
    const value = code();
    const field = FIELD_NAMES[i];
    if (i >= REQUIRED_FIELDS && (typeof value === 'string' || field === undefined)) {
      const zone = p.str('zone').accept(value, { function: kind, position: i + 1 });
      if (i + 1 < args.length) throw typeError(`the time zone must be the last argument of ${kind}()`);
      place = parsePlace(zone);
    } else if (field !== undefined) {
      fields.push(checkField(field, value));
    }
  }
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = fields;
  return fromFields(kind, { year, month, day, hour, minute, second }, place);
}

const REQUIRED_FIELDS = 3;

/** The default time zone of the scope. */
function defaultPlace(rt: Runtime): Place {
  return parsePlace(rt.scope.timeZone);
}
