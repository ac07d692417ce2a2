/**
 * Changes of single values. Each compares, in the query that makes it, what is stored with what was seen: nobody overwrites what somebody
 * else changed meanwhile.
 */
import type { WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { textOfValue } from '../query/variables.js';
import { ActionDialog } from '../ui/action.js';
import type { Deed } from '../ui/deed.js';
import { Failure, Field, useAnswer } from '../ui/parts.js';
import { ValueFields, type ValueText, valueOrNothing } from '../ui/value-fields.js';
import { type Entry, wholeValue } from './thing-queries.js';

interface Place {
  readonly id: bigint;
  readonly key: string;
  /** The type of the thing, list or set. */
  readonly type: string;
}

interface EntryPlace extends Place {
  /** The index in a list or set; null for a property. */
  readonly index: number | null;
  readonly entry: Entry;
}

export type Edit =
  | (Place & { readonly kind: 'add' | 'append' })
  | (EntryPlace & { readonly kind: 'set' })
  | (EntryPlace & { readonly kind: 'rename' })
  | (EntryPlace & { readonly kind: 'delete' });

interface Props<E extends Edit = Edit> {
  readonly scope: string;
  readonly edit: E;
  readonly done: () => void;
  readonly close: () => void;
}

export function EditDialog(props: Props): JSX.Element {
  const { edit } = props;
  switch (edit.kind) {
    case 'add':
    case 'append':
      return <AddDialog {...props} edit={edit} />;
    case 'set':
      return <SetDialog {...props} edit={edit} />;
    case 'rename':
      return <RenameDialog {...props} edit={edit} />;
    case 'delete':
      return <DeleteDialog {...props} edit={edit} />;
  }
}

const CHANGED = `'changed meanwhile: look again'`;

/** Code that asks whether a value is what was seen, the variable `before`. No value equals `nan`. */
function isAsSeen(code: string, seen: WireValue): string {
  return Number.isNaN(seen) ? `is_float(${code}) && is_nan(${code})` : `${code} == before`;
}

function AddDialog({
  scope,
  edit: { kind, id, key, type },
  done,
  close,
}: Props<Edit & { kind: 'add' | 'append' }>): JSX.Element {
  const [name, setName] = useState('');
  const [text, setText] = useState<ValueText>({
    type: kind === 'append' && type === 'set' ? 'json' : 'str',
    text: '',
  });
  const value = valueOrNothing(text);
  const deed = (): Deed | null => {
    if (value === undefined) return null;
    if (kind === 'append') {
      const method = type === 'set' ? 'add' : 'push';
      return {
        scope,
        code: `wse(); c = thing(id).get(key); c.${method}(value); nil;`,
        vars: { id, key, value },
      };
    }
    if (name === '') return null;
    const code = `t = thing(id); assert(!t.has(key), 'there is one of that name'); t.set(key, value); nil;`;
    return { scope, code, vars: { id, key: name, value } };
  };
  return (
    <ActionDialog
      title={kind === 'add' ? 'Add a property' : 'Add an item'}
      deed={deed()}
      done={done}
      close={close}
    >
      {kind === 'add' ? (
        <Field label="Name">
          <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </Field>
      ) : null}
      <ValueFields value={text} change={setText} />
      <p class="quiet">A JSON object becomes a thing.</p>
    </ActionDialog>
  );
}

function SetDialog({
  scope,
  edit: { id, key, index },
  done,
  close,
}: Props<Edit & { kind: 'set' }>): JSX.Element {
  const { value: before, error } = useAnswer(`${id} ${key}`, async () => {
    const whole = await wholeValue(scope, id, key);
    return { value: index === null || !Array.isArray(whole) ? whole : (whole[index] ?? null) };
  });
  const [typed, setText] = useState<ValueText | null>(null);
  const text = typed ?? (before === null ? { type: 'str' as const, text: '' } : textOfValue(before.value));
  const value = valueOrNothing(text);
  const deed = (): Deed | null => {
    if (value === undefined || before === null) return null;
    const vars = { id, key, before: before.value, value };
    if (index === null) {
      return {
        scope,
        code: `t = thing(id); v = t.get(key); assert(${isAsSeen('v', before.value)}, ${CHANGED}); t.set(key, value); nil;`,
        vars,
      };
    }
    const code = `wse(); l = thing(id).get(key); v = l[index]; assert(${isAsSeen('v', before.value)}, ${CHANGED}); l.splice(index, 1, value); nil;`;
    return { scope, code, vars: { ...vars, index: BigInt(index) } };
  };
  return (
    <ActionDialog title="Set the value" deed={deed()} done={done} close={close}>
      <Failure error={error} />
      {before === null ? <p class="quiet">Reading …</p> : <ValueFields value={text} change={setText} />}
    </ActionDialog>
  );
}

function RenameDialog({
  scope,
  edit: { id, key },
  done,
  close,
}: Props<Edit & { kind: 'rename' }>): JSX.Element {
  const [name, setName] = useState(key);
  const deed =
    name === '' || name === key
      ? null
      : { scope, code: 'thing(id).ren(key, name); nil;', vars: { id, key, name } };
  return (
    <ActionDialog title="Rename the property" deed={deed} done={done} close={close}>
      <Field label="Name">
        <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </Field>
    </ActionDialog>
  );
}

function DeleteDialog({ scope, edit, done, close }: Props<Edit & { kind: 'delete' }>): JSX.Element {
  const { id, key, index, entry, type } = edit;
  const same = {
    thing: '.id() == before',
    list: '.len() == before',
    set: '.len() == before',
    scalar: '',
    other: '',
  }[entry.kind];
  const isWhole = entry.kind === 'scalar' && entry.size <= 200;
  // The user saw the first part of a long text, and the text of closures and the like.
  const test = (value: string): string =>
    same !== ''
      ? `${value}${same}`
      : isWhole
        ? isAsSeen(value, entry.value)
        : entry.size > 0
          ? `${value}[:200] == before`
          : `str(${value})[:200] == str(before)`;
  const vars: Record<string, WireValue> = { id, key, before: entry.value };
  const deed = (): Deed => {
    if (index === null) {
      return {
        scope,
        code: `t = thing(id); assert(${test('t.get(key)')}, ${CHANGED}); t.del(key); nil;`,
        vars,
      };
    }
    if (type === 'set') {
      return { scope, code: 'wse(); s = thing(id).get(key); s.remove(thing(before)); nil;', vars };
    }
    const code = `wse(); l = thing(id).get(key); assert(${test('l[index]')}, ${CHANGED}); l.splice(index, 1); nil;`;
    return { scope, code, vars: { ...vars, index: BigInt(index) } };
  };
  const what =
    index === null
      ? `The property ${key}, with everything that nothing else refers to.`
      : `Item ${index} of ${key}.`;
  return <ActionDialog title="Delete" what={what} deed={deed()} done={done} close={close} />;
}
