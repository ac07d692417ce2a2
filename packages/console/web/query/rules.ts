/** Decides if a text may change something, by the same analysis that the node makes, with its table of functions. */
import {
  analyse,
  type CallRule,
  type FunctionInfo,
  LanguageError,
  parse,
  type Rules,
} from '@althing/language';

/** A mistake in a text, and its place in UTF-16 units. */
export interface Mistake {
  readonly message: string;
  readonly offset: number;
}

export type Verdict =
  | { readonly kind: 'empty' }
  | { readonly kind: 'mistake'; readonly mistake: Mistake }
  | { readonly kind: 'reads' }
  | { readonly kind: 'changes' };

export function verdictOn(code: string, scope: string, rules: Rules): Verdict {
  if (code.trim() === '') return { kind: 'empty' };
  try {
    const { changes } = analyse(parse(code), rules);
    // Functions that change what a node does make no change of any state that is kept.
    const isChange =
      scope === '@thingsdb' ? changes.thingsdb : !scope.startsWith('@node') && changes.collection;
    return { kind: isChange ? 'changes' : 'reads' };
  } catch (error) {
    if (!(error instanceof LanguageError)) throw error;
    return { kind: 'mistake', mistake: { message: error.reason, offset: error.offset } };
  }
}

/** Functions with a part in the analysis. */
const ROLES: ReadonlyMap<string, CallRule['role']> = new Map([
  ['nse', 'nse'],
  ['future', 'later'],
  ['then', 'later'],
  ['else', 'later'],
]);

export function rulesOf(functions: readonly FunctionInfo[]): Rules {
  const rules = { functions: new Map<string, CallRule>(), methods: new Map<string, CallRule>() };
  for (const info of functions) {
    const of = info.on === null ? rules.functions : rules.methods;
    // Methods count by name alone: one that changes, on whatever type, decides for all of that name.
    if (!of.has(info.name) || info.changes !== null) of.set(info.name, ruleOf(info));
  }
  return {
    func: (name) => rules.functions.get(name),
    method: (name) => rules.methods.get(name),
    // The node says it; nothing here runs them.
    checkRegex: () => null,
  };
}

function ruleOf({ name, changes, scopes }: FunctionInfo): CallRule {
  const isEverywhere = scopes.includes('collection') && scopes.includes('thingsdb');
  const where = isEverywhere ? 'both' : scopes.includes('thingsdb') ? 'thingsdb' : 'collection';
  return {
    changes: changes === null ? 'none' : changes === 'yes' ? where : 'collection',
    nse: changes === 'modifies' || changes === 'modifies stored',
    unlessDirect: changes === 'modifies stored',
    pure: false,
    role: ROLES.get(name),
  };
}
