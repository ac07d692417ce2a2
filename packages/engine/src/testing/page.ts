import { readFileSync } from 'node:fs';

/** The lines of all examples in `js` of a page in `docs/`, in their order: code, and often what it answers behind `//`. */
export function exampleLines(page: string): string[] {
  const text = readFileSync(new URL(`../../../../docs/${page}`, import.meta.url), 'utf8');
  return [...text.matchAll(/```js\n([\s\S]*?)```/g)].flatMap(([, code = '']) => code.trim().split('\n'));
}
