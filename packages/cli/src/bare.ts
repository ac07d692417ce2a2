/** `althing` without a command: a prompt, where there is somebody to type and a node to ask. */
import { connect, QueryError } from '@althing/client';
import { Command } from 'commander';
import { resolveSettings, urlsOf } from './client-settings/resolve.js';
import { addConnectionOptions } from './connection.js';
import { UsageError } from './input.js';
import type { Io } from './io.js';
import { tlsOf } from './tls.js';

/** Time for a node to answer, in milliseconds. */
const PROBE_MS = 1000;

/** True if `althing` alone is the shell. */
export async function opensShell(io: Io): Promise<boolean> {
  if (io.stdin.isTTY !== true || Reflect.get(io.stdout, 'isTTY') !== true) return false;
  try {
    const settings = resolveSettings(addConnectionOptions(new Command()), io);
    const urls = urlsOf(settings);
    for (const url of urls) {
      url.username = '';
      url.password = '';
    }
    const options = { tls: tlsOf(settings), timeoutMs: PROBE_MS, attemptsMax: urls.length };
    return await isThere(
      connect(
        urls.map(({ href }) => href),
        options,
      ),
    );
  } catch (error) {
    // The command that needs the settings says it when they are wrong.
    if (error instanceof UsageError) return false;
    throw error;
  }
}

/** True if a node answers, if only that it wants to know who asks. */
async function isThere(db: ReturnType<typeof connect>): Promise<boolean> {
  try {
    await db.$node().query('1;');
    return true;
  } catch (error) {
    return error instanceof QueryError;
  } finally {
    await db.$close();
  }
}
