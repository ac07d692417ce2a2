/** A thing, what it refers to, and what refers to it, as a picture. The table beside it says the same. */
import type { JSX } from 'preact';
import { linkTo } from '../state/route.js';
import { ask } from '../state/session.js';
import { itemsOf } from '../state/values.js';
import { Failure, Scroll, useAnswer } from '../ui/parts.js';
import { type Reference, referencesTo } from './thing-queries.js';

interface Dot {
  readonly id: bigint;
  readonly type: string;
  readonly x: number;
  readonly y: number;
}

interface Line {
  readonly from: bigint;
  readonly to: bigint;
  readonly key: string;
}

/** Things that one thing refers to, as far as they are drawn. */
const BRANCHES_MAX = 12;
const COLUMN = 230;
const ROW = 34;

/** References of things: of each its id, and `[key, id, type]` of what it refers to by properties, lists and sets. */
const CODE = `ids.map(|id| {
  t = thing(id); out = [];
  t.keys()[:40].each(|k| {
    v = t.get(k);
    if (is_thing(v)) out.push([k, v.id(), type(v)])
    else if (is_set(v) || is_list(v)) { n = 0; for (m in v) { if (n >= 4) break; if (is_thing(m)) out.push([k, m.id(), type(m)]); n += 1; }; };
  });
  [id, type(t), out[:max]]
});`;

export function Graph({
  name,
  scope,
  id,
}: {
  readonly name: string;
  readonly scope: string;
  readonly id: bigint;
}): JSX.Element {
  const { value, error } = useAnswer(`graph ${scope} ${id}`, () => drawing(scope, id));
  if (value === null) return <Failure error={error} />;
  const { dots, lines, height } = value;
  const at = new Map(dots.map((dot) => [dot.id, dot]));
  return (
    <Scroll label="Things as a graph">
      <div class="graph">
        <svg
          viewBox={`0 0 ${COLUMN * 4} ${height}`}
          role="img"
          aria-label={`${dots.length} things around #${id}`}
        >
          {lines.map(({ from, to, key }) => {
            const [a, b] = [at.get(from), at.get(to)];
            if (a === undefined || b === undefined) return null;
            const middle = (a.x + b.x) / 2;
            return (
              <g key={`${from} ${to} ${key}`}>
                <path
                  class="edge"
                  d={`M${a.x + 62},${a.y} C${middle + 20},${a.y} ${middle - 10},${b.y} ${b.x - 62},${b.y}`}
                />
                <text class="small" x={(a.x + b.x) / 2} y={(a.y + b.y) / 2 - 3}>
                  {key.slice(0, 16)}
                </text>
              </g>
            );
          })}
          {dots.map((dot) => (
            <a key={String(dot.id)} href={linkTo(['c', name, 'data', dot.id])}>
              <rect
                class={dot.id === id ? 'dot here' : 'dot'}
                x={dot.x - 62}
                y={dot.y - 11}
                width="124"
                height="22"
              />
              <text x={dot.x} y={dot.y + 4}>
                {`${dot.type.slice(0, 11)} #${dot.id}`}
              </text>
            </a>
          ))}
        </svg>
      </div>
    </Scroll>
  );
}

async function drawing(scope: string, id: bigint): Promise<{ dots: Dot[]; lines: Line[]; height: number }> {
  const [own, parents] = await Promise.all([branches(scope, [id]), referencesTo(scope, id).catch(() => [])]);
  const first = own.flatMap(({ to }) => to);
  const second = await branches(scope, [...new Set(first.map((each) => each.id))].slice(0, BRANCHES_MAX));
  const columns: {
    readonly x: number;
    readonly things: readonly { readonly id: bigint; readonly type: string }[];
  }[] = [
    { x: 1, things: [{ id, type: own[0]?.type ?? '' }] },
    { x: 2, things: first },
    {
      x: 0,
      things: parents
        .slice(0, BRANCHES_MAX)
        .map(({ parent, parentType }: Reference) => ({ id: parent, type: parentType })),
    },
    { x: 3, things: second.flatMap(({ to }) => to) },
  ];
  // Each thing once: what it refers to counts for more than what refers to it.
  const seen = new Set<bigint>();
  const placed = columns.map(({ x, things }) => ({
    x,
    things: things.filter((each) => {
      const isNew = !seen.has(each.id);
      seen.add(each.id);
      return isNew;
    }),
  }));
  const height = Math.max(3, ...placed.map(({ things }) => things.length)) * ROW + 16;
  const dots = placed.flatMap(({ x, things }) =>
    things.map((each, row) => ({
      ...each,
      x: COLUMN * (x + 0.5),
      y: (height / (things.length + 1)) * (row + 1),
    })),
  );
  const lines = [
    ...parents.map(({ parent, key }) => ({ from: parent, to: id, key })),
    ...[...own, ...second].flatMap((each) => each.to.map(({ key, id: to }) => ({ from: each.id, to, key }))),
  ];
  // What is drawn leads to the right; a reference back would cross everything.
  const column = new Map(dots.map((dot) => [dot.id, dot.x]));
  return {
    dots,
    lines: lines.filter(({ from, to }) => (column.get(from) ?? 0) < (column.get(to) ?? 0)),
    height,
  };
}

interface Branches {
  readonly id: bigint;
  readonly type: string;
  readonly to: readonly { readonly key: string; readonly id: bigint; readonly type: string }[];
}

async function branches(scope: string, ids: readonly bigint[]): Promise<Branches[]> {
  const found = itemsOf(await ask(scope, CODE, { ids, max: BigInt(BRANCHES_MAX) }));
  return found.map((each): Branches => {
    const [id, type, to] = itemsOf(each);
    return {
      id: typeof id === 'bigint' ? id : 0n,
      type: String(type),
      to: itemsOf(to).flatMap((item) => {
        const [key, target, kind] = itemsOf(item);
        return typeof target === 'bigint' ? [{ key: String(key), id: target, type: String(kind) }] : [];
      }),
    };
  });
}
