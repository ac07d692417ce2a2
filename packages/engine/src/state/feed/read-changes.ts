/**
 * Effects read as what they did, and applied nowhere: `read` methods of the rows in `effects.ts` need the things themselves, and whoever
 * follows a collection reads of things that are gone or changed since.
 */
import { ByteReader, FormatError } from '../../bytes.js';
import { itemText } from '../../schema/definition.js';
import { readStoredItem } from '../../schema/parse-definition.js';
import type { Value } from '../../value/value.js';
import { readPlace, ThingEffect } from '../effects.js';
import { GroupEffect } from '../group.js';
import { type Former, FormerEffect, readFormer } from '../parts/former-definitions.js';
import { SchemaEffect } from '../parts/schema.js';
import { readEnum, readType } from '../parts/schema-codec.js';
import { SkippedEffects } from '../skipped-effects.js';
import { INSTANCE_HEAD, visitThingsOfNew } from '../thing-record.js';
import { TransferEffect } from '../transfer.js';
import { readValue } from '../value-codec.js';
import { type FeedChange, WholeReplacedError } from './change.js';
import type { SchemaView } from './schema-view.js';

type Visit = (change: FeedChange) => void;

type Step = (input: ByteReader, view: SchemaView, visit: Visit) => void;

/** Reads the effects of the changes of one collection. */
export class ChangeReader {
  /** Reads past effects that are about neither things nor definitions. */
  private readonly skipped = new SkippedEffects();

  /**
   * Calls `visit` for each step of a change, in order.
   *
   * @param view as it is before the change; it stands behind it afterwards
   * @returns the definitions that the change replaced, as they were
   * @throws WholeReplacedError, behind which the view is of no use
   */
  read(effects: Uint8Array, view: SchemaView, visit: Visit): readonly Former[] {
    return this.walk(effects, STEPS, view, visit);
  }

  /**
   * The definitions that a change replaced, as they were, in the order of the change.
   *
   * @param scratch a view of any place in the log, which is of no use afterwards but for this
   * @throws WholeReplacedError
   */
  formers(effects: Uint8Array, scratch: SchemaView): readonly Former[] {
    return this.walk(effects, PASSING_STEPS, scratch, () => {});
  }

  private walk(
    effects: Uint8Array,
    steps: ReadonlyMap<number, Step>,
    view: SchemaView,
    visit: Visit,
  ): readonly Former[] {
    const input = new ByteReader(effects);
    const formers: Former[] = [];
    while (input.remaining > 0) {
      const code = input.u8();
      const step = steps.get(code);
      if (step !== undefined) {
        step(input, view, visit);
        if (code === SchemaEffect.PUT_TYPE.code && hasSucceeded(formers.at(-1), view))
          throw new WholeReplacedError();
      } else if (code === FormerEffect.FORMER.code) formers.push(readFormer(input, view));
      else if (WHOLE.has(code)) throw new WholeReplacedError();
      else this.skipped.pass(code, input);
    }
    return formers;
  }
}

/** True if the successor of a field took its place: nobody was told of its values. */
function hasSucceeded(former: Former | undefined, view: SchemaView): boolean {
  if (former?.kind !== 'type') return false;
  const { successor = null } = former.def ?? {};
  return successor !== null && view.typeDef(former.id)?.fields.some(({ id }) => id === successor.id) === true;
}

const WHOLE: ReadonlySet<number> = new Set([
  GroupEffect.RESTORE.code,
  ...Object.values(TransferEffect).map(({ code }) => code),
]);

const STEPS: ReadonlyMap<number, Step> = new Map<number, Step>([
  [
    ThingEffect.NEW_THINGS.code,
    (input, view, visit) => {
      const base = input.varint();
      const count = input.varint();
      for (let id = base; id < base + count; id++) visit({ op: 'new', id, ...readNew(input, view) });
    },
  ],
  [
    ThingEffect.SET.code,
    (input, view, visit) => visit({ op: 'set', ...readPlace(input), value: readValue(input, view) }),
  ],
  [ThingEffect.DELETE.code, (input, _, visit) => visit({ op: 'del', ...readPlace(input) })],
  [
    ThingEffect.RENAME.code,
    (input, _, visit) => visit({ op: 'rename', ...readPlace(input), to: input.text() }),
  ],
  [ThingEffect.CLEAR.code, (input, _, visit) => visit({ op: 'clear', id: input.varint() })],
  [
    ThingEffect.RESTRICT.code,
    (input, view, visit) =>
      visit({ op: 'restrict', id: input.varint(), to: restrictionText(input.text(), view) }),
  ],
  [
    ThingEffect.SPLICE.code,
    (input, view, visit) => {
      const place = readPlace(input);
      const start = input.varint();
      const removed = input.varint();
      visit({ op: 'splice', ...place, start, removed, items: input.list(() => readValue(input, view)) });
    },
  ],
  [
    ThingEffect.FILL.code,
    (input, view, visit) => visit({ op: 'fill', ...readPlace(input), value: readValue(input, view) }),
  ],
  [
    ThingEffect.ADD_MEMBERS.code,
    (input, _, visit) => visit({ op: 'add', ...readPlace(input), ids: input.varints() }),
  ],
  [
    ThingEffect.REMOVE_MEMBERS.code,
    (input, _, visit) => visit({ op: 'remove', ...readPlace(input), ids: input.varints() }),
  ],
  [ThingEffect.REMOVE_THINGS.code, (input, _, visit) => visit({ op: 'gone', ids: input.varints() })],
  [
    ThingEffect.REMOVE_ITEMS.code,
    (input, _, visit) => {
      const place = readPlace(input);
      let end = 0;
      const runs = input.list(() => {
        const start = end + input.varint();
        const count = input.varint();
        end = start + count;
        return [start, count] as const;
      });
      visit({ op: 'cut', ...place, runs });
    },
  ],
  [
    SchemaEffect.CONVERT.code,
    (input, _, visit) => {
      const id = input.varint();
      const type = input.varint();
      visit({ op: 'type', id, type: type === 0 ? null : type - 1 });
    },
  ],
  [
    SchemaEffect.PUT_TYPE.code,
    (input, view, visit) => {
      const { id, state } = readType(input, view);
      const now = 'gone' in state ? null : state;
      const before = view.typeDef(id);
      view.putType(id, now);
      if (before !== null || now !== null) visit({ op: 'type_def', id, before, now });
    },
  ],
  [
    SchemaEffect.DROP_TYPE.code,
    (input, view, visit) => {
      const id = input.varint();
      input.text();
      const before = view.typeDef(id);
      view.putType(id, null);
      // Else a type that is gone got another name.
      if (before !== null) visit({ op: 'type_def', id, before, now: null });
    },
  ],
  [
    SchemaEffect.PUT_ENUM.code,
    (input, view, visit) => {
      const { id, state } = readEnum(input, view);
      const now = 'gone' in state ? null : state;
      const before = view.enumDef(id)?.name ?? null;
      view.putEnum(id, now);
      visit({ op: 'enum_def', before, now });
    },
  ],
  [
    SchemaEffect.DROP_ENUM.code,
    (input, view, visit) => {
      const id = input.varint();
      const name = input.text();
      view.putEnum(id, null);
      visit({ op: 'enum_def', before: name, now: null });
    },
  ],
]);

/** The same for who does not know the types of new things at that place. */
const PASSING_STEPS: ReadonlyMap<number, Step> = new Map<number, Step>([
  ...STEPS,
  [
    ThingEffect.NEW_THINGS.code,
    (input) => {
      input.varint();
      for (let left = input.varint(); left > 0; left--) visitThingsOfNew(input, () => {});
    },
  ],
]);

/** Type and properties of a new thing, as `writeProperties` in `thing-record.ts` writes them. */
function readNew(
  input: ByteReader,
  view: SchemaView,
): { readonly type: number | null; readonly values: readonly (readonly [string, Value])[] } {
  const type = input.takeNumberedText(INSTANCE_HEAD);
  if (type < 0) {
    input.text();
    return { type: null, values: input.list(() => [input.text(), readValue(input, view)] as const) };
  }
  const fields = view.typeDef(type)?.fields;
  if (fields === undefined) throw new FormatError(`a new instance of the type ${type}, which is not there`);
  const values = input.list(() => {
    const id = input.varint();
    const field = fields.find((one) => one.id === id);
    if (field === undefined) throw new FormatError(`the type ${type} has no field ${id}`);
    return [field.name, readValue(input, view)] as const;
  });
  return { type, values };
}

/** The text of a stored restriction, with the present names. */
function restrictionText(stored: string, view: SchemaView): string | null {
  const [item = ''] = stored.split('!');
  return item === '' ? null : itemText(readStoredItem(item), view);
}
