/** A dialog made of data: its fields, and the query that what is given in them makes. */
import type { WireValue } from '@althing/client';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { CodeEditor } from '../query/editor.js';
import { ActionDialog } from './action.js';
import type { Deed } from './deed.js';
import { Field } from './parts.js';
import { ValueFields, type ValueText, valueOrNothing } from './value-fields.js';

export interface FormField {
  readonly key: string;
  readonly label: string;
  /** A line of text unless it says otherwise. A value has a type; code is checked while it is typed. */
  readonly kind?: 'secret' | 'lines' | 'value' | 'code' | 'choice';
  /** The first content. */
  readonly start?: string | ValueText;
  /** The values of a choice, each with the text that is shown for it. */
  readonly options?: readonly (readonly [given: string, shown: string])[];
  /** Whether nothing needs to be given. */
  readonly isOptional?: boolean;
}

/** The content of the fields of a form. */
export interface Given {
  text(key: string): string;
  /** Undefined for a text that is no value of the chosen type. */
  value(key: string): WireValue | undefined;
}

export interface Form {
  /** Says what is done; the button says the same. */
  readonly title: string;
  readonly what?: string;
  readonly fields?: readonly FormField[];
  /** Null for what can't be done. Not asked while a field that must be filled in is empty. */
  readonly deed: (given: Given) => Deed | null;
  /** A name to type first: what it does can't be taken back. */
  readonly typed?: string;
  /** Shows what the query gave. */
  readonly show?: (value: WireValue) => ComponentChildren;
  /** Called when it is done, besides what the page does. */
  readonly done?: (given: Given) => void;
}

interface Props {
  readonly form: Form;
  readonly done: () => void;
  readonly close: () => void;
}

function FormDialog({ form, done, close }: Props): JSX.Element {
  const { title, what, fields = [], typed, show } = form;
  const [texts, setTexts] = useState<ReadonlyMap<string, ValueText>>(
    () => new Map(fields.map(({ key, start = '', options }) => [key, startOf(start, options)])),
  );
  const given = givenOf(texts);
  const isFilled = fields.every(
    ({ key, kind, isOptional }) => isOptional || kind === 'value' || given.text(key) !== '',
  );
  const deed = isFilled ? form.deed(given) : null;
  return (
    <ActionDialog
      title={title}
      deed={deed}
      done={() => {
        done();
        form.done?.(given);
      }}
      close={close}
      {...(what === undefined ? {} : { what })}
      {...(typed === undefined ? {} : { typed })}
      {...(show === undefined ? {} : { show })}
    >
      {fields.map((field) => (
        <FieldOf
          key={field.key}
          field={field}
          value={texts.get(field.key) ?? startOf('')}
          change={(next) => setTexts((before) => new Map(before).set(field.key, next))}
        />
      ))}
    </ActionDialog>
  );
}

/**
 * The form that a page has open.
 *
 * @param done what the page does when a form was carried out
 * @returns what opens a form, and the dialog while one is open
 */
export function useForm(done: () => void): readonly [open: (form: Form) => void, dialog: JSX.Element | null] {
  const [form, set] = useState<Form | null>(null);
  const dialog =
    form === null ? null : <FormDialog key={form.title} form={form} done={done} close={() => set(null)} />;
  return [set, dialog];
}

function startOf(start: string | ValueText, options: FormField['options'] = []): ValueText {
  if (typeof start !== 'string') return start;
  return { type: 'str', text: start === '' ? (options[0]?.[0] ?? '') : start };
}

function givenOf(texts: ReadonlyMap<string, ValueText>): Given {
  return {
    text: (key) => texts.get(key)?.text ?? '',
    value: (key) => valueOrNothing(texts.get(key) ?? startOf('')),
  };
}

interface FieldProps {
  readonly field: FormField;
  readonly value: ValueText;
  readonly change: (value: ValueText) => void;
}

function FieldOf({ field: { key, label, kind, options = [] }, value, change }: FieldProps): JSX.Element {
  const type = (text: string): void => change({ ...value, text });
  if (kind === 'value') {
    return (
      <fieldset class="argument">
        <legend>{label}</legend>
        <ValueFields value={value} change={change} />
      </fieldset>
    );
  }
  if (kind === 'code') {
    return (
      <div class="stack">
        <span class="quiet">{label}</span>
        <CodeEditor
          id={key}
          text={value.text}
          scope={() => '@collection'}
          changed={type}
          run={() => {}}
          small
        />
      </div>
    );
  }
  const common = { value: value.text, autoComplete: 'off', spellcheck: false };
  return (
    <Field label={label}>
      {kind === 'lines' ? (
        <textarea rows={7} {...common} onInput={(event) => type(event.currentTarget.value)} />
      ) : kind === 'choice' ? (
        <select value={value.text} onChange={(event) => type(event.currentTarget.value)}>
          {options.map(([each, shown]) => (
            <option key={each} value={each}>
              {shown}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          {...(kind === 'secret' ? { type: 'password', autoComplete: 'new-password' } : {})}
          onInput={(event) => type(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
