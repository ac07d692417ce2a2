/**
 * Dates, times and time zones of the query language: chapter 02, §11 and §12. Pure: nothing here reads the clock, and every
 * value is immutable. Failures are DateTimeErrors.
 */
export { fromFields, fromFloat, fromMoment, fromStored, inPlace, withKind } from './construct.js';
export { DateTime, type DateTimeKind } from './datetime.js';
export { DateTimeError } from './error.js';
export { checkField, FIELD_NAMES, type FieldName } from './fields.js';
export { format, toClientText, toIso } from './format.js';
export { checkMoveUnit, type MoveUnit, move } from './move.js';
export { parseFormat, parseIso } from './parse.js';
export { extract, extractField, replace, week, weekday, yday } from './parts.js';
export { offsetAt, type Place, parsePlace } from './place.js';
export { zoneByName } from './zone.js';
export { ZONE_NAMES } from './zone-names.js';
