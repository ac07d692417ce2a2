/**
 * Dates, times and time zones of the query language: chapter 02, §11 and §12. Pure: nothing here reads the clock, and every
 * value is immutable. Failures are DateTimeErrors.
 */
export { fromFields, fromFloat, fromMoment, fromStored, inPlace, withKind } from './construct.js';
export { DateTime, type DateTimeKind } from './datetime.js';
export { DateTimeError, type DateTimeErrorCode } from './error.js';
export { checkField, FIELD_NAMES, type FieldName } from './fields.js';
export { format, toClientText, toIso } from './format.js';
export { checkMoveUnit, MOVE_UNITS, type MoveUnit, move } from './move.js';
export { parseFormat, parseIso } from './parse.js';
export { type Extract, extract, extractField, replace, week, weekday, yday } from './parts.js';
export { offsetAt, type Place, parsePlace, UTC_PLACE } from './place.js';
export { UTC, type Zone, zoneByName } from './zone.js';
export { ZONE_NAMES } from './zone-names.js';
