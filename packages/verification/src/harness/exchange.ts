/** One request over HTTP and its whole answer. */
import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request } from 'node:http';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly content: Buffer;
}

/** Rejects when there is no answer, or not all of it. */
export async function exchange(options: RequestOptions, body?: Uint8Array | string): Promise<HttpAnswer> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(options).on('response', resolve).on('error', reject).end(body);
  });
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part);
  return { status: answer.statusCode ?? 0, headers: answer.headers, content: Buffer.concat(parts) };
}
