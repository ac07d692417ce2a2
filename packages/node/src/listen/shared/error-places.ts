/**
 * Where an error came from, as answers tell it: `at` is the innermost place, `in` the procedure, method or property whose text it is in,
 * when it is not the text of the query, and `calls` where that was called, the innermost first.
 */
import { type MsgpackWriter, type QueryError, quote, type ToldPlace, toldPlaces } from '@althing/engine';

/** The keys that `writePlaces` writes. */
export function placeKeys(error: QueryError): number {
  const [first, ...calls] = toldPlaces(error);
  if (first === undefined) return 0;
  return 1 + (first.in === null ? 0 : 1) + (calls.length === 0 ? 0 : 1);
}

/** Writes keys with values into a map that was begun. */
export function writePlaces(out: MsgpackWriter, error: QueryError): void {
  const [first, ...calls] = toldPlaces(error);
  if (first === undefined) return;
  out.key('at');
  out.beginMap(4);
  writeNumbers(out, first);
  writeCallee(out, first);
  if (calls.length === 0) return;
  out.key('calls');
  out.beginArray(calls.length);
  for (const call of calls) {
    out.beginMap(call.in === null ? 4 : 5);
    writeNumbers(out, call);
    writeCallee(out, call);
  }
}

/** The same for JSON, with a comma in front of each key. */
export function placesJson(error: QueryError): string {
  const [first, ...calls] = toldPlaces(error);
  if (first === undefined) return '';
  const more = calls.map((call) => `{${numbersJson(call)}${calleeJson(call)}}`);
  const chain = calls.length === 0 ? '' : `,"calls":[${more.join(',')}]`;
  return `,"at":{${numbersJson(first)}}${calleeJson(first)}${chain}`;
}

function writeNumbers(out: MsgpackWriter, { line, column, offset, length }: ToldPlace): void {
  out.key('line');
  out.int(line);
  out.key('column');
  out.int(column);
  out.key('offset');
  out.int(offset);
  out.key('length');
  out.int(length);
}

function writeCallee(out: MsgpackWriter, { in: callee }: ToldPlace): void {
  if (callee === null) return;
  out.key('in');
  out.str(callee);
}

function numbersJson({ line, column, offset, length }: ToldPlace): string {
  return `"line":${line},"column":${column},"offset":${offset},"length":${length}`;
}

function calleeJson({ in: callee }: ToldPlace): string {
  return callee === null ? '' : `,"in":${quote(callee)}`;
}
