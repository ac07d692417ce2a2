import { type Definition, definitionText, type Labels } from '../schema/definition.js';
import type { Structure } from '../schema/structure.js';
import type { Sink } from './walk.js';

/** The packed form of a definition: its text; a nested one is a map, or a list with one. */
export function packDefinition(sink: Sink, definition: Definition, labels: Labels): void {
  const { base } = definition;
  if (base.kind !== 'nested') {
    sink.str(definitionText(definition, labels));
    return;
  }
  if (base.isList) sink.beginArray(1);
  packStructure(sink, base.structure, labels);
  if (base.isList) sink.endArray();
}

/** The packed form of an anonymous type; closures as text. */
export function packStructure(sink: Sink, { idName, fields, methods }: Structure, labels: Labels): void {
  sink.beginMap(fields.length + methods.size + (idName === null ? 0 : 1));
  if (idName !== null) {
    sink.key(idName);
    sink.str('#');
  }
  for (const { name, definition } of fields) {
    sink.key(name);
    packDefinition(sink, definition, labels);
  }
  for (const [name, closure] of methods) {
    sink.key(name);
    sink.str(closure.text);
  }
  sink.endMap();
}
