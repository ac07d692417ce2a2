/** Questions of clients to a node, past all listeners, and the answers. */
import {
  type FailedReply,
  ORDINARY_TERMS,
  type Reply,
  ROOT_GROUP,
  statusOfReply,
  type Terms,
} from '@althing/node/parts';
import type { Action, Operation } from './history.js';
import type { Process } from './process.js';
import { ADMIN, sessionAskOf } from './workload.js';

/** The name that a client gives to a request, so that it can repeat it. */
export type Key = { readonly key: string; readonly body: string };

export interface Question {
  /** Null: the root scope. */
  readonly collection: string | null;
  readonly code: string;
  readonly key: Key | null;
  /** A name by numbers; not beside a key. */
  readonly name: Terms['name'];
  /** Its purpose: a dry run, or a request about a session in the place of the code. */
  readonly action?: Action;
  /** The user that asks; the administrator by default. */
  readonly user?: string;
}

export type Answer = (
  outcome: Operation['outcome'],
  answer: unknown,
  index: number,
  error: string,
  /** True if something was made, though there is no answer. */
  isMade?: boolean,
) => void;

export function keyOf(id: number): Key {
  return { key: `request ${id}`, body: String(id).padStart(16) };
}

/**
 * The outcome of a change for a client over HTTP when the answer is no value. Where it was made, and only its answer is
 * gone, that is as with one that was never answered: it has taken effect at some time.
 */
function outcomeOf(reply: FailedReply): Operation['outcome'] {
  const { outcome = 'none' } = reply;
  if (statusOfReply(reply).startsWith('503')) return 'failed';
  return outcome === 'none' ? 'failed' : 'unknown';
}

/** Sends a query to the router of a node, as a listener does. */
export function handle(
  process: Process,
  question: Question,
  answer: Answer,
  failed: (reply: FailedReply) => void,
): void {
  const { root, side } = process;
  const { collection, code, key, name, action, user: userName = ADMIN } = question;
  const dryRun = action?.kind === 'dry_run' && (action.explains ? 'explain' : true);
  // A user whose making is not committed may be another one in the end: the guest logs in when that is certain.
  const isCertain = userName === ADMIN || process.session(ROOT_GROUP)?.hasUncommitted === false;
  const user = isCertain ? root?.usersByName.get(userName) : undefined;
  if (user === undefined || side === null) return answer('failed', null, 0, 'not there');
  const respond = (reply: Reply): void => {
    if (reply.ok) {
      answer('ok', JSON.parse(String(reply.result)), reply.index ?? 0, '');
    } else {
      failed(reply);
      const { code: number, message } = reply.error;
      const outcome = outcomeOf(reply);
      const error = `${statusOfReply(reply)} ${message}`;
      answer(outcome, outcome === 'failed' ? number : null, 0, error, reply.outcome === 'made');
    }
  };
  side.router.handle(
    {
      scope: collection === null ? { kind: 'thingsdb' } : { kind: 'collection', name: collection },
      user,
      body:
        action?.kind === 'session'
          ? { type: 'session', ask: sessionAskOf(action, user.password?.salt ?? new Uint8Array()) }
          : { type: 'query', code, vars: null },
      format: 'json',
      client: { gone: false },
      terms: key === null && name === null && !dryRun ? null : { ...ORDINARY_TERMS, key, name, dryRun },
    },
    respond,
  );
}
