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
 */
export function examplesOf(page: string): Example[] {
  const text = readFileSync(new URL(`../../../../docs/${page}`, import.meta.url), 'utf8');
  return [...text.matchAll(/```js([^\n]*)\n([\s\S]*?)```/g)].flatMap(([, how = '', block = '']) =>
    queriesOf(block).map((query) => {
      const [code = '', answer] = query.split(/ \/\/ (.*)$/s);
      return {
        code,
        answer,
        scope: how.includes('@thingsdb') ? 'thingsdb' : 'collection',
      };
    }),
  );
}

function queriesOf(block: string): string[] {
  return block.trim().split(/\n(?![\s)\]}])/);
}
