import { readFileSync } from 'node:fs';

/** An example of a page: one query, or a time that passes. */
export interface Example {
  readonly code: string;
  /** The text behind `//`: the answer in JSON, `error NAME` or `error NAME: MESSAGE`; undefined for nothing. */
  readonly answer: string | undefined;
  readonly scope: 'collection' | 'thingsdb';
}

/**
 * The examples of a page in `docs/`, in their order: those in blocks of `js`. Lines that begin with a blank or a closing bracket belong
 * to the query before them. Blocks of `js @thingsdb` run there.
 *
 * @param isPasted whether each block is one query, with the answer of its last line, unless time passes in it
 */
export function examplesOf(page: string, isPasted: boolean): Example[] {
  const text = readFileSync(new URL(`../../../../docs/${page}`, import.meta.url), 'utf8');
  return [...text.matchAll(/```js([^\n]*)\n([\s\S]*?)```/g)].flatMap(([, how = '', block = '']) =>
    queriesOf(block, isPasted).map((query) => {
      const at = query.indexOf(' // ', isPasted ? query.lastIndexOf('\n') : 0);
      const [code, answer] = at < 0 ? [query] : [query.slice(0, at), query.slice(at + 4)];
      return {
        code,
        answer,
        scope: how.includes('@thingsdb') ? 'thingsdb' : 'collection',
      };
    }),
  );
}

function queriesOf(block: string, isPasted: boolean): string[] {
  if (isPasted && !block.includes('minutes later')) return [block.trim()];
  return block.trim().split(/\n(?![\s)\]}])/);
}
