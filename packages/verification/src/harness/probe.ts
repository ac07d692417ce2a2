/** Questions to the status port of a node: `/ready`, `/status`, `/metrics`. */
import { exchange } from './exchange.js';

/** Longest wait for an answer, in milliseconds. */
const PROBE_MS = 2000;

export interface Probed {
  /** 0 when nobody answered. */
  readonly status: number;
  readonly text: string;
}

/** Asks over a connection of its own. */
export async function probe(host: string, port: number, path: string): Promise<Probed> {
  try {
    const signal = AbortSignal.timeout(PROBE_MS);
    const { status, content } = await exchange({ host, port, path, agent: false, signal });
    return { status, text: content.toString() };
  } catch {
    return { status: 0, text: '' };
  }
}
