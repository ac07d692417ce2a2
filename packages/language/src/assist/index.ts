/** Help while query code is typed, shared by shell and console: tokens, completion, whether a text goes on, places of errors. */
export { calledNames } from './calls.js';
export {
  type Catalogue,
  COMPLETIONS_MAX,
  type Completion,
  type CompletionKind,
  type Completions,
  complete,
  signature,
} from './complete.js';
export { type Context, contextAt, type EnclosingCall, type Receiver, type Wanted } from './context.js';
export { excerpt, type Place } from './excerpt.js';
export { type FunctionInfo, functionInfoOf } from './function-info.js';
export { isIncomplete } from './incomplete.js';
export { nearest } from './similar.js';
export { FIRST_LINE, type LineState, type Token, type TokenKind, tokenize, tokenizeLine } from './tokens.js';
