/** Rules of the built-in functions for the analysis of a text, which decides whether a query makes a change. */
import type { CallRule, ChangeScopes, Rules, Watch } from '@althing/language';
import { compileRegex, RegexSyntaxError } from '@althing/regex';
import { type Entry, In } from './builtin.js';
import type { FunctionTable } from './table.js';

export function rulesOf(functions: FunctionTable): Rules {
  const functionRules = new Map<string, CallRule>();
  const methodRules = new Map<string, CallRule>();
  for (const entry of functions.entries) {
    const rules = entry.on === null ? functionRules : methodRules;
    const { changes } = entry;
    const pure = !entry.readsState && entry.in === In.ALL && changes === null;
    // Methods count by name alone: one that changes, on whatever type, decides for all of that name.
    if (!rules.has(entry.name) || changes !== null) rules.set(entry.name, callRule(entry, pure));
  }
  return {
    func: (name) => functionRules.get(name),
    method: (name) => methodRules.get(name),
    checkRegex: (body, flags) => wordsOrReason(body, flags).reason,
  };
}

/**
 * The rules for one text that somebody sends: all of its regular expressions together are bounded, since they are compiled
 * before anything runs, and so before there is a limit of time.
 */
export function rulesForText(rules: Rules, watch: Watch): Rules {
  let left = REGEX_WORDS_MAX;
  const { func, method } = rules;
  return {
    func,
    method,
    watch,
    checkRegex(body, flags) {
      const { words, reason } = wordsOrReason(body, flags);
      left -= words;
      return left < 0 ? 'with it the regular expressions of this text are too large together' : reason;
    },
  };
}

/** Words that all regular expressions of a text may compile to: twice those of the largest single one. */
const REGEX_WORDS_MAX = 524_288;

function wordsOrReason(
  body: string,
  flags: string,
): { readonly words: number; readonly reason: string | null } {
  try {
    return { words: compileRegex(body, flags).size, reason: null };
  } catch (error) {
    if (error instanceof RegexSyntaxError) return { words: 0, reason: error.message };
    throw error;
  }
}

function callRule({ changes, role }: Entry, pure: boolean): CallRule {
  return {
    role,
    changes: changes === null ? 'none' : (CHANGE_SCOPES[changes.scopes & In.DATA] ?? 'none'),
    nse: changes?.nse ?? false,
    unlessDirect: changes?.unlessDirect ?? false,
    pure,
  };
}

/** Names of the sets of scopes, by the bits of `In`. */
const CHANGE_SCOPES: readonly ChangeScopes[] = ['none', 'collection', 'thingsdb', 'both'];
