/** The variables of a query: a row each, with type and value, or all of them as JSON. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { VARIABLE_TYPES, type Variable, valueOfText, variablesOfJson } from './variables.js';

interface Props {
  readonly variables: readonly Variable[];
  readonly change: (variables: readonly Variable[]) => void;
}

export function VariablesForm({ variables, change }: Props): JSX.Element {
  const [json, setJson] = useState<string | null>(null);
  const [mistake, fail] = useState('');
  const set = (index: number, part: Partial<Variable>): void =>
    change(variables.map((each, i) => (i === index ? { ...each, ...part } : each)));
  const takeJson = (text: string): void => {
    setJson(text);
    try {
      change(variablesOfJson(text));
      fail('');
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      fail(error.message);
    }
  };
  return (
    <details class="variables" open={variables.length > 0}>
      <summary>Variables{variables.length === 0 ? '' : ` (${variables.length})`}</summary>
      {json === null ? (
        variables.map((variable, i) => (
          <div class="row variable" key={i}>
            <input
              aria-label="Name"
              placeholder="name"
              value={variable.name}
              onInput={(event) => set(i, { name: event.currentTarget.value })}
            />
            <TypeChoice type={variable.type} choose={(type) => set(i, { type })} />
            <ValueInput variable={variable} change={(text) => set(i, { text })} />
            <button
              type="button"
              class="plain"
              aria-label={`Remove ${variable.name}`}
              onClick={() => change(variables.filter((_, at) => at !== i))}
            >
              ✕
            </button>
          </div>
        ))
      ) : (
        <textarea
          aria-label="Variables as JSON"
          rows={4}
          placeholder={'{"name": "Ann", "age": 31}'}
          value={json}
          onInput={(event) => takeJson(event.currentTarget.value)}
        />
      )}
      {mistake === '' ? null : <p class="notice bad">{mistake}</p>}
      <div class="row">
        {json === null ? (
          <button
            type="button"
            class="plain"
            onClick={() => change([...variables, { name: '', type: 'str', text: '' }])}
          >
            Add a variable
          </button>
        ) : null}
        <button type="button" class="plain" onClick={() => setJson(json === null ? '' : null)}>
          {json === null ? 'As JSON' : 'As rows'}
        </button>
      </div>
    </details>
  );
}

export function TypeChoice({
  type,
  choose,
}: {
  readonly type: Variable['type'];
  readonly choose: (type: Variable['type']) => void;
}): JSX.Element {
  return (
    <select
      aria-label="Type"
      value={type}
      onChange={(event) => choose(VARIABLE_TYPES.find((each) => each === event.currentTarget.value) ?? 'str')}
    >
      {VARIABLE_TYPES.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}

export function ValueInput({
  variable,
  change,
}: {
  readonly variable: Pick<Variable, 'type' | 'text'>;
  readonly change: (text: string) => void;
}): JSX.Element {
  const { type, text } = variable;
  let mistake = '';
  try {
    valueOfText(type, text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    mistake = text === '' ? '' : error.message;
  }
  if (type === 'nil') return <span class="quiet grow">nil</span>;
  const common = {
    'aria-label': 'Value',
    class: 'grow',
    value: text,
    title: mistake,
    'aria-invalid': mistake !== '',
  };
  return type === 'json' || text.includes('\n') ? (
    <textarea {...common} rows={3} onInput={(event) => change(event.currentTarget.value)} />
  ) : (
    <input {...common} placeholder="value" onInput={(event) => change(event.currentTarget.value)} />
  );
}
