import { type ByteReader, FormatError } from '../../bytes.js';
import type { RecordKind } from '../records.js';

/**
 * A part of the state of a group: procedures, types and enums, and what else a scope has beside its things. One file holds all that
 * is to be known of it: the grammar of its effects and records, their writers and readers, the state, and the editor by which a
 * query changes it. The group hands each effect and each record to the part that says it is its own.
 */
export interface GroupPart {
  /** Operations of its effects. No two parts of a group have the same. */
  readonly effects: readonly number[];
  /** Kinds of its records. No two parts of a group have the same. */
  readonly kinds: readonly RecordKind[];

  /**
   * Repeats one of its effects. On a leader the editor made the change already.
   *
   * @throws FormatError for an effect that it does not know: who skipped it would have another state than the leader from then on
   */
  apply(operation: number, input: ByteReader): void;

  /**
   * Takes up one of its records, of the last checkpoint or of a backup. They come in the order of kinds, ids and parts; things
   * are read later. Marks nothing dirty.
   */
  load(kind: RecordKind, id: number, part: number, value: Uint8Array): void;

  /** Puts the records of what changed since the last call, where that was not done when it changed: a checkpoint begins. */
  flush(): void;

  /** Forgets everything, for the state of a snapshot to be loaded. What a query holds of it is of no use any more. */
  clear(): void;

  /** Something that is in it, in words, as in "it has the procedure 'x'"; null when it is empty. */
  contents(): string | null;
}

/** Finds the part that an effect or a record belongs to. */
export class GroupParts {
  private readonly byEffect = new Map<number, GroupPart>();
  private readonly byKind = new Map<number, OwnedKind>();
  private readonly all: readonly GroupPart[];

  constructor(parts: readonly GroupPart[]) {
    this.all = parts;
    for (const part of parts) {
      for (const effect of part.effects) claim(this.byEffect, effect, part);
      for (const kind of part.kinds) claim(this.byKind, kind, { kind, part });
    }
  }

  [Symbol.iterator](): Iterator<GroupPart> {
    return this.all[Symbol.iterator]();
  }

  /** The part that has an effect, if one of them has. */
  ofEffect(operation: number): GroupPart | undefined {
    return this.byEffect.get(operation);
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

/** What stops a node that is to repeat an effect which it does not know. */
export function unknownEffect(operation: number): FormatError {
  return new FormatError(`unknown effect ${operation}`);
}

function claim<Owner>(owners: Map<number, Owner>, number: number, owner: Owner): void {
  if (owners.has(number))
    throw new Error(`two parts of a group have the effect or kind of records ${number}`);
  owners.set(number, owner);
}
