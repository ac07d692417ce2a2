import type { BoundEffect } from '../effect.js';
import type { RecordKind } from '../records.js';

/**
 * A part of the state of a group: procedures, types and enums, and what else a scope has beside its things. One file holds all that
 * is to be known of it: the grammar of its effects and records, the rows of its effects, and the state. The group hands each effect and each
 * record to the part that says it is its own.
 */
export interface GroupPart {
  /** Its effects. No two parts of a group have the same code. */
  readonly effects: readonly BoundEffect[];
  /** Kinds of its records. No two parts of a group have the same. */
  readonly kinds: readonly RecordKind[];

  /**
   * Takes up one of its records, of the last checkpoint or of a backup. They come in the order of kinds, ids and parts; things
   * are read later. Marks nothing dirty.
   */
  load(kind: RecordKind, id: number, part: number, value: Uint8Array): void;

  /**
   * A checkpoint begins: puts the records of what changed since the last call, where that is not done when it changes, or freezes what
   * `saveRest` is to write.
   */
  flush?(): void;

  /** Forgets everything, for the state of a snapshot to be loaded. What a query holds of it is of no use any more. */
  clear(): void;

  /** Something that is in it, in words, as in "it has the procedure 'x'"; null when it is empty. */
  contents(): string | null;
}

/** The parts of a group, and whose records are whose. */
export class GroupParts {
  private readonly byKind = new Map<number, OwnedKind>();
  private readonly all: readonly GroupPart[];

  constructor(parts: readonly GroupPart[]) {
    this.all = parts;
    for (const part of parts) {
      for (const kind of part.kinds) claim(this.byKind, kind, { kind, part });
    }
  }

  [Symbol.iterator](): Iterator<GroupPart> {
    return this.all[Symbol.iterator]();
  }

  /** A kind of records with the part that has it, if one of them has. */
  ofKind(kind: number): OwnedKind | undefined {
    return this.byKind.get(kind);
  }

  /** The kinds of all their records. */
  get kinds(): readonly number[] {
    return [...this.byKind.keys()];
  }
}

/** A kind of records, and the part whose records they are. */
export interface OwnedKind {
  readonly kind: RecordKind;
  readonly part: GroupPart;
}

/** Notes an owner. Throws Error where a number has one: two parts of a group would have the same effect or kind of records. */
export function claim<Owner>(owners: Map<number, Owner>, number: number, owner: Owner): void {
  if (owners.has(number)) throw new Error(`two parts of a group have the number ${number}`);
  owners.set(number, owner);
}
