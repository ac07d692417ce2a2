/**
 * The echo that parses, checks and answers; see the page of this room. Started as a process of its own with the values of the header
 * `Authorization` that it knows as arguments; it says its port to its parent.
 */
import { App, type HttpResponse, us_socket_local_port } from 'uWebSockets.js';
import { decode, encode, type Value } from './messagepack.js';

type Fields = { readonly [key: string]: Value };

/** The users who send requests, by the value of the header. */
const users: ReadonlyMap<string, string> = new Map(process.argv.slice(2).map((header) => [header, 'admin']));

const greetings = ['Hello', 'Hi', 'Hey', 'Salut', 'Ciao', 'Moin', 'Hoi', 'Hej'];
const list = Array.from({ length: 50 }, (_, i) => ({ '#': i + 1, n: i, s: 'text' }));
const visits: Value[] = [];
let counter = 0;

/** The answers to queries, by their text; any other one gives nil. */
const queries = new Map<Value | undefined, (vars: Fields) => Value>([
  ['1 + 1;', () => 1 + 1],
  ['.greetings.choice();', () => greetings[Math.floor(Math.random() * greetings.length)] ?? null],
  ['a + b;', ({ a, b }) => Number(a) + Number(b)],
  ['.list;', () => list],
  ['.counter += 1;', () => ++counter],
]);

const procedures = new Map<Value | undefined, (args: readonly Value[]) => Value>([
  ['add', ([a, b]) => Number(a) + Number(b)],
  ['take', ([a, b]) => Number(a) + Number(b)],
  ['visit', ([who = null]) => visit(who)],
]);

function visit(who: Value): Value {
  // It is no store: what is pushed makes room for what comes.
  if (visits.length === VISITS_MAX) visits.length = 0;
  visits.push(who);
  return null;
}

const VISITS_MAX = 10_000;

const NO_VARS: Fields = {};

function answerTo(body: Value): Value {
  if (!isMap(body)) throw new Error('the body must be a map');
  if (body.type === 'query') {
    const { vars } = body;
    return queries.get(body.code)?.(isMap(vars) ? vars : NO_VARS) ?? null;
  }
  const { args } = body;
  return procedures.get(body.name)?.(Array.isArray(args) ? args : []) ?? null;
}

function isMap(value: Value | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

App()
  .post('/*', (response, request) => {
    let gone = false;
    let before: Buffer | null = null;
    const user = users.get(request.getHeader('authorization'));
    const type = request.getHeader('content-type');
    response.onAborted(() => {
      gone = true;
    });
    response.onData((chunk, isLast) => {
      const piece = Buffer.from(chunk);
      if (!isLast) {
        // The memory of a piece is gone behind this call.
        before = before === null ? Buffer.from(piece) : Buffer.concat([before, piece]);
        return;
      }
      if (gone) return;
      const body = before === null ? piece : Buffer.concat([before, piece]);
      if (user === undefined) refuse(response, '401 Unauthorized');
      else answer(response, type, body);
    });
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket === false) throw new Error('no port to listen on');
    process.send?.({ port: us_socket_local_port(socket) });
  });

function answer(response: HttpResponse, type: string, body: Buffer): void {
  try {
    if (type === 'application/json') {
      const text = JSON.stringify(answerTo(JSON.parse(body.toString('utf8'))));
      response.cork(() => response.writeHeader('Content-Type', type).end(text));
    } else if (type === 'application/msgpack') {
      const bytes = encode(answerTo(decode(body)));
      response.cork(() => response.writeHeader('Content-Type', type).end(bytes));
    } else refuse(response, '415 Unsupported Media Type');
  } catch {
    refuse(response, '400 Bad Request');
  }
}

function refuse(response: HttpResponse, status: string): void {
  response.cork(() => response.writeStatus(status).end());
}

process.on('disconnect', () => process.exit(0));
