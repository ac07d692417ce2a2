import {
  isSameRule,
  WHITELIST_PATTERN_MAX,
  WHITELIST_RULES_MAX,
  WHITELISTS,
  type WhitelistName,
  type WhitelistRule,
} from '../admin/whitelist.js';
import { existsError, lookupError, quotaError, valueError } from '../error.js';
import { CHANGES_ROOT, type Entry, func, GRANT } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { assertName } from '../schema/name.js';
import { userByName } from './users.js';

const RULE = p.checked(p.strOrRegex('rule'), checkedRule);

/** Whitelists: procedures that users may run and rooms that they may join by requests. */
export const USER_WHITELISTS: readonly Entry[] = [
  func('whitelist_add', {
    doc: "Adds a rule, a name or a regex, to a user's whitelist 'procedures' or 'rooms'; without rule an empty list, which allows nothing.",
    changes: CHANGES_ROOT,
    needs: GRANT,
    params: [p.str('user'), p.later(p.str('list')), p.optional(p.later(RULE))],
    run: (rt, name, listGiven, ruleGiven) => {
      const { user, list, rules, rule } = read(rt, name, listGiven, ruleGiven);
      if (rule === undefined) {
        if (rules !== undefined) throw existsError(`user '${name}' has a whitelist '${list}' already`);
        rt.editor.setWhitelist(user.id, list, []);
        return null;
      }
      const before = rules ?? [];
      if (before.some((other) => isSameRule(other, rule))) {
        throw existsError(`the whitelist '${list}' of user '${name}' has the rule ${textOf(rule)} already`);
      }
      if (before.length >= WHITELIST_RULES_MAX) {
        throw quotaError(`a whitelist has ${WHITELIST_RULES_MAX} rules at most`);
      }
      rt.editor.setWhitelist(user.id, list, [...before, rule]);
      return null;
    },
  }),
  func('whitelist_del', {
    doc: "Deletes a rule from a user's whitelist 'procedures' or 'rooms'; without rule the whole list, so that everything is allowed.",
    changes: CHANGES_ROOT,
    needs: GRANT,
    params: [p.str('user'), p.later(p.str('list')), p.optional(p.later(RULE))],
    run: (rt, name, listGiven, ruleGiven) => {
      const { user, list, rules, rule } = read(rt, name, listGiven, ruleGiven);
      if (rules === undefined) throw lookupError(`user '${name}' has no whitelist '${list}'`);
      if (rule === undefined) {
        rt.editor.setWhitelist(user.id, list, null);
        return null;
      }
      const left = rules.filter((other) => !isSameRule(other, rule));
      if (left.length === rules.length) {
        throw lookupError(`the whitelist '${list}' of user '${name}' has no rule ${textOf(rule)}`);
      }
      rt.editor.setWhitelist(user.id, list, left);
      return null;
    },
  }),
];

/** The form in which a rule is shown: a name as it is, an expression with its slashes and flags. */
function textOf(rule: WhitelistRule): string {
  return typeof rule === 'string' ? `'${rule}'` : rule.text;
}

/** Reads the arguments, which are checked one after the other. */
function read(
  rt: Runtime,
  name: string,
  listGiven: () => string,
  ruleGiven: (() => WhitelistRule) | undefined,
): {
  readonly user: { readonly id: number };
  readonly list: WhitelistName;
  readonly rules: readonly WhitelistRule[] | undefined;
  readonly rule: WhitelistRule | undefined;
} {
  const user = userByName(rt.root, name);
  const list = listOf(listGiven());
  return { user, list, rules: rt.root.whitelists.of(user.id, list), rule: ruleGiven?.() };
}

function listOf(text: string): WhitelistName {
  const list = WHITELISTS.find((known) => known === text);
  if (list === undefined) throw valueError(`a whitelist is 'procedures' or 'rooms', not '${text}'`);
  return list;
}

function checkedRule(given: WhitelistRule): WhitelistRule {
  if (typeof given === 'string') {
    assertName(given);
  } else if (given.pattern.length > WHITELIST_PATTERN_MAX) {
    throw valueError(`a regex on a whitelist has ${WHITELIST_PATTERN_MAX} characters at most`);
  }
  return given;
}
