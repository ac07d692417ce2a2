import { Privilege } from '../admin/privileges.js';
import { IndexFlag } from '../schema/index-def.js';
import { TypeFlag } from '../schema/type.js';
import { INT_MAX, INT_MIN } from '../value/numbers.js';
import { Float } from '../value/scalars.js';
import type { Value } from '../value/value.js';

/** Names with a fixed value, in every scope. A variable or procedure of the same name hides them. */
export const CONSTANTS: ReadonlyMap<string, Value> = new Map<string, Value>([
  ...Object.entries(Privilege),
  ['EVENT', Privilege.CHANGE],
  ['WATCH', Privilege.JOIN],
  ['DEBUG', 0],
  ['INFO', 1],
  ['WARNING', 2],
  ['ERROR', 3],
  ['CRITICAL', 4],
  ['WPO', TypeFlag.WRAP_ONLY],
  ['HID', TypeFlag.HIDE_ID],
  ['IDX', TypeFlag.INDEX],
  ['STRICT', TypeFlag.STRICT],
  ['NO_IDS', 32],
  ...Object.entries(IndexFlag),
  ['INT_MIN', INT_MIN],
  ['INT_MAX', INT_MAX],
  ['MATH_E', new Float(Math.E)],
  ['MATH_PI', new Float(Math.PI)],
]);
