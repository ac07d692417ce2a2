/** One entry of the table of settings, and the ways to make one. */
import type { Kind } from './kinds.js';
import type { ProcessMemory } from './memory.js';

export interface Setting<T> {
  readonly kind: Kind<T>;
  /** The default; `undefined`: none. */
  readonly default: Default<T> | undefined;
  /** Meaning, and behaviour at the limit: one sentence or two, for people. */
  readonly doc: string;
  /** Never printed, and also readable from a file. */
  readonly secret: boolean;
}

/** A default: a value, or what the machine and other settings make of it. */
export type Default<T> =
  | { readonly value: T }
  | { readonly words: string; readonly of: (context: DefaultContext) => T };

/** The values that a default may depend on. */
export interface DefaultContext {
  readonly hostName: string;
  /** True if other nodes are named in `cluster`. */
  readonly clustered: boolean;
  readonly memory: ProcessMemory;
  /** Processors that the process may use. */
  readonly processors: number;
}

export interface WithDefault<T> extends Setting<T> {
  readonly default: Default<T>;
}

export interface WithoutDefault<T> extends Setting<T> {
  readonly default: undefined;
}

export function setting<T>(kind: Kind<T>, value: NoInfer<T>, doc: string): WithDefault<T> {
  return { kind, default: { value }, doc, secret: false };
}

export function derived<T>(
  kind: Kind<T>,
  words: string,
  of: (context: DefaultContext) => NoInfer<T>,
  doc: string,
): WithDefault<T> {
  return { kind, default: { words, of }, doc, secret: false };
}

export function optional<T>(kind: Kind<T>, doc: string): WithoutDefault<T> {
  return { kind, default: undefined, doc, secret: false };
}

export function secret<T>(kind: Kind<T>, doc: string): WithoutDefault<T> {
  return { kind, default: undefined, doc, secret: true };
}
