/** Fields for a value of any type, which comes exactly out of its text. */
import type { WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { type Variable, valueOfText } from '../query/variables.js';
import { TypeChoice, ValueInput } from '../query/variables-form.js';

export type ValueText = Pick<Variable, 'type' | 'text'>;

export function ValueFields({
  value,
  change,
}: {
  readonly value: ValueText;
  readonly change: (value: ValueText) => void;
}): JSX.Element {
  return (
    <div class="row">
      <TypeChoice type={value.type} choose={(type) => change({ ...value, type })} />
      <ValueInput variable={value} change={(text) => change({ ...value, text })} />
    </div>
  );
}

/** Undefined for a text that is no value of its type. */
export function valueOrNothing({ type, text }: ValueText): WireValue | undefined {
  try {
    return valueOfText(type, text);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
