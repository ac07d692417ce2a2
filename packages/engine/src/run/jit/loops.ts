/** Loops in the second tier. */
import type { For, Node } from '@althing/language';
import { typeError } from '../../error.js';
import { List, share, ThingSet } from '../../value/containers.js';
import { Thing } from '../../value/thing.js';
import { typeName, type Value } from '../../value/value.js';
import { lockForReading, unlockReading } from '../dispatch.js';
import { makeRoom, walkMark } from '../room.js';
import type { Runtime } from '../runtime.js';
import type { Translator } from './index.js';

/** @param isLast whether the value of the loop counts */
export function loopText(translator: Translator, node: For, isLast: boolean): string {
  const { source, rt, rtName } = translator;
  const { mark } = source;
  const [container, items, length, index] = [source.temp(), source.temp(), source.temp(), source.temp()];
  const begun = source.temp();
  const cells = node.names.map((name) => rt.symbols.cell(name));
  const { code: iterable, counts } = iterableOf(translator, node.iterable);
  const isCount = `typeof ${container} === "number"`;
  const save = cells.map((cell) => translator.save(cell)).join('');
  const [first, second, ...others] = cells.map((cell) => source.constant(cell));
  const itemsOf = source.constant(itemsToIterate);
  const secondOf = source.constant(secondVariable);
  const lock = source.constant(lockForReading);
  const unlock = source.constant(unlockReading);
  const label = source.label();
  translator.loops.push(label);
  const body = translator.statement(node.body, false);
  translator.loops.pop();
  source.release(mark);
  return `${container} = ${iterable};
${items} = ${counts ? `${isCount} ? null : ` : ''}${itemsOf}(${rtName}, ${container});
${length} = ${counts ? `${isCount} ? ${container} : ` : ''}${items}.length;
if (${length} !== 0) {
${lock}(${container});
${begun} = ${source.constant(walkMark)}(${rtName});
try {
${save}
${others.map((name) => `${name}.value = null;`).join('')}
${label}: for (${index} = 0; ${index} < ${length}; ${index}++) {
${first}.value = ${counts ? `${isCount} ? ${index} : ` : ''}${items}[${index}];
${second === undefined ? '' : `${second}.value = ${secondOf}(${container}, ${items}, ${index});`}
if (--${rtName}.steps < 0) ${rtName}.check();
if (${rtName}.isFull) ${source.constant(makeRoom)}(${rtName}, ${begun});
${body}
}
} finally {
${unlock}(${container});
}
}${isLast ? ` else return ${container};\nreturn null;` : ''}`;
}

/** The source of a loop: a function that only counts, as most loops do, needs no list. */
function iterableOf(translator: Translator, node: Node): { readonly code: string; readonly counts: boolean } {
  const { source } = translator;
  const counts = node.kind === 'call' ? translator.around.rt.functions.function(node.name)?.counts : null;
  const [only, ...others] = node.kind === 'call' ? node.args : [];
  if (counts === null || counts === undefined || only === undefined || others.length > 0) {
    return { code: translator.expression(node).code, counts: false };
  }
  const { code } = translator.expression(only);
  return { code: `${source.constant(counts)}(${translator.rtName}, ${code})`, counts: true };
}

function itemsToIterate(rt: Runtime, container: Value): readonly Value[] {
  if (container instanceof List) {
    rt.chargeFill(container);
    return container.items;
  }
  if (container instanceof ThingSet) {
    rt.chargeFill(container);
    return Array.from(container.members);
  }
  if (!(container instanceof Thing)) throw typeError(`cannot iterate over ${typeName(container)}`);
  rt.load(container);
  return Array.from(container.shape.index.keys());
}

/** The second variable of a loop: the index, the id of a thing in a set, or the value of a property. */
function secondVariable(
  container: number | List | ThingSet | Thing,
  items: readonly Value[],
  index: number,
): Value {
  if (typeof container === 'number' || container instanceof List) return index;
  const item = items[index] as Value;
  if (item instanceof Thing) return item.id === 0 ? null : item.id;
  const value = container instanceof Thing && typeof item === 'string' ? container.get(item) : undefined;
  if (value === undefined) throw new Error('what is iterated is locked and stays as it is');
  share(value);
  return value;
}
