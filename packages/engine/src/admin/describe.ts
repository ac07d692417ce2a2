/** The state of the root scope in words, for comparing states that should be equal. */
import type { RootGroup } from './root-group.js';
import type { WhitelistRule } from './whitelist.js';

/** The users, collections, nodes and modules of the root scope, and its counters, defaults and access. */
export function rootLines(root: RootGroup): string[] {
  const { users, collections, members, invitations, modules } = root;
  const records = [users, collections, members, invitations, modules.byId].flatMap((map) =>
    Array.from<object, string>(map.values(), inWords).sort(),
  );
  const lists = [...users.keys()]
    .sort((a, b) => a - b)
    .flatMap((id) =>
      root.whitelists
        .allOf(id)
        .map(([list, rules]) => `whitelist ${list} of ${id}: ${rules.map(ruleText).join(' ')}`)
        .sort(),
    );
  const sessions = [...root.sessions.all].map(
    ([id, all]) => `sessions of ${id}: ${all.map(inWords).join(' ')}`,
  );
  const feeds = [...root.feedKeeping.all].map(
    ([id, { bytes, seconds }]) => `feed of ${id}: ${bytes} bytes, ${seconds} s`,
  );
  const limits = [...root.userLimits.all].map(([id, limit]) => `limits of ${id}: ${inWords(limit)}`);
  const codes = [...modules.byId.keys()].flatMap((id) => {
    const code = modules.codeOf(id);
    return code === null ? [] : [`code of ${id}: ${Buffer.concat(code).toString('hex')}`];
  });
  const counters = `counters and access ${Buffer.from(root.encodeMeta()).toString('hex')}`;
  return [
    counters,
    ...records,
    ...lists,
    ...sessions.sort(),
    ...limits.sort(),
    ...feeds.sort(),
    ...codes.sort(),
  ];
}

function ruleText(rule: WhitelistRule): string {
  return typeof rule === 'string' ? rule : rule.text;
}

/** A record in words, whatever the order of its fields. */
function inWords(record: object): string {
  return JSON.stringify(
    record,
    function (this: Readonly<Record<string, unknown>>, key: string, value: unknown) {
      // A Buffer has become something else already.
      const given = this[key];
      if (given instanceof Uint8Array) return Buffer.from(given).toString('hex');
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
    },
  );
}
