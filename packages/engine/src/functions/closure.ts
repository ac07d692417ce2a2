import { closureDoc, parseClosure } from '@althing/language';
import { type Entry, method, type Receiver, variadicMethod } from '../run/builtin.js';
import { chargeParse } from '../run/charge.js';
import { callClosure } from '../run/invoke.js';
import * as p from '../run/params.js';
import type { Closure } from '../value/closure.js';
import { Tag } from '../value/tag.js';

const CLOSURE_RECEIVER: Receiver<Closure> = { tags: [Tag.CLOSURE] };

/** Methods of closures. */
export const CLOSURE: readonly Entry[] = [
  method(CLOSURE_RECEIVER, 'doc', {
    doc: 'The string that the body of the closure begins with.',
    run: (rt, closure) => {
      chargeParse(rt, closure.source);
      return closureDoc(parseClosure(closure.source));
    },
  }),
  variadicMethod(CLOSURE_RECEIVER, 'call', {
    doc: 'Calls the closure; arguments beyond its parameters are not evaluated.',
    rest: p.lazy('argument'),
    run: callClosure,
  }),
];
