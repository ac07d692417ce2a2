import type { LevelEntry, MemberInfo, NodeEntry, RootGroup } from '@althing/engine';
import type { NodeId } from '../between/protocol.js';
import type { Hello } from './hello.js';
import type { PeerTable } from './peer-table.js';

export interface OverviewOptions {
  readonly self: NodeId;
  /** The state of the root scope; another object after a snapshot. */
  readonly root: () => RootGroup;
  readonly state: () => Pick<Hello, 'status' | 'committed' | 'stored' | 'zone'>;
  readonly peers: Pick<PeerTable, 'isUp' | 'hello' | 'level'>;
  /** Time for which it counts what a member said of its level, in milliseconds. */
  readonly levelHeardMs: number;
}

/** An overview of the members: from the list, from what they said lately, and of itself. */
export class Overview {
  constructor(private readonly options: OverviewOptions) {}

  /** The members as this node sees them, by number, and those that are invited. One that leaves is gone as soon as it can't be reached. */
  entries(): NodeEntry[] {
    const { root, self, peers } = this.options;
    const isThere = ({ nodeId, leaving }: MemberInfo): boolean =>
      !leaving || nodeId === self || peers.isUp(nodeId);
    const members = [...root().members.values()]
      .filter((member) => isThere(member))
      .map((member) => this.entryOf(member));
    const invited = [...root().invitations.values()].map(({ number, host, port }) => ({
      number,
      status: 'OFFLINE',
      committed: 0,
      stored: 0,
      zone: 0,
      name: host,
      port,
      stream: null,
    }));
    return [...members, ...invited].sort((a, b) => a.number - b.number);
  }

  /** The lowest figures of all members that can be reached, this one included. */
  lowest(): Pick<Hello, 'committed' | 'stored'> {
    let { committed, stored } = this.options.state();
    for (const node of this.options.root().members.keys()) {
      const hello = this.options.peers.hello(node);
      if (hello === null) continue;
      committed = Math.min(committed, hello.committed);
      stored = Math.min(stored, hello.stored);
    }
    return { committed, stored };
  }

  /** The level of the cluster, and whom a higher one waits for. */
  level(): LevelEntry {
    const root = this.options.root();
    const { level, knownLevel: known } = root;
    const isBehind = ({ nodeId }: MemberInfo): boolean => (this.levelOf(nodeId) ?? 0) < known;
    const behind = level < known ? [...root.members.values()].filter(isBehind) : [];
    return { level, known, waitsFor: behind.map(({ name }) => name) };
  }

  private entryOf({ nodeId, number, name, host, port }: MemberInfo): NodeEntry {
    const { self, state } = this.options;
    if (nodeId === self) {
      return { number, ...state(), name, port, stream: null };
    }
    const isUp = this.options.peers.isUp(nodeId);
    const hello = this.options.peers.hello(nodeId);
    const status = hello?.status ?? (isUp ? 'CONNECTED' : 'OFFLINE');
    const stream = isUp ? `<node-out:${number}> ${host}:${port}` : null;
    return {
      number,
      status,
      committed: hello?.committed ?? 0,
      stored: hello?.stored ?? 0,
      zone: hello?.zone ?? 0,
      name,
      port,
      stream,
    };
  }

  /** The highest level that a member knows; null when it was not heard of lately. */
  levelOf(node: NodeId): number | null {
    const { self, root, peers, levelHeardMs } = this.options;
    return node === self ? root().knownLevel : peers.level(node, levelHeardMs);
  }
}
