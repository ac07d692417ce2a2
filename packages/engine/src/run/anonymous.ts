/** Anonymous types in code: `&{a: 'int', m: |t| ...}`. */
import type { Entry as AstEntry } from '@althing/language';
import { lookupError } from '../error.js';
import { anonymousOf } from '../schema/structure.js';
import type { Value } from '../value/value.js';
import type { Runtime } from './runtime.js';
import { structureOf } from './structure.js';
import type { Code } from './unit.js';

/** Code of an anonymous type, which is made anew each time it is reached. */
export function anonymousLiteral(rt: Runtime, entries: readonly AstEntry[], codes: readonly Code[]): Code {
  return () => {
    if (rt.store === null) throw lookupError(`anonymous types do not exist in the scope ${rt.scope.name}`);
    const values = entries.map(({ key }, i): [string, Value] => [key, codes[i]!()]);
    return anonymousOf(structureOf(rt, new Map(values), 'anonymous'));
  };
}
