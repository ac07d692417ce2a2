import { operationError } from '../error.js';
import { JSON_NESTING_MAX, JsonWriter } from '../pack/json-writer.js';
import { pack } from '../pack/walk.js';
import { type Entry, func } from '../run/builtin.js';
import { computeIn } from '../run/computed.js';
import { NO_IDS } from '../run/execution.js';
import * as p from '../run/params.js';

/** Answers of any size: a line for each value. */
export const LINES: readonly Entry[] = [
  func('out', {
    doc: 'Writes a value as a line of the answer, in a snapshot read whose client asked for lines.',
    params: [p.any('value')],
    readsState: true,
    run: (rt, value) => {
      const { outlet } = rt;
      if (outlet?.line === undefined) {
        throw operationError('out() is for snapshot reads over HTTP with `Accept: application/x-ndjson`');
      }
      const writer = new JsonWriter();
      pack(value, writer, {
        deep: rt.deep,
        ids: (rt.flags & NO_IDS) === 0,
        store: rt.store,
        sizeMax: rt.limits.resultBytes,
        nestingMax: JSON_NESTING_MAX,
        charge: (units) => rt.charge(units),
        compute: computeIn(rt),
      });
      outlet.line(writer.take());
      return null;
    },
  }),
];
