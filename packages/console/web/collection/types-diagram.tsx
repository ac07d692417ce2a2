/** Types as boxes, and lines to the types and enums that their properties name. */
import type { JSX } from 'preact';
import type { TypeInfo } from '../state/names.js';
import { Scroll } from '../ui/parts.js';

const WIDTH = 200;
const GAP_X = 70;
const GAP_Y = 22;
const LINE = 17;
const HEAD = 24;
const COLUMNS = 4;
/** Types that are drawn; more are no picture any more. */
const TYPES_MAX = 40;
/** Fields of a type that are drawn. */
const FIELDS_MAX = 12;

interface Box {
  readonly type: TypeInfo;
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

export function TypesDiagram({
  types,
  enums,
}: {
  readonly types: readonly TypeInfo[];
  readonly enums: readonly string[];
}): JSX.Element | null {
  const boxes = placed(types.slice(0, TYPES_MAX));
  const at = new Map(boxes.map((box) => [box.type.name, box]));
  const links = boxes.flatMap((box) =>
    box.type.fields.slice(0, FIELDS_MAX).flatMap(([field, definition], row) => {
      const target = namesIn(definition)
        .map((name) => at.get(name))
        .find((each) => each !== undefined);
      return target === undefined || target === box
        ? []
        : [{ key: `${box.type.name}.${field}`, box, row, target }];
    }),
  );
  const height = Math.max(...boxes.map((box) => box.y + box.height)) + 4;
  return (
    <Scroll label="Types as a diagram">
      <div class="graph types">
        <svg
          viewBox={`-2 -2 ${COLUMNS * WIDTH + (COLUMNS - 1) * GAP_X + 4} ${height}`}
          role="img"
          aria-label={`${boxes.length} types, ${links.length} references between them`}
        >
          {links.map(({ key, box, row, target }) => {
            const y = box.y + HEAD + row * LINE + LINE / 2;
            const isRight = target.x > box.x;
            const [x1, x2] = isRight
              ? [box.x + WIDTH, target.x]
              : [box.x, target.x === box.x ? target.x : target.x + WIDTH];
            const bend = isRight ? GAP_X / 2 : -GAP_X / 2;
            return (
              <path
                key={key}
                class="edge"
                d={`M${x1},${y} C${x1 + bend},${y} ${x2 - (target.x === box.x ? -bend : bend)},${target.y + 12} ${x2},${target.y + 12}`}
              />
            );
          })}
          {boxes.map(({ type, x, y, height: size }) => (
            <g key={type.name}>
              <rect class="dot" x={x} y={y} width={WIDTH} height={size} />
              <text class="name" x={x + 8} y={y + 16}>
                {type.name.slice(0, 24)}
              </text>
              <line class="edge" x1={x} x2={x + WIDTH} y1={y + HEAD - 2} y2={y + HEAD - 2} />
              {type.fields.slice(0, FIELDS_MAX).map(([field, definition], row) => (
                <text key={field} x={x + 8} y={y + HEAD + row * LINE + 13}>
                  {`${field}: ${definition}`.slice(0, 27)}
                  {namesIn(definition).some((name) => enums.includes(name)) ? ' ◦' : ''}
                </text>
              ))}
            </g>
          ))}
        </svg>
      </div>
    </Scroll>
  );
}

/** Columns of about one height, in the order in which the types were made. */
function placed(types: readonly TypeInfo[]): Box[] {
  const heights = Array.from({ length: COLUMNS }, () => 0);
  return types.map((type) => {
    const height = HEAD + Math.min(type.fields.length, FIELDS_MAX) * LINE + 6;
    const column = heights.indexOf(Math.min(...heights));
    const y = heights[column] ?? 0;
    heights[column] = y + height + GAP_Y;
    return { type, x: column * (WIDTH + GAP_X), y, height };
  });
}

/** Names in a definition that may be types: `{Guest}?` has `Guest`. */
function namesIn(definition: string): string[] {
  return /[/<]/.test(definition) && !/^thing</.test(definition)
    ? []
    : (definition.match(/\b[A-Za-z_]\w*/g) ?? []);
}
