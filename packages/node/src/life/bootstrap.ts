import { bootstrap, type PasswordHash, type RootGroup } from '@althing/engine';
import type { PasswordHasher } from '../auth/password.js';
import type { ClusterRecord } from '../cluster/cluster-record.js';
import type { Respond } from '../request.js';
import type { GroupSession } from '../scopes/group-session.js';

/** Password of a fresh installation that was given none. */
export const DEFAULT_PASSWORD = 'pass';

export interface BootstrapOptions {
  readonly root: RootGroup;
  /** The session of the root group. */
  readonly session: GroupSession;
  readonly founders: ClusterRecord['founders'];
  /** Of the first user. */
  readonly password: string;
  readonly hasher: PasswordHasher;
  /** Resolves when a condition holds. */
  readonly until: (condition: () => boolean) => Promise<void>;
}

/** Makes the first change of a new cluster, if this node comes to lead its root group; else waits for it. */
export async function bootstrapCluster(options: BootstrapOptions): Promise<void> {
  const { root, session, password, hasher, until } = options;
  await until(() => session.leading || root.users.size > 0);
  if (root.users.size > 0) return;
  const hash = await hasher.hash(password);
  for (;;) {
    await until(() => session.leading || root.users.size > 0);
    if (root.users.size > 0) return;
    // When it fails, another node leads now: then that one makes the change, or has it already.
    const reply = await new Promise<Parameters<Respond>[0]>((resolve) =>
      proposeBootstrap(options, hash, Date.now(), resolve),
    );
    if (reply.ok) return;
  }
}

/**
 * Proposes the first change of a cluster: its first user and its members.
 *
 * @param nowMs the wall clock
 */
export function proposeBootstrap(
  { root, session, founders }: Pick<BootstrapOptions, 'root' | 'session' | 'founders'>,
  password: PasswordHash,
  nowMs: number,
  respond: Respond,
): void {
  const members = (founders ?? []).map((founder, number) => ({ ...founder, number, leaving: false }));
  const change = bootstrap(root, Math.floor(nowMs / 1000), password, members);
  const collectionEvents = root.collectionEvents.splice(0);
  session.propose({ ...change, collectionEvents }, { ok: true, result: '' }, respond);
}

/** Whether everybody can guess the password of the first user. */
export async function hasDefaultPassword(root: RootGroup, hasher: PasswordHasher): Promise<boolean> {
  const admin = root.usersByName.get('admin');
  if (admin === undefined || admin.password === null) return false;
  return hasher.verify(DEFAULT_PASSWORD, admin.password);
}
