/** One layout for query code. Comments stay: a statement with one inside is left as it is. */
import { parse, prettySource, tokenize } from '@althing/language';

/** @throws LanguageError when the code does not parse */
export function formatted(source: string): string {
  const comments = tokenize(source).tokens.filter(({ kind }) => kind === 'comment');
  const lines: string[] = [];
  let before = 0;
  const addComments = (until: number): void => {
    for (const { start, end } of comments) {
      if (start >= before && end <= until) lines.push(source.slice(start, end));
    }
  };
  for (const statement of parse(source).statements) {
    addComments(statement.start);
    const hasComment = comments.some(({ start, end }) => start >= statement.start && end <= statement.end);
    const text = hasComment ? source.slice(statement.start, statement.end) : prettySource(statement, source);
    lines.push(`${text.replaceAll('\t', '  ')};`);
    before = statement.end;
  }
  addComments(source.length);
  return `${lines.join('\n')}\n`;
}
