import { lookupError, operationError, valueError } from '../error.js';
import { PrettyJsonWriter } from '../pack/json-pretty-writer.js';
import { JsonReader } from '../pack/json-reader.js';
import { JSON_NESTING_MAX, JsonWriter } from '../pack/json-writer.js';
import { pack } from '../pack/walk.js';
import { type Entry, func } from '../run/builtin.js';
import { computeIn } from '../run/computed.js';
import { NO_IDS } from '../run/execution.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { isTruthy } from '../value/kinds.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';

/** Reading and writing of JSON. */
export const JSON_TEXT: readonly Entry[] = [
  func('json_load', {
    doc: 'The value of a JSON text: objects become things, arrays lists.',
    params: [p.str('text')],
    run: (rt, text) => {
      const reader = new JsonReader(text, rt.shapes, {
        nestingMax: JSON_NESTING_MAX,
        malformed: valueError,
        tooDeep: operationError,
        loneSurrogate: 'replaced',
        onValues: (count) => rt.charge(PER_VALUE * count),
      });
      rt.charge(text.length);
      const value = reader.value();
      reader.end();
      return value;
    },
  }),
  func('json_dump', {
    doc: 'A value as JSON text; options: deep, flags (NO_IDS), beautify.',
    readsState: true,
    params: [p.any('value'), p.optional(p.thing('options'))],
    run: (rt, value, options) => {
      const { deep, ids, beautify } = optionsOf(rt, options);
      const sink = beautify ? new PrettyJsonWriter() : new JsonWriter();
      pack(value, sink, {
        deep,
        ids,
        store: rt.store,
        compute: computeIn(rt),
        // The size is that of a text, not of a result: checked as the text grows.
        sizeMax: Number.POSITIVE_INFINITY,
        nestingMax: JSON_NESTING_MAX,
        charge: (units) => {
          rt.charge(units);
          if (sink.size > rt.limits.valueBytes) rt.chargeLength(sink.size);
        },
      });
      const text = sink.take();
      rt.chargeLength(text.length);
      return text;
    },
  }),
];

/** Units that one value inside a JSON text is charged with: one step. */
const PER_VALUE = 64;

interface DumpOptions {
  deep: number;
  ids: boolean;
  beautify: boolean;
}

function optionsOf(rt: Runtime, thing: Thing | undefined): DumpOptions {
  const options: DumpOptions = { deep: rt.deep, ids: true, beautify: false };
  if (thing === undefined) return options;
  rt.load(thing);
  for (const [key, value] of thing.entries()) setOption(options, key, value);
  return options;
}

function setOption(options: DumpOptions, key: string, value: Value): void {
  switch (key) {
    case 'deep':
      options.deep = DEEP.accept(value, OPTIONS);
      return;
    case 'flags':
      options.ids = (BigInt(FLAGS.accept(value, OPTIONS)) & BigInt(NO_IDS)) === 0n;
      return;
    case 'beautify':
      options.beautify = isTruthy(value);
      return;
    default:
      throw lookupError(`json_dump() has no option '${key}': it knows deep, flags and beautify`);
  }
}

const DEEP = p.depth('deep');
const FLAGS = p.int('flags');
const OPTIONS: p.Where = { function: 'json_dump', position: 2 };
