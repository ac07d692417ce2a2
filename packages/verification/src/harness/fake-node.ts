/**
 * Stands in for a node in tests of the tools: it has the same ports and the same form of requests and answers, and a query
 * language of a few words.
 *
 *     new_token...      a token
 *     value             the variable `value`
 *     count             how many queries this collection had, counted from 1
 *     raise CODE TEXT   an error
 *     who               the Authorization header
 *     crash             the process ends
 *     garbage           an answer that is no value
 *     long              1 in more bytes than it needs
 */
import { createServer } from 'node:http';
import {
  decodeMessagePack,
  encodeMessagePack,
  isWireMap,
  parseJson,
  stringifyJson,
  type WireValue,
  wireMap,
} from '@althing/client';

let count = 0;

class QueryError extends Error {
  constructor(
    readonly code: bigint,
    message: string,
  ) {
    super(message);
  }
}

function answer(body: WireValue, authorization: string): WireValue {
  if (!isWireMap(body)) throw new QueryError(-53n, 'the body is no map');
  if (body.get('type') === 'run') return [body.get('name') ?? null, body.get('args') ?? null];
  const code = String(body.get('code'));
  const [word, ...rest] = code.replace(/;$/, '').split(' ');
  if (code.startsWith('try(del_collection')) {
    count = 0;
    return null;
  }
  const vars = body.get('vars');
  switch (word) {
    case 'value':
      return isWireMap(vars) ? (vars.get('value') ?? null) : null;
    case 'count':
      return BigInt(++count);
    case 'who':
      return authorization;
    case 'raise':
      throw new QueryError(BigInt(rest[0] ?? '-1'), rest.slice(1).join(' '));
    case 'crash':
      console.error('crashing as told');
      process.exit(5);
      break;
    default:
      if (code.startsWith('new_token')) return 'abcdefghijklmnopqrstuv';
      return code.startsWith('has_collection') ? true : 2n;
  }
  return null;
}

const status = createServer((request, response) => {
  response.writeHead(request.url === '/ready' ? 200 : 404, { 'Content-Length': 0 }).end();
});

const api = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const isJson = request.headers['content-type'] === 'application/json';
  const content = Buffer.concat(parts);
  const encode = (value: WireValue) => (isJson ? stringifyJson(value) : encodeMessagePack(value));
  if (request.headers.authorization === 'Bearer wrong') {
    response.writeHead(401).end();
    return;
  }
  try {
    const body = isJson ? parseJson(content.toString('utf8')) : decodeMessagePack(content);
    const value = answer(body, `${request.headers.authorization} ${request.url}`);
    const code = isWireMap(body) ? body.get('code') : undefined;
    if (code === 'garbage') response.end(Buffer.from([0xc1]));
    else if (code === 'long') response.end(Buffer.from([0xcc, 1]));
    else response.end(encode(value));
  } catch (error) {
    const code = error instanceof QueryError ? error.code : -1n;
    const message = error instanceof Error ? error.message : String(error);
    response.writeHead(422).end(encode(wireMap({ error: wireMap({ code, name: 'x', message }) })));
  }
});

process.on('SIGTERM', () => process.exit(0));
status.listen(Number(process.env.SERVICE_HTTP_STATUS_PORT), '127.0.0.1');
api.listen(Number(process.env.SERVICE_HTTP_API_PORT), '127.0.0.1');
