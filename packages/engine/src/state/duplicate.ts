/** The error for values that another instance has already, where a unique index wants them once. */
import { toClientText } from '@althing/datetime';
import { type DuplicateDetail, duplicateError, type KeyValue, type QueryError } from '../error.js';
import { inWords } from '../schema/rule.js';
import type { Type } from '../schema/type.js';
import { Tag } from '../value/tag.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { TypeIndex } from './type-index.js';

/**
 * @param values those of the properties of the index
 * @param holder the instance that has them already
 * @param other a stored instance that has them, too; null for one that would get them
 * @param tells whether the error may say which values these are, and whose
 */
export function refusalOf(
  index: TypeIndex,
  type: Type,
  values: readonly Value[],
  holder: Thing,
  other: Thing | null,
  tells: boolean,
): QueryError {
  const where = `type \`${type.name}\`, index \`${index.def.name}\``;
  if (!tells)
    return duplicateError(
      `${where}: another instance has the value already`,
      detailOf(index, type, null, null),
    );
  const key = values.map(inWords).join(', ');
  const detail = detailOf(index, type, keyOf(values), holder.id === 0 ? null : holder.id);
  const whose = holder.id === 0 ? 'another new instance' : `#${holder.id}`;
  const message = other === null ? `${whose} already` : `${whose} and #${other.id}`;
  return duplicateError(`${where}: ${key} is the value of ${message}`, detail);
}

function detailOf(
  { def }: TypeIndex,
  type: Type,
  key: DuplicateDetail['key'],
  id: number | null,
): DuplicateDetail {
  const fields = type.shape?.fields ?? [];
  const names = def.fields.map((id) => fields.find((field) => field.id === id)?.name ?? '');
  return { type: type.name, index: def.name, fields: names, key, id };
}

/** The values in an answer; null where they take too much of it. */
function keyOf(values: readonly Value[]): KeyValue[] | null {
  const key = values.map(keyValue);
  return key.some((value) => typeof value === 'string' && value.length > KEY_LENGTH_MAX) ? null : key;
}

const KEY_LENGTH_MAX = 1000;

/** A thing is its id, a member its name, a datetime its text. */
function keyValue(value: Value): KeyValue {
  if (value === null || typeof value !== 'object') return value ?? false;
  switch (value.tag) {
    case Tag.FLOAT:
      return value.value;
    case Tag.MEMBER:
      return value.name;
    case Tag.THING:
      return value.id;
    case Tag.DATETIME:
      return toClientText(value.time);
    case Tag.TIMEVAL:
      return value.time.moment;
    default:
      return inWords(value);
  }
}
