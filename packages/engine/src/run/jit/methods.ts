/** Calls of methods in the second tier. */
import type { Link, Node } from '@althing/language';
import { List } from '../../value/containers.js';
import { Tag } from '../../value/tag.js';
import { callMethod } from '../chain.js';
import { argumentTaker, assertUnlocked } from '../dispatch.js';
import type { Translator } from './index.js';
import { isQuiet } from './instance.js';

/**
 * The call of a method on what an expression gives.
 *
 * @param receiver code of the expression
 */
export function methodCall(
  translator: Translator,
  receiver: string,
  link: Extract<Link, { kind: 'method' }>,
): string {
  const { name, args } = link;
  const { source, rt } = translator;
  const call = source.constant(
    callMethod(
      rt,
      name,
      args.map((arg) => translator.argument(arg)),
      translator.around.place(link),
    ),
  );
  return appendCall(translator, receiver, name, args, call) ?? `${call}(${receiver})`;
}

/**
 * A method of lists that takes one value as it is, like `push`, in place. It holds no lock, since the evaluation of its argument runs
 * no code of users, which alone could meet it; null where it does.
 */
function appendCall(
  translator: Translator,
  receiver: string,
  name: string,
  args: readonly Node[],
  otherwise: string,
): string | null {
  const { source, rt, rtName } = translator;
  const entry = rt.functions.method(name)?.[Tag.LIST];
  const [only, ...others] = args;
  if (entry === undefined || entry.runOne === null || entry.lock !== 'write' || entry.params.length > 0)
    return null;
  if (only === undefined || others.length > 0 || !isQuietArgument(only)) return null;
  const { mark } = source;
  const list = source.temp();
  const { code, kind } = translator.expression(only);
  source.release(mark);
  const isPlain = kind !== 'any' || only.kind === 'thing';
  const value = isPlain ? code : `${source.constant(argumentTaker(rt, entry, 0))}(${code})`;
  const isList = `(${list} = ${receiver}) instanceof ${source.constant(List)} && !${list}.tuple`;
  const run = `${source.constant(entry.runOne)}(${rtName}, ${list}, ${value})`;
  const check = `${source.constant(assertUnlocked)}(${rtName}, ${list})`;
  return `(${isList} ? (${check}, ${run}) : ${otherwise}(${list}))`;
}

/** True if evaluating an argument runs no code of users. */
function isQuietArgument(node: Node): boolean {
  const entries = node.kind === 'thing' ? node.entries : node.kind === 'instance' ? node.thing.entries : null;
  if (entries === null) return isQuiet(node);
  return entries.every(({ value }) => value === null || isQuietArgument(value));
}
