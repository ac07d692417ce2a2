/** Troubles of the cluster, in words. */
import type { WireValue } from '@althing/client';
import { at, textAt } from '../state/values.js';

interface Known {
  readonly nodes: readonly WireValue[] | null;
  readonly groups: readonly WireValue[] | null;
}

/** The worst first. */
export function troublesOf({ nodes, groups }: Known): string[] {
  const leaderless = (groups ?? []).filter((group) => at(group, 'leader') === null);
  const away = (nodes ?? []).filter((node) => textAt(node, 'status') === 'OFFLINE');
  const coming = (nodes ?? []).filter((node) => !['READY', 'OFFLINE'].includes(textAt(node, 'status')));
  return [
    ...leaderless.map(
      (group) =>
        `${textAt(group, 'scope')} has no leader: nothing in it can be read or changed until a majority of its nodes is there.`,
    ),
    ...away.map(
      (node) => `Node ${nameOf(node)} is not there. Start it again, or remove it if it is lost for good.`,
    ),
    ...coming.map(
      (node) => `Node ${nameOf(node)} does not serve yet: ${textAt(node, 'status').toLowerCase()}.`,
    ),
  ];
}

function nameOf(node: WireValue): string {
  return `${textAt(node, 'node_id')} (${textAt(node, 'node_name')})`;
}
