/** Why two nodes got no connection, in words. */
import type { DialOutcome } from './dial.js';
import { FrameError } from './frame.js';
import type { RefusedGreeting } from './greeting.js';
import { GreetingFormatError, Refusal } from './greeting-format.js';
import type { PeerLogCause } from './refusal-log.js';

/** A connection that came to nothing. */
export type Missed = Exclude<DialOutcome, { readonly kind: 'open' }>;

/** The words for it; a cause only where a person can do something about it. */
export interface MissText {
  readonly cause: PeerLogCause | null;
  readonly message: string;
}

export function missText(outcome: Missed): MissText {
  if (outcome.kind === 'refused') return refusalText(outcome.refused);
  const { error, stage } = outcome;
  if (error instanceof FrameError || error instanceof GreetingFormatError) {
    const message = `what answers there is no node of this cluster: ${error.message}`;
    return { cause: 'garbage', message };
  }
  if (stage === 'connect' && isTlsProblem(error)) {
    return { cause: 'tls', message: `no connection by the TLS of this cluster: ${error.message}` };
  }
  return { cause: 'unreachable', message: `the node can not be reached: ${plainText(error)}` };
}

/** An error without a text has a code. */
export function plainText(error: Error): string {
  return error.message || codeOf(error);
}

/** The text about a difference between two nodes, the same on either side; null for a refusal of another kind. */
export function mismatchText(
  who: string,
  { code, versions }: Pick<RefusedGreeting, 'code' | 'versions'>,
): { readonly cause: PeerLogCause; readonly message: string } | null {
  switch (code) {
    case Refusal.Version:
      return {
        cause: 'version',
        message: `${who} speaks the protocol versions ${versions.min} to ${versions.max} only, which this node does not: upgrade the older of the two`,
      };
    case Refusal.WrongSecret:
      return { cause: 'wrong_secret', message: `${who} has another cluster_secret than this one` };
    case Refusal.OtherCluster:
      return { cause: 'other_cluster', message: `${who} belongs to another cluster` };
    default:
      return null;
  }
}

/** The meaning of a refusal for the node that dialled. */
function refusalText({ code, versions, identity }: RefusedGreeting): MissText {
  const who = identity === null ? 'the node there' : `"${identity.name}"`;
  const mismatch = mismatchText(who, { code, versions });
  if (mismatch !== null) return mismatch;
  switch (code) {
    case Refusal.Removed:
      return { cause: 'removed', message: `${who} says that this node was removed from the cluster` };
    case Refusal.Superseded:
      return { cause: 'superseded', message: `${who} knows a newer process of this node` };
    case Refusal.Self:
      return { cause: 'wrong_node', message: 'this node itself answers where another one should' };
    case Refusal.NoCluster:
      return { cause: null, message: `${who} is in no cluster yet` };
    case Refusal.Busy:
      return { cause: null, message: `${who} has too much to do` };
    case Refusal.NeedsTls:
      return { cause: null, message: `${who} wants an encrypted connection` };
    default:
      return { cause: null, message: `${who} refuses, for reason ${code}` };
  }
}

function isTlsProblem(error: Error): boolean {
  return /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(codeOf(error));
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
