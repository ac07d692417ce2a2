/** A server of ThingsDB beside this node: the same requests over its HTTP API. */
import { freePorts, type RealNode } from '@althing/node/testing';
import { startNode } from '../../harness/start-node.js';

/** The program that serves, from `ALTHING_BENCH_THINGSDB`; undefined where none is named. */
export function thingsDbProgram(): string | undefined {
  const named = process.env.ALTHING_BENCH_THINGSDB;
  return named === undefined || named === '' ? undefined : named;
}

/**
 * Starts one with a new store.
 *
 * @throws {Error} with its last words when it does not get ready
 */
export async function startThingsDb(program: string, storage: string): Promise<RealNode> {
  const [clientPort = 0] = await freePorts(1);
  return startNode({
    storage,
    command: [program, '--init'],
    settings: { listen_client_port: String(clientPort) },
    variables: 'THINGSDB',
  });
}
