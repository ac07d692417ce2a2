import { typeError } from '../error.js';
import { typeName, type Value } from './value.js';

/** Throws type_err unless a thing with this restriction may hold the value. */
export function checkRestriction(restriction: string, value: Value): void {
  if (restriction !== 'any')
    throw typeError(`the thing accepts '${restriction}' only, not ${typeName(value)}`);
}
