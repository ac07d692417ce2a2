/**
 * Whitelists: which procedures a user may run and which rooms it may join by requests. A user has none, one, or both lists;
 * without a list everything is allowed, with an empty one nothing.
 *
 *   whitelist := count:varint rule*
 *   rule      := 00 name:text                   exactly this name
 *              | 01 pattern:text flags:text     whatever the regular expression is found in
 */

import { compileRegex } from '@althing/regex';
import { type ByteReader, type ByteWriter, FormatError } from '../bytes.js';
import { getOrInsertComputed } from '../get-or-insert.js';
import { RegexValue } from '../value/regex-value.js';

/** The lists, in the order of information functions; the position of a list is its number in effects and records. */
export const WHITELISTS = ['rooms', 'procedures'] as const;

export type WhitelistName = (typeof WHITELISTS)[number];

/** A name that is allowed, or an expression that is searched in names. */
export type WhitelistRule = string | RegexValue;

/** Most rules of one list. */
export const WHITELIST_RULES_MAX = 1000;

/** Most characters of a regular expression that is a rule. */
export const WHITELIST_PATTERN_MAX = 1000;

/** The whitelists of all users, by the user's id. */
export class Whitelists {
  private readonly users = new Map<number, Map<WhitelistName, readonly WhitelistRule[]>>();

  clear(): void {
    this.users.clear();
  }

  /** Sets a whitelist of a user; null removes it. */
  set(userId: number, list: WhitelistName, rules: readonly WhitelistRule[] | null): void {
    const lists = getOrInsertComputed(this.users, userId, () => new Map());
    if (rules !== null) lists.set(list, rules);
    else lists.delete(list);
    if (lists.size === 0) this.users.delete(userId);
  }

  /** A whitelist of a user; undefined when it has none, and everything is allowed. */
  of(userId: number, list: WhitelistName): readonly WhitelistRule[] | undefined {
    return this.users.get(userId)?.get(list);
  }

  allOf(userId: number): (readonly [WhitelistName, readonly WhitelistRule[]])[] {
    return [...(this.users.get(userId) ?? [])];
  }
}

/** The number of a list in effects and records. */
export function whitelistNumber(list: WhitelistName): number {
  return WHITELISTS.indexOf(list);
}

/** @throws FormatError */
export function whitelistOfNumber(number: number): WhitelistName {
  const list = WHITELISTS[number];
  if (list === undefined) throw new FormatError(`there is no whitelist ${number}`);
  return list;
}

export function writeWhitelist(out: ByteWriter, rules: readonly WhitelistRule[]): void {
  out.list(rules, (rule) => {
    out.u8(typeof rule === 'string' ? 0 : 1);
    out.text(typeof rule === 'string' ? rule : rule.pattern);
    if (typeof rule !== 'string') out.text(rule.flags);
  });
}

/** @throws FormatError */
export function readWhitelist(input: ByteReader): readonly WhitelistRule[] {
  return input.list(() => readRule(input));
}

function readRule(input: ByteReader): WhitelistRule {
  const kind = input.u8();
  if (kind === 0) return input.text();
  if (kind !== 1) throw new FormatError(`unknown kind of rule ${kind}`);
  const pattern = input.text();
  const flags = input.text();
  return new RegexValue(pattern, flags, compileRegex(pattern, flags));
}

/** True if two rules are the same: the same name, or the same pattern with the same flags. */
export function isSameRule(a: WhitelistRule, b: WhitelistRule): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b;
  return a.pattern === b.pattern && a.flags === b.flags;
}

/**
 * True if a list allows a name; null as name is that of what has none, which no rule fits.
 *
 * @throws QueryError operation_err when an expression takes too many steps
 */
export function isListed(rules: readonly WhitelistRule[], name: string | null): boolean {
  if (name === null) return false;
  return rules.some((rule) => (typeof rule === 'string' ? rule === name : rule.matches(name)));
}
