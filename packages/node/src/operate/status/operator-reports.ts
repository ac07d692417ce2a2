import { Privilege, type RootGroup } from '@althing/engine';
import type { Command } from '../../between/protocol.js';

type Root = Pick<RootGroup, 'accessVersion' | 'users' | 'allows'>;

/** Tells the consensus thread which tokens there are of users with CHANGE on `@node`, when that changes. See `operators.ts`. */
export class OperatorReports {
  private told = -1;

  constructor(
    private readonly root: () => Root,
    private readonly send: (command: Command) => void,
  ) {}

  /** To be called several times a second. */
  consider(): void {
    const root = this.root();
    if (root.accessVersion === this.told) return;
    this.told = root.accessVersion;
    const users = [...root.users.values()].filter(({ id }) => root.allows('node', id, Privilege.CHANGE));
    const tokens = users.flatMap(({ name, tokens: own }) =>
      own.map(({ hash, expiresAt }) => ({ user: name, hash, expiresAt })),
    );
    this.send({ kind: 'operators', tokens });
  }
}
