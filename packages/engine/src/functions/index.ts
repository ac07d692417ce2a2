import { CLOSURE } from './closure.js';
import { COLLECTIONS } from './collections.js';
import { CONVERSION } from './conversion.js';
import { CORE } from './core.js';
import type { Entry } from './define.js';
import { PROCEDURES } from './procedures.js';
import { USERS } from './users.js';

/** The entries of all built-in functions and methods. */
export function builtIns(): readonly Entry[] {
  return [...CORE, ...CONVERSION, ...CLOSURE, ...USERS, ...COLLECTIONS, ...PROCEDURES];
}
