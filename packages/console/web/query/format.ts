/** One layout for query code. Comments stay: a statement with one inside is left as it is. */
import { LanguageError, type Program, parse, prettySource, tokenize } from '@althing/language';

/** Null for code that does not parse. */
export function formatted(source: string): string | null {
  const program = parsed(source);
  return program === null ? null : printed(program, source);
}

function parsed(source: string): Program | null {
  try {
    return parse(source);
  } catch (error) {
    if (error instanceof LanguageError) return null;
    throw error;
  }
}

function printed(program: Program, source: string): string {
  const comments = tokenize(source).tokens.filter(({ kind }) => kind === 'comment');
  const lines: string[] = [];
  let before = 0;
  const addComments = (until: number): void => {
    for (const { start, end } of comments) {
      if (start >= before && end <= until) lines.push(source.slice(start, end));
    }
  };
  for (const statement of program.statements) {
    addComments(statement.start);
    const hasComment = comments.some(({ start, end }) => start >= statement.start && end <= statement.end);
    const text = hasComment ? source.slice(statement.start, statement.end) : prettySource(statement, source);
    lines.push(`${text.replaceAll('\t', '  ')};`);
    before = statement.end;
  }
  addComments(source.length);
  return `${lines.join('\n')}\n`;
}
