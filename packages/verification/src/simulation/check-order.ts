/**
 * Checks in linear time (but for sorting). Where it is known at which point of one order an operation took effect, the
 * history is linearizable if that order agrees with real time: if one operation ended before another began, its point
 * must not be later.
 */
import { Anomaly, type Operation, placesIn } from './history.js';

export interface Point {
  readonly operation: Operation;
  /** Place in the order. */
  readonly at: number;
  /** Two changes can't have the same place. */
  readonly isChange: boolean;
}

/** @throws Anomaly */
export function checkRealTime(name: string, points: readonly Point[]): void {
  const byBegin = [...points].sort((left, right) => left.operation.begin - right.operation.begin);
  const byEnd = [...points].sort((left, right) => left.operation.end - right.operation.end);
  let ended = 0;
  /** The latest place of all that ended before, and the latest place of a change among them. */
  let latest: Point | null = null;
  let latestChange: Point | null = null;
  for (const point of byBegin) {
    for (;;) {
      const other = byEnd[ended];
      if (other === undefined || other.operation.end >= point.operation.begin) break;
      if (latest === null || other.at > latest.at) latest = other;
      if (other.isChange && (latestChange === null || other.at > latestChange.at)) latestChange = other;
      ended += 1;
    }
    if (latest !== null && latest.at > point.at) throw new Anomaly(name, outOfOrder(latest, point));
    if (point.isChange && latestChange !== null && latestChange.at >= point.at) {
      throw new Anomaly(name, outOfOrder(latestChange, point));
    }
  }
}

/**
 * Lists to which only unique values are appended: the final list is the order of the changes, and what a read saw tells
 * its place among them.
 *
 * @param final what the list holds in the end
 * @throws Anomaly
 */
export function checkList(list: string, operations: readonly Operation[], final: readonly string[]): void {
  const name = `list ${list}`;
  const places = placesIn(name, final);
  const known = new Set<string>();
  const points: Point[] = [];
  for (const operation of operations) {
    const { action, outcome, answer, id } = operation;
    if (action.kind === 'append_and_fail' && action.list === list) {
      if (places.has(action.value))
        throw new Anomaly(name, `${action.value} of failed operation ${id} is there`);
    } else if (action.kind === 'dry_run' && action.list === list) {
      if (places.has(action.value)) throw new Anomaly(name, `${action.value} of dry run ${id} is there`);
      if (outcome !== 'ok' || (action.explains && isExplainedFailure(answer))) continue;
      const seen = triedListOf(operation, action.value, action.explains);
      checkSeen(name, operation, seen, final);
      points.push({ operation, at: seen.length, isChange: false });
    } else if (action.kind === 'append' && action.lists.includes(list)) {
      known.add(action.value);
      const at = places.get(action.value);
      if (outcome === 'ok') {
        if (at === undefined) throw new Anomaly(name, `${action.value} was acknowledged and is lost`);
        const length = numbersOf(answer)[action.lists.indexOf(list)];
        if (length !== at + 1)
          throw new Anomaly(
            name,
            `${action.value} is at ${at}, but operation ${id} was told the length ${length}`,
          );
        points.push({ operation, at: at + 1, isChange: true });
      } else if (outcome === 'failed' && at !== undefined) {
        throw new Anomaly(name, `${action.value} was refused and is there`);
      }
    } else if (action.kind === 'read' && action.lists.includes(list) && outcome === 'ok') {
      const seen = listsOf(answer)[action.lists.indexOf(list)] ?? [];
      checkSeen(name, operation, seen, final);
      points.push({ operation, at: seen.length, isChange: false });
    }
  }
  const stranger = final.find((value) => !known.has(value));
  if (stranger !== undefined) throw new Anomaly(name, `nobody appended ${stranger}`);
  checkRealTime(name, points);
}

/** Checks that an operation saw the beginning of the list as it is in the end. */
function checkSeen(name: string, { id }: Operation, seen: readonly string[], final: readonly string[]): void {
  const wrong = seen.findIndex((value, at) => final[at] !== value);
  if (wrong < 0) return;
  throw new Anomaly(
    name,
    `operation ${id} read ${seen[wrong]} at ${wrong}, where ${final[wrong]} is in the end`,
  );
}

/** The list that a dry run found, without the value that it appended. */
function triedListOf({ id, answer }: Operation, value: string, isExplained: boolean): readonly string[] {
  const { result = null, changes, explain } = triedIn(answer);
  const [list = []] = listsOf([result]);
  const items = changes?.items ?? 0;
  const isCounted = !isExplained || itemsOf(explain) === items;
  if (list.at(-1) === value && items >= 1 && isCounted) return list.slice(0, -1);
  throw new Anomaly('dry runs', `operation ${id} appended ${value}, and was told ${JSON.stringify(answer)}`);
}

/** The number of items that all statements added to lists. */
function itemsOf(explain: Tried['explain']): number {
  return (explain?.statements ?? []).reduce((sum, { changes }) => sum + (changes?.items ?? 0), 0);
}

function isExplainedFailure(answer: unknown): boolean {
  const { error, explain } = triedIn(answer);
  return error !== undefined && explain !== undefined;
}

/** The answer of a dry run. */
interface Tried {
  readonly result?: unknown;
  readonly changes?: { readonly items?: number };
  readonly explain?: { readonly statements?: readonly { readonly changes?: { readonly items?: number } }[] };
  readonly error?: unknown;
}

function triedIn(answer: unknown): Tried {
  return typeof answer === 'object' && answer !== null ? answer : {};
}

/**
 * Transactions on two lists: what both have in common has the same order in both, and a read sees both or neither.
 *
 * @throws Anomaly
 */
export function checkPair(
  [left, right]: readonly [string, string],
  operations: readonly Operation[],
  finals: readonly [readonly string[], readonly string[]],
): void {
  const name = `lists ${left} and ${right}`;
  const both = new Set<string>();
  for (const { action } of operations) {
    if (action.kind === 'append' && action.lists.includes(left) && action.lists.includes(right))
      both.add(action.value);
  }
  const common = (list: readonly string[]): string[] => list.filter((value) => both.has(value));
  const wanted = common(finals[0]).join();
  const found = common(finals[1]).join();
  if (wanted !== found) throw new Anomaly(name, `their common values are ${wanted} and ${found}`);
  for (const { action, outcome, answer, id } of operations) {
    if (action.kind !== 'read' || outcome !== 'ok') continue;
    const at = [action.lists.indexOf(left), action.lists.indexOf(right)];
    if (at.includes(-1)) continue;
    const [first, second] = at.map((each) => common(listsOf(answer)[each] ?? []).join());
    if (first !== second)
      throw new Anomaly(name, `operation ${id} saw half of a transaction: ${first} and ${second}`);
  }
}

/**
 * A counter that goes up by one.
 *
 * @throws Anomaly
 */
export function checkCounter(operations: readonly Operation[], final: number): void {
  const points: Point[] = [];
  const told = new Set<number>();
  let unknown = 0;
  for (const operation of operations) {
    if (operation.action.kind !== 'increment') continue;
    if (operation.outcome === 'unknown') unknown += 1;
    if (operation.outcome !== 'ok') continue;
    const at = Number(operation.answer);
    if (told.has(at)) throw new Anomaly('counter', `two increments were told ${at}`);
    told.add(at);
    points.push({ operation, at, isChange: true });
  }
  if (final < told.size || final > told.size + unknown) {
    throw new Anomaly('counter', `${final} after ${told.size} increments and ${unknown} of unknown outcome`);
  }
  checkRealTime('counter', points);
}

/**
 * Money moves and stays as much as it was.
 *
 * @throws Anomaly
 */
export function checkBank(operations: readonly Operation[], final: unknown, sum: number): void {
  const sumOf = (answer: unknown): number => numbersOf(answer).reduce((left, right) => left + right, 0);
  for (const { action, outcome, answer, id } of operations) {
    if (action.kind !== 'balances' || outcome !== 'ok') continue;
    if (sumOf(answer) !== sum)
      throw new Anomaly('bank', `operation ${id} saw ${sumOf(answer)} and not ${sum}`);
  }
  if (sumOf(final) !== sum) throw new Anomaly('bank', `${sumOf(final)} is left of ${sum}`);
}

/**
 * The log indexes that came with the answers.
 *
 * @throws Anomaly
 */
export function checkIndexes(operations: readonly Operation[]): void {
  const points: Point[] = [];
  for (const operation of operations) {
    const { outcome, index } = operation;
    // The answer to a repeated change reflects what came after it, too.
    if (outcome === 'ok' && index !== 0) points.push({ operation, at: index, isChange: false });
  }
  checkRealTime('indexes', points);
}

export function numbersOf(answer: unknown): number[] {
  return Array.isArray(answer) ? answer.map(Number) : [Number(answer)];
}

export function listsOf(answer: unknown): string[][] {
  return Array.isArray(answer) ? answer.map((list) => (Array.isArray(list) ? list.map(String) : [])) : [];
}

function outOfOrder(first: Point, second: Point): string {
  return (
    `operation ${first.operation.id} (place ${first.at}) ended at ${first.operation.end}, ` +
    `before operation ${second.operation.id} (place ${second.at}) began at ${second.operation.begin}`
  );
}
