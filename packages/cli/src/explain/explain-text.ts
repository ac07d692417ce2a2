/** The document of an explained run as a table for people. */
import type { DryRun, ExplainedStatement, Explanation } from '@althing/client';
import { sizeText } from '../progress.js';
import { textWidth, visible } from '../shell/text-width.js';

const HEADS = ['ms', 'with calls', 'runs', 'steps', 'in memory', 'from disk', 'heap', 'place', 'statement'];

/** Columns of numbers, which stand to the right. */
const NUMBERS = 7;

/** The statements, the costliest first, what there is to say of them, and the sums. */
export function explainText({ changes, explain, futures, error }: DryRun<unknown>): string {
  if (explain === undefined) return 'the node does not explain runs';
  const { statements, left_off: leftOff = 0 } = explain;
  const lines =
    statements === undefined
      ? ['statements are told to users with QUERY alone, who may read the sources of procedures']
      : tableLines([HEADS, ...statements.map(rowOf)]);
  if (leftOff > 0)
    lines.push(`... and ${leftOff} statements that took less, or are not counted by themselves`);
  const notes = (statements ?? []).flatMap(notesOf);
  const counts = Object.entries(changes).map(([name, count]) => `${name} ${count}`);
  return [
    ...lines,
    ...(notes.length === 0 ? [] : ['', ...notes]),
    '',
    totalText(explain),
    `nothing was changed; it would change ${counts.length === 0 ? 'nothing' : counts.join(', ')}`,
    ...(futures === undefined ? [] : [`futures that were not started: ${futures}`]),
    ...(error === undefined ? [] : [errorText(error)]),
  ].join('\n');
}

/** The same as one line of JSON, without the result of the run. */
export function explainJson(told: DryRun<unknown>): string {
  return JSON.stringify({ ...told, result: undefined });
}

function rowOf(statement: ExplainedStatement): readonly string[] {
  const { ms, runs, steps, from_memory: fromMemory, from_disk: fromDisk, memory, code } = statement;
  return [
    ms.toFixed(3),
    statement.total_ms.toFixed(3),
    String(runs),
    String(steps),
    String(fromMemory),
    String(fromDisk),
    sizeText(memory),
    placeOf(statement),
    visible(code),
  ];
}

function placeOf({ in: name, line, column }: ExplainedStatement): string {
  return `${name === null ? '' : `${visible(name)}:`}${line}:${column}`;
}

/** The changes, index look-ups and hints of a statement, one line each. */
function notesOf(statement: ExplainedStatement): readonly string[] {
  const { changes = {}, indexes = [], hints = [] } = statement;
  const counts = Object.entries(changes).map(([name, count]) => `${name} ${count}`);
  const notes = [
    ...(counts.length === 0 ? [] : [`changed ${counts.join(', ')}`]),
    ...indexes.map(({ type, index, look_ups: lookUps, entries }) =>
      index === '#'
        ? `went over all \`${type}\` by their ids: ${entries} entries, ${lookUps} look-ups`
        : `index \`${index}\` of \`${type}\`: ${entries} entries, ${lookUps} look-ups`,
    ),
    ...hints,
  ];
  return notes.map((note) => `${placeOf(statement)}: ${visible(note)}`);
}

function totalText(explain: Explanation): string {
  const { ms, steps, from_memory: fromMemory, from_disk: fromDisk, records, memory, packing } = explain;
  return [
    `in all ${ms.toFixed(3)} ms, of which ${packing.ms.toFixed(3)} to pack the result`,
    `${steps} steps`,
    `things looked into ${fromMemory} in memory, ${fromDisk} from disk`,
    `${records} records`,
    `heap ${sizeText(memory)}`,
  ].join('; ');
}

function errorText({ name, message, at, in: procedure }: NonNullable<DryRun<unknown>['error']>): string {
  const where = procedure === undefined || procedure === null ? '' : ` of ${visible(procedure)}`;
  const place = at === undefined ? '' : ` (line ${at.line}, column ${at.column}${where})`;
  return `it failed: ${name}: ${visible(message)}${place}`;
}

function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths = HEADS.map((_, i) => Math.max(...rows.map((row) => textWidth(row[i] ?? ''))));
  return rows.map((row) =>
    row
      .map((cell, i) => {
        const blanks = ' '.repeat((widths[i] ?? 0) - textWidth(cell));
        return i < NUMBERS ? blanks + cell : cell + blanks;
      })
      .join('  ')
      .trimEnd(),
  );
}
