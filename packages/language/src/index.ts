/** The door of the package: text to tree, static analysis, and tree to text. */
export { analyse } from './analyse.js';
export type * from './analysis.js';
export * from './assist/index.js';
export type * from './ast.js';
export { compactSource } from './compact.js';
export { LanguageError, positionOf } from './error.js';
export { CHARACTERS_PER_LOOK, NESTING_MAX, type Watch } from './limits.js';
export { parse, parseClosure } from './parse.js';
export { closureDoc, prettySource, quoteStr, shapeOf } from './pretty.js';
export { placesInDefinition } from './same-place.js';
