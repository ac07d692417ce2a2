import type { Clock } from '../base/clock.js';
import type { GroupId } from '../between/protocol.js';
import type { GroupSession } from '../groups/group-session.js';
import type { Prerequisites } from './request.js';

/** Milliseconds between two looks at whether a change of another group is committed. */
const COMMIT_LOOK_MS = 20;

/**
 * Makes sure that this node has all that was acknowledged in a group that a call looks into besides its own, so that the call may run again.
 *
 * @param session of the group; undefined where it is not open here
 * @param done told whether that is so; false when it could not be confirmed now
 */
export function confirm(
  group: GroupId,
  to: Prerequisites,
  session: Pick<GroupSession, 'readIndex'> | undefined,
  clock: Pick<Clock, 'after'>,
  done: (isConfirmed: boolean) => void,
): void {
  // It has all of that, and lacks that a change is committed which it sees already.
  if (to.isFresh(group)) {
    clock.after(COMMIT_LOOK_MS, () => done(true));
    return;
  }
  const confirmed = (isConfirmed: boolean): void => {
    if (isConfirmed) to.addFresh(group);
    done(isConfirmed);
  };
  if (session === undefined) confirmed(true);
  else session.readIndex(confirmed);
}
