/** A chart of some series over the last hour, with marks, and its numbers as a table. */
import type { JSX } from 'preact';
import { Scroll } from '../ui/parts.js';

export interface Series {
  readonly name: string;
  /** A value for each time; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

export interface ChartMark {
  /** Unix seconds. */
  readonly at: number;
  readonly kind: string;
  readonly text: string;
}

interface Props {
  readonly title: string;
  /** Unix seconds. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly marks: readonly ChartMark[];
  readonly text: (value: number) => string;
}

const WIDTH = 420;
const HEIGHT = 96;
const HOUR = 3600;
/** The shortest time that is drawn, in seconds. */
const LEAST = 120;
/** Rows of the table: the newest. */
const ROWS_MAX = 24;

export function Chart({ title, times, series, marks, text }: Props): JSX.Element {
  const end = times.at(-1) ?? 0;
  // A node that was just started fills the chart all the same.
  const start = Math.max(end - HOUR, Math.min(times[0] ?? 0, end - LEAST));
  const max = Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const x = (time: number): number => ((time - start) / Math.max(1, end - start)) * WIDTH;
  const y = (value: number): number => HEIGHT - (max === 0 ? 0 : (value / max) * (HEIGHT - 6));
  const latest = series
    .map(({ name, values }) => `${name} ${textOf(values.at(-1) ?? null, text)}`)
    .join(', ');
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        <span class="quiet num">up to {text(max)}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 2}`}
        role="img"
        aria-label={`${title}: ${latest}`}
        preserveAspectRatio="none"
      >
        <line class="floor" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
        {marks
          .filter(({ at }) => at >= start)
          .map(({ at, kind, text: what }) => (
            <line key={`${at} ${what}`} class={`event ${kind}`} x1={x(at)} x2={x(at)} y1="0" y2={HEIGHT}>
              <title>{what}</title>
            </line>
          ))}
        {series.map(({ name, values }, i) => {
          const { line, dots } = pathsOf(times, values, x, y);
          return (
            <g key={name}>
              <path class={`line line-${i}`} d={line} />
              <path class={`line line-${i} dots`} d={dots} />
            </g>
          );
        })}
      </svg>
      <ul class="legend">
        {series.map(({ name, values }, i) => (
          <li key={name}>
            <svg width="18" height="8" aria-hidden="true">
              <path class={`line line-${i}`} d="M0,4 L18,4" />
            </svg>
            {name} <span class="num">{textOf(values.at(-1) ?? null, text)}</span>
          </li>
        ))}
      </ul>
      <details>
        <summary>
          Numbers<span class="hidden-text"> of {title}</span>
        </summary>
        <Scroll label={`Numbers of ${title}`}>
          <table>
            <thead>
              <tr>
                <th>time</th>
                {series.map(({ name }) => (
                  <th key={name} class="end">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times
                .map((time, i) => ({ time, i }))
                .slice(-ROWS_MAX)
                .reverse()
                .map(({ time, i }) => (
                  <tr key={time}>
                    <td>{new Date(time * 1000).toISOString().slice(11, 19)}</td>
                    {series.map(({ name, values }) => (
                      <td key={name} class="end">
                        {textOf(values[i] ?? null, text)}
                      </td>
                    ))}
                  </tr>
                ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </figure>
  );
}

function textOf(value: number | null, text: (value: number) => string): string {
  return value === null ? '–' : text(value);
}

/** Where nothing is known, the line is broken; a value without one beside it is a dot: a line without length, with round ends. */
export function pathsOf(
  times: readonly number[],
  values: readonly (number | null)[],
  x: (time: number) => number,
  y: (value: number) => number,
): { readonly line: string; readonly dots: string } {
  let [line, dots] = ['', ''];
  const isKnown = (i: number): boolean => (values[i] ?? null) !== null;
  for (const [i, time] of times.entries()) {
    const value = values[i] ?? null;
    if (value === null) continue;
    const place = `${x(time).toFixed(1)},${y(value).toFixed(1)}`;
    if (isKnown(i - 1)) line += `L${place}`;
    else if (isKnown(i + 1)) line += `M${place}`;
    else dots += `M${place}h0`;
  }
  return { line, dots };
}
