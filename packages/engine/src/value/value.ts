import type { Closure } from './closure.js';
import type { List, ThingSet } from './containers.js';
import type { DateTimeValue } from './datetime-value.js';
import type { Future } from './future.js';
import { kindOf, kindOfTag } from './kinds.js';
import type { Member } from './member.js';
import type { Module } from './module.js';
import type { RegexValue } from './regex-value.js';
import type { Room } from './room.js';
import type { Bytes, ErrorValue, Float, MpData } from './scalars.js';
import { Tag } from './tag.js';
import type { Task } from './task.js';
import type { Thing } from './thing.js';
import type { Anonymous, Wrap } from './wrap.js';

/**
 * A value of the language.
 *
 * nil is null, a bool a boolean, a str a string of valid Unicode. An int is a number while it is a safe integer (and
 * never -0), else a bigint within int64. Everything else is an object with a `tag`.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Float
  | Bytes
  | RegexValue
  | DateTimeValue
  | ErrorValue
  | Closure
  | List
  | ThingSet
  | Thing
  | MpData
  | Member
  | Wrap
  | Anonymous
  | Future
  | Task
  | Module
  | Room;

export function tagOf(value: Value): Tag {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return Tag.INT;
    case 'string':
      return Tag.STR;
    case 'boolean':
      return Tag.BOOL;
    default:
      return value === null ? Tag.NIL : value.tag;
  }
}

/** The name that `type(v)` gives. */
export function typeName(value: Value): string {
  if (typeof value !== 'object' || value === null) return tagName(tagOf(value));
  const kind = kindOf(value);
  return kind.nameOf?.(value) ?? kind.name;
}

export function tagName(tag: Tag): string {
  switch (tag) {
    case Tag.NIL:
      return 'nil';
    case Tag.BOOL:
      return 'bool';
    case Tag.INT:
      return 'int';
    case Tag.STR:
      return 'str';
    default:
      return kindOfTag(tag).name;
  }
}
