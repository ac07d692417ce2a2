/** Default values of properties of instances. */
import { fromMoment, parsePlace } from '@althing/datetime';
import { compileRegex } from '@althing/regex';
import type { Catalog } from '../schema/catalog.js';
import type { Definition, PlainName } from '../schema/definition.js';
import { Restriction } from '../schema/restriction.js';
import { Closure } from '../value/closure.js';
import { List, ThingSet } from '../value/containers.js';
import { DateTimeValue, withDates } from '../value/datetime-value.js';
import { RegexValue } from '../value/regex-value.js';
import { Room } from '../value/room.js';
import { Bytes, ErrorValue, Float } from '../value/scalars.js';
import type { ShapeTree } from '../value/shape.js';
import { Task } from '../value/task.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';

/** Surroundings in which defaults are made. */
export interface DefaultContext {
  readonly schema: Catalog;
  readonly shapes: ShapeTree;
  readonly scope: { readonly timeZone: string };
  /** Unix seconds. */
  seconds(): number;
  chargeLength(length: number): void;
}

/**
 * The default of a definition: a value of its own each time.
 *
 * @param instanceOf makes an instance of a type, by its id
 */
export function defaultValue<Context extends DefaultContext>(
  context: Context,
  { base, nillable, hasDefault }: Definition,
  instanceOf: (context: Context, type: number) => Value,
): Value {
  if (nillable && !hasDefault) return null;
  switch (base.kind) {
    case 'plain':
      return plainDefault(context, base.name);
    case 'type':
      return instanceOf(context, base.id);
    case 'enum': {
      const of = context.schema.enum(base.id);
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
      context.chargeLength(base.min);
      return '-'.repeat(base.min);
    case 'list':
      return new List([]);
    case 'set':
      return new ThingSet();
    case 'restricted':
      return new Thing(0, context.shapes.empty(new Restriction(base.item, context.schema)), []);
    case 'nested':
      return null;
  }
}

function plainDefault(context: DefaultContext, name: PlainName): Value {
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
        () => new DateTimeValue(fromMoment(name, context.seconds(), parsePlace(context.scope.timeZone))),
      );
    case 'regex':
      return new RegexValue('.*', '', compileRegex('.*', ''));
    case 'closure':
      return new Closure('|| nil', null);
    case 'error':
      return new ErrorValue(-100, '');
    case 'thing':
      return new Thing(0, context.shapes.empty(), []);
    case 'room':
      return new Room();
    case 'task':
      return new Task(0, null);
  }
}
