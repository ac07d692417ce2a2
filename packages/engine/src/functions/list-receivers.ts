/** Receivers of methods of lists and tuples. */
import { lookupError } from '../error.js';
import type { Receiver } from '../run/builtin.js';
import type { List } from '../value/containers.js';
import { Tag } from '../value/tag.js';

export const LIST: Receiver<List> = { tags: [Tag.LIST] };

/** Lists and tuples. */
export const ARRAY: Receiver<List> = { tags: [Tag.LIST, Tag.TUPLE] };

export function noItem(name: string): ReturnType<typeof lookupError> {
  return lookupError(`${name}() of an empty list`);
}
