import { bootstrap, LEVEL_FIRST, type PasswordHash, type RootGroup } from '@althing/engine';
import type { ClusterRecord } from '../../between/cluster-record.js';
import { DEFAULT_PASSWORD } from '../../config/index.js';
import type { GroupSession } from '../../groups/group-session.js';
import type { Respond } from '../../groups/request.js';
import type { PasswordHasher } from '../../requests/password.js';

export interface BootstrapOptions {
  readonly root: RootGroup;
  readonly session: GroupSession;
  readonly founders: ClusterRecord['founders'];
  /** Makes the hash of the first user's password, if it is needed. */
  readonly hash: () => Promise<PasswordHash>;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  /** Resolves when a condition holds. */
  readonly until: (condition: () => boolean) => Promise<void>;
}

/**
 * Makes the first change of a new cluster, if this node comes to lead its root group; else waits for it.
 *
 * @returns whether this node made it
 */
export async function bootstrapCluster(options: BootstrapOptions): Promise<boolean> {
  const { root, session, until } = options;
  await until(() => session.leading || root.users.size > 0);
  if (root.users.size > 0) return false;
  const hash = await options.hash();
  for (;;) {
    await until(() => session.leading || root.users.size > 0);
    if (root.users.size > 0) return false;
    // When it fails, another node leads now: then that one makes the change, or has it already.
    const reply = await new Promise<Parameters<Respond>[0]>((resolve) =>
      proposeBootstrap(options, hash, resolve),
    );
    if (reply.ok) return true;
  }
}

/** Proposes the first change of a cluster: its first user and its members. */
function proposeBootstrap(
  { root, session, founders, now }: BootstrapOptions,
  password: PasswordHash,
  respond: Respond,
): void {
  const members = (founders ?? []).map((founder, number) => ({ ...founder, number, leaving: false }));
  // The others have not said which level they know yet: it is raised once they have.
  const level = members.length === 1 ? root.knownLevel : LEVEL_FIRST;
  const change = bootstrap(root, Math.floor(now() / 1000), password, members, level);
  const collectionEvents = root.collectionEvents.splice(0);
  session.propose({ ...change, collectionEvents }, { ok: true, result: '' }, (reply) => {
    if (reply.ok) root.confirmLevel();
    respond(reply);
  });
}

/** True if everybody can guess the password of the first user. */
export async function hasDefaultPassword(root: RootGroup, hasher: PasswordHasher): Promise<boolean> {
  const admin = root.usersByName.get('admin');
  if (admin === undefined || admin.password === null) return false;
  return hasher.verifyOwn(DEFAULT_PASSWORD, admin.password);
}
