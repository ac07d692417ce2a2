import { createHmac, randomBytes } from 'node:crypto';
import type { Config } from '../../config/index.js';
import type { RequestBody } from '../../groups/request.js';
import { scopeText } from '../../requests/checks.js';
import type { SlowReports, SlowRun } from '../../requests/slow-reports.js';
import { headOf } from '../../requests/text-head.js';
import type { Logger } from '../../telemetry/logger.js';

/** Characters of its hash. */
const HASH_LENGTH = 12;

/**
 * Tells the log of requests whose own code ran long, and not of those that had to wait for them. Texts are known by a hash that is the
 * same for one text until the node starts again; a key that nobody has makes sure that none can be guessed from it.
 *
 * @param config says above how many milliseconds a request is told of; 0 for none at all
 */
export function slowReports(log: Logger, config: Pick<Config, 'slowRequestMs'>): SlowReports {
  const key = randomBytes(16);
  const hashOf = (text: string): string =>
    createHmac('sha256', key).update(text).digest('hex').slice(0, HASH_LENGTH);
  return {
    aboveMs: () => config.slowRequestMs || Number.POSITIVE_INFINITY,
    report: ({ request: { id, user, scope, body }, ranMs, waitedMs, coldReads }: SlowRun) => {
      const times = { ran_ms: Math.round(ranMs), waited_ms: Math.round(waitedMs), things_read: coldReads };
      const who = { request: id, user: user.name, scope: scopeText(scope) };
      const fields = { event: 'slow_request', ...who, ...whatOf(body, hashOf), ...times };
      log.warn(fields, 'the code of a request ran long');
    },
  };
}

function whatOf(body: RequestBody, hashOf: (text: string) => string): Record<string, string | number> {
  if (body.type === 'run') return { procedure: body.name };
  if (body.type !== 'query') return { kind: body.type };
  const { code } = body;
  return { characters: code.length, hash: hashOf(code), head: headOf(code) };
}
