/**
 * A process that has an answer of lines sent to it, which go nowhere. The process that measures others' waits can't do this besides: it would
 * see their answers late. It has a low priority, for the processors are those of the node, as those of a client elsewhere are not.
 */
import { request } from 'node:http';
import { getPriority, setPriority } from 'node:os';

export interface LinesOrder {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Null as problem: all of them came. */
export interface LinesAnswer {
  readonly problem: string | null;
}

const NICER = 10;
const NICE_MAX = 19;
/** Bytes at the end in which the last line is. */
const LAST_BYTES = 500;

process.on('message', (order: LinesOrder) => {
  void problemOf(order).then((problem) => {
    const answer: LinesAnswer = { problem };
    process.send?.(answer);
  });
});
process.on('disconnect', () => process.exit(0));
setPriority(Math.min(getPriority() + NICER, NICE_MAX));

/** Why not all lines came; null if they did. */
function problemOf({ url, headers, body }: LinesOrder): Promise<string | null> {
  return new Promise((resolve) => {
    const asked = request(url, { method: 'POST', headers }, (response) => {
      let last = Buffer.alloc(0);
      response.on('data', (bytes: Buffer) => {
        last = Buffer.concat([last, bytes.subarray(-LAST_BYTES)]).subarray(-LAST_BYTES);
      });
      response.on('error', ({ message }) => resolve(message));
      response.on('end', () => {
        const text = last.toString();
        resolve(text.includes('{"end":') ? null : `the lines have no end: ${response.statusCode} ${text}`);
      });
    });
    asked.on('error', ({ message }) => resolve(message));
    asked.end(body);
  });
}
