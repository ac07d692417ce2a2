/** The steps of a committed change of a collection, for those who follow it: see `read-changes.ts`. */
import type { TypeDef } from '../../schema/type.js';
import type { Value } from '../../value/value.js';

/** One step of a change. Things in values are known by their ids alone. */
export type ThingChange =
  /** A thing is new, or told whole as it is now; `type` is the id of its type, null for a plain thing. */
  | {
      readonly op: 'new' | 'thing';
      readonly id: number;
      readonly type: number | null;
      readonly values: readonly (readonly [key: string, value: Value])[];
    }
  | { readonly op: 'set'; readonly id: number; readonly key: string; readonly value: Value }
  | { readonly op: 'del'; readonly id: number; readonly key: string }
  | { readonly op: 'rename'; readonly id: number; readonly key: string; readonly to: string }
  /** All properties go. */
  | { readonly op: 'clear'; readonly id: number }
  /** The values of a plain thing are restricted to a definition; null: no more. */
  | { readonly op: 'restrict'; readonly id: number; readonly to: string | null }
  /** A plain thing becomes an instance of a type, or an instance plain (null). Its properties stay. */
  | { readonly op: 'type'; readonly id: number; readonly type: number | null }
  /** `removed` items of a list from `start` on become others. */
  | {
      readonly op: 'splice';
      readonly id: number;
      readonly key: string;
      readonly start: number;
      readonly removed: number;
      readonly items: readonly Value[];
    }
  /** All items of a list become one value. */
  | { readonly op: 'fill'; readonly id: number; readonly key: string; readonly value: Value }
  /** Runs of items of a list go: places before any of them went, rising and apart. */
  | {
      readonly op: 'cut';
      readonly id: number;
      readonly key: string;
      readonly runs: readonly (readonly [start: number, count: number])[];
    }
  /** Things come into a set, or leave it. */
  | {
      readonly op: 'add' | 'remove';
      readonly id: number;
      readonly key: string;
      readonly ids: readonly number[];
    }
  /** Things are no more. */
  | { readonly op: 'gone'; readonly ids: readonly number[] };

/** A type or an enum came, changed, or went: instances change with their type. */
export type SchemaChange =
  /** `before` is null for a new type; `now` is null for one that is gone, whose instances are plain things from then on. */
  | {
      readonly op: 'type_def';
      readonly id: number;
      readonly before: TypeDef | null;
      readonly now: TypeDef | null;
    }
  | {
      readonly op: 'enum_def';
      readonly before: string | null;
      readonly now: { readonly name: string; readonly members: readonly EnumMember[] } | null;
    };

export interface EnumMember {
  readonly name: string;
  readonly value: Value;
}

export type FeedChange = ThingChange | SchemaChange;

/** The effects of a change that no steps tell: the contents of the collection were replaced as a whole. */
export class WholeReplacedError extends Error {}
