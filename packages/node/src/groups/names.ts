import type { ClientRequest, EntryHead, IdempotencyKey, RequestIdentity } from './entry.js';

/** The names by which a request takes effect once, as far as they are known. */
export interface Names {
  readonly request: RequestIdentity | null;
  readonly key: IdempotencyKey | null;
  readonly client: ClientRequest | null;
}

/** The names that a client gave to a request. */
export type ClientNames = Pick<Names, 'key' | 'client'>;

/** True if a change was asked for under one of these names. */
export function isNamed(
  head: EntryHead,
  request: RequestIdentity | null,
  { key, client }: ClientNames,
): boolean {
  const isRequest =
    request !== null &&
    head.request?.sequence === request.sequence &&
    head.request.origin === request.origin &&
    head.request.incarnation === request.incarnation;
  const isKey = key !== null && head.key?.key === key.key && head.key.user === key.user;
  const isClient =
    client !== null &&
    head.client?.sequence === client.sequence &&
    head.client.client === client.client &&
    head.client.user === client.user;
  return isRequest || isKey || isClient;
}
