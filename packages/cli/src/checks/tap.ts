/** Lines of the Test Anything Protocol. */

/**
 * The lines of a check.
 *
 * @param problem why it failed; null when it did not
 */
export function tapLines(number: number, name: string, problem: string | null): string {
  // A plain `#` begins a directive: readers count a failed check with `# TODO` in its name as none.
  const plain = name.replaceAll(LINE_ENDS, ' ').replaceAll(/[\\#]/g, '\\$&');
  const result = `${problem === null ? 'ok' : 'not ok'} ${number} - ${plain}\n`;
  return problem === null ? result : `${result}  # ${problem.replaceAll(LINE_ENDS, '\n  # ')}\n`;
}

const LINE_ENDS = /\r\n?|\n/g;
