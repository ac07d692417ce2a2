import type { Change } from '@althing/engine';
import { type Membership, NO_MEMBERS } from 'raft-ts';
import type { NodeId } from '../between/protocol.js';
import type { Respond } from '../groups/request.js';

/** The session of the root group, as far as the members need it. */
export interface RootSession {
  readonly leading: boolean;
  /** The node that leads, as far as this one knows; 0 for none. */
  readonly leader: NodeId;
  readonly membership: Membership;
  readonly hasUncommitted: boolean;
  /** Null when a change may be made now. */
  refusal(): unknown;
  propose(change: Change, reply: { readonly ok: true; readonly result: '' }, respond: Respond): void;
}

/** Stands for the root session before it is open. */
export const NOT_OPEN: RootSession = {
  leading: false,
  leader: 0,
  membership: NO_MEMBERS,
  hasUncommitted: false,
  refusal: () => 'the root group is not open yet',
  propose() {
    throw new Error('the root group is not open yet');
  },
};
