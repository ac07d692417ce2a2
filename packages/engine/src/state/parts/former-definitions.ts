/**
 * Definitions as they were before a change, so the log can be read from any place by those who know the types and enums at its end: see
 * `feed/`.
 *
 *   effect := 1c (00 type | 01 enum)        what follows in the change replaces this definition; alters no state
 */
import { type ByteReader, type ByteWriter, FormatError } from '../../bytes.js';
import type { EnumDef } from '../../schema/enum.js';
import type { TypeDef } from '../../schema/type.js';
import { committedEffect, writeEffect } from '../effect.js';
import type { Store } from '../store.js';
import { type KnownTypes, readEnum, readType, writeEnum, writeType } from './schema-codec.js';

/** A definition as it was before a change; null where there was none. */
export type Former =
  | { readonly kind: 'type'; readonly id: number; readonly def: TypeDef | null }
  | { readonly kind: 'enum'; readonly id: number; readonly def: EnumDef | null };

export const FormerEffect = {
  FORMER: committedEffect<Store, [former: Former]>({
    code: 0x1c,
    write: (out, { kind, id, def }) => {
      out.u8(kind === 'type' ? 0 : 1);
      if (kind === 'type') writeType(out, id, def ?? { gone: '', generation: 0 });
      else writeEnum(out, id, def ?? { gone: '' });
    },
    read: (input, store) => [readFormer(input, store)],
    apply: () => {},
  }),
};

/** Notes a type that is about to change. */
export function writeFormerType(out: ByteWriter, { schema }: Store, id: number): void {
  writeEffect(out, FormerEffect.FORMER, { kind: 'type', id, def: schema.type(id).def });
}

/** Notes an enum that is about to change. */
export function writeFormerEnum(out: ByteWriter, { schema }: Store, id: number): void {
  writeEffect(out, FormerEffect.FORMER, { kind: 'enum', id, def: schema.enum(id).def });
}

/** Reads what `FORMER` wrote. */
export function readFormer(input: ByteReader, known: KnownTypes): Former {
  const kind = input.u8();
  if (kind > 1) throw new FormatError(`a former definition of the unknown kind ${kind}`);
  if (kind === 0) {
    const { id, state } = readType(input, known);
    return { kind: 'type', id, def: 'gone' in state ? null : state };
  }
  const { id, state } = readEnum(input, known);
  return { kind: 'enum', id, def: 'gone' in state ? null : state };
}
