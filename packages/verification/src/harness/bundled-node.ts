/**
 * The package `@althing/node` from the bundle: a process that starts nodes loads a few files in place of five hundred, and so does the
 * thread of each node.
 */
const cli = new URL('../../../cli/', import.meta.url);
const { isBundleCurrent } = await import(`${cli}bin/bundled.js`);

export const { loadConfig, StartError, startNode }: typeof import('@althing/node') = await import(
  isBundleCurrent() ? `${cli}bundle/node.js` : '@althing/node'
);
