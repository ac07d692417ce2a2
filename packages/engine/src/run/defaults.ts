/** What a property of an instance holds when nothing is given for it. */
import { fromMoment, parsePlace } from '@althing/datetime';
import { compileRegex } from '@althing/regex';
import type { Definition, PlainName } from '../schema/definition.js';
import { Restriction } from '../schema/restriction.js';
import { Closure } from '../value/closure.js';
import { List, ThingSet } from '../value/containers.js';
import { DateTimeValue, withDates } from '../value/datetime-value.js';
import { RegexValue } from '../value/regex-value.js';
import { Room } from '../value/room.js';
import { Bytes, ErrorValue, Float } from '../value/scalars.js';
import { Task } from '../value/task.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { makeInstance } from './instance.js';
import type { Runtime } from './runtime.js';

/** The default of a definition: a value of its own each time. */
export function defaultOf(rt: Runtime, { base, nillable, hasDefault }: Definition): Value {
  if (nillable && !hasDefault) return null;
  switch (base.kind) {
    case 'plain':
      return plainDefault(rt, base.name);
    case 'type':
      return makeInstance(rt, rt.schema.type(base.id), []);
    case 'enum': {
      const of = rt.schema.enum(base.id);
      return base.member === null ? of.default : of.member(base.member);
    }
    case 'int':
    case 'bool':
    case 'form':
    case 'pattern':
      return base.initial;
    case 'float':
      return new Float(base.initial);
    case 'str':
      if (base.initial !== null) return base.initial;
      rt.chargeLength(base.min);
      return '-'.repeat(base.min);
    case 'list':
      return new List([]);
    case 'set':
      return new ThingSet();
    case 'restricted':
      return new Thing(0, rt.shapes.empty(new Restriction(base.item, rt.schema)), []);
    case 'nested':
      return null;
  }
}

/** Whether the default is the same for all and forever, and refers to no thing or member. */
export function isFixedDefault({ base, nillable, hasDefault }: Definition): boolean {
  if (nillable && !hasDefault) return true;
  switch (base.kind) {
    case 'plain':
      return base.name !== 'thing' && base.name !== 'room' && base.name !== 'task';
    case 'type':
    case 'enum':
    case 'restricted':
      return false;
    default:
      return true;
  }
}

function plainDefault(rt: Runtime, name: PlainName): Value {
  switch (name) {
    case 'any':
    case 'enum':
      return null;
    case 'str':
    case 'utf8':
    case 'raw':
    case 'email':
    case 'url':
    case 'tel':
      return '';
    case 'bytes':
      return new Bytes(new Uint8Array(0));
    case 'bool':
      return false;
    case 'int':
    case 'uint':
    case 'number':
      return 0;
    case 'pint':
      return 1;
    case 'nint':
      return -1;
    case 'float':
      return new Float(0);
    case 'datetime':
    case 'timeval':
      return withDates(
        () => new DateTimeValue(fromMoment(name, rt.seconds(), parsePlace(rt.scope.timeZone))),
      );
    case 'regex':
      return new RegexValue('.*', '', compileRegex('.*', ''));
    case 'closure':
      return new Closure('|| nil', null);
    case 'error':
      return new ErrorValue(-100, '');
    case 'thing':
      return new Thing(0, rt.shapes.empty(), []);
    case 'room':
      return new Room();
    case 'task':
      return new Task(0, null);
  }
}
