/** Figures beside their goals. */
import { table } from '../harness/table.js';

/** A figure beside its goal; both in `unit`. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly value: number;
  /** The largest value that is good; null for a figure without a goal. */
  readonly goal: number | null;
}

export function figure(what: string, unit: string, value: number, goal: number | null = null): Figure {
  return { what, unit, value, goal };
}

export function areGood(figures: readonly Figure[]): boolean {
  return figures.every(({ value, goal }) => goal === null || value <= goal);
}

export function figuresText(title: string, figures: readonly Figure[]): string {
  const text = (value: number, unit: string): string =>
    `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
  return table([
    [title, 'measured', 'goal', ''],
    ...figures.map(({ what, unit, value, goal }) => [
      what,
      text(value, unit),
      goal === null ? '' : text(goal, unit),
      goal === null || value <= goal ? '' : 'missed',
    ]),
  ]);
}
