/** Where nodes have their consoles. */
import type { WireValue } from '@althing/client';
import { numberAt, textAt } from './values.js';

export interface OtherConsole {
  readonly name: string;
  /** The address of its page, without a fragment. */
  readonly url: string;
}

/**
 * The console of a node, from its `node_info()`: nodes are reached by their names, and each has the console at its API. Whether a browser
 * gets there is up to the network. Null for a node whose API is off.
 */
export function consoleOf(info: WireValue, protocol: string): OtherConsole | null {
  const name = textAt(info, 'node_name');
  const port = numberAt(info, 'http_api_port') ?? 0;
  if (port === 0 || !/^[\w.:-]+$/.test(name)) return null;
  const host = name.includes(':') ? `[${name}]` : name;
  return { name, url: `${protocol}//${host}:${port}/@console/` };
}
