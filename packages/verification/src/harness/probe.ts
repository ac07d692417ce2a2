/** Questions to the status port of a node: `/ready`, `/status`, `/metrics`. */
import { get } from 'node:http';

/** Longest wait for an answer, in milliseconds. */
const PROBE_MS = 2000;

export interface Probed {
  /** 0 when nobody answered. */
  readonly status: number;
  readonly text: string;
}

/** Asks over a connection of its own. */
export function probe(host: string, port: number, path: string): Promise<Probed> {
  return new Promise((resolve) => {
    const fail = (): void => resolve({ status: 0, text: '' });
    const asked = get({ host, port, path, agent: false, timeout: PROBE_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', fail);
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', fail);
  });
}
