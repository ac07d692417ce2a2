/**
 * Scenarios that are measured: a new one is one entry in the table.
 */

import { encodeMessagePack, stringifyJson, type WireValue, wireMap } from '@althing/client';
import {
  authorization,
  type Credentials,
  contentTypes,
  type Format,
  scopePath,
} from '../harness/node-client.js';
import { newText, TEXT_LENGTHS, TEXTS_SETUP } from './new-texts.js';

export interface Scenario {
  readonly name: string;
  readonly scope: string;
  /** Queries that prepare the scope; run before each measurement. */
  readonly setup: readonly string[];
  /** The body of the nth request. What does not come again and again in practice differs from one to the next. */
  readonly body: (n: number) => WireValue;
  /** True if no request may come twice. */
  readonly isNew?: boolean;
  /** True if each request has a name by which it takes effect once, as those of the client library have. */
  readonly isNamed?: boolean;
  readonly format: Format;
  readonly auth: 'token' | 'basic';
}

const query = (code: string) => (): WireValue => wireMap({ type: 'query', code });
const run = (name: string, ...args: WireValue[]): WireValue => wireMap({ type: 'run', name, args });

const sum = {
  name: 'sum',
  scope: '//bench',
  setup: [],
  body: query('1 + 1;'),
} as const;

const choice = {
  name: 'choice of a stored list',
  scope: '//bench',
  setup: [".greetings = ['Hello', 'Hi', 'Hey', 'Salut', 'Ciao', 'Moin', 'Hoi', 'Hej'];"],
  body: query('.greetings.choice();'),
} as const;

const procedure = {
  name: 'procedure with two arguments',
  scope: '//bench',
  setup: ["try(new_procedure('add', |a, b| a + b));"],
  body: (n) => run('add', BigInt(n), 4n),
} as const satisfies Omit<Scenario, 'format' | 'auth'>;

const counter = {
  name: 'counter += 1',
  scope: '//bench',
  setup: ['.counter = 0;'],
  body: query('.counter += 1;'),
} as const;

const namedCounter = { ...counter, name: 'counter += 1, named', isNew: true, isNamed: true } as const;

const push = {
  name: 'procedure that pushes',
  scope: '//bench',
  setup: ['.visits = [];', "try(new_procedure('visit', |who| .visits.push(who)));"],
  body: (n) => run('visit', `visitor ${n}`),
} as const satisfies Omit<Scenario, 'format' | 'auth'>;

const vars = {
  name: 'sum of two variables',
  scope: '//bench',
  setup: [],
  body: (n) => wireMap({ type: 'query', code: 'a + b;', vars: wireMap({ a: BigInt(n), b: 4n }) }),
} as const satisfies Omit<Scenario, 'format' | 'auth'>;

const thingArgument = {
  name: 'procedure with a thing as argument',
  scope: '//bench',
  setup: ["try(new_procedure('take', |a, b, value| a + b));"],
  body: (n) => run('take', 1n, 2n, person(n)),
} as const satisfies Omit<Scenario, 'format' | 'auth'>;

const listArgument = {
  name: 'procedure with a list of 100 things',
  scope: '//bench',
  setup: thingArgument.setup,
  body: (n) =>
    run(
      'take',
      1n,
      2n,
      Array.from({ length: 100 }, (_, i) => wireMap({ n: BigInt(i), s: `text ${n} ${i}` })),
    ),
} as const satisfies Omit<Scenario, 'format' | 'auth'>;

const list = {
  name: 'list of 50 things',
  scope: '//bench',
  setup: ['.list = range(50).map(|i| {n: i, s: "text"}); nil;'],
  body: query('.list;'),
} as const satisfies Omit<Scenario, 'format' | 'auth'>;

/** Texts that the server never saw before. */
const newTexts = TEXT_LENGTHS.map((length) => ({
  name: `new text of ${length} characters`,
  scope: '//bench',
  setup: [TEXTS_SETUP],
  isNew: true,
  body: (n: number) => wireMap({ type: 'query', code: newText(length, n) }),
}));

function person(n: number): WireValue {
  const nested = wireMap({ x: 1.5, y: null });
  return wireMap({ name: `Ann "the ${n}th"`, age: 31n, tags: ['a', 'b'], nested });
}

const ALL_WAYS = [
  { format: 'json', auth: 'token' },
  { format: 'json', auth: 'basic' },
  { format: 'msgpack', auth: 'token' },
  { format: 'msgpack', auth: 'basic' },
] as const;
const [JSON_TOKEN, , MSGPACK_TOKEN] = ALL_WAYS;

/** All requests that are measured: those that clients send, in formats and with logins where these matter. */
export const scenarios: readonly Scenario[] = [
  ...[sum, choice, vars].flatMap((scenario) => ALL_WAYS.map((way) => ({ ...scenario, ...way }))),
  ...[procedure, thingArgument, listArgument, list].flatMap((scenario) =>
    [JSON_TOKEN, MSGPACK_TOKEN].map((way) => ({ ...scenario, ...way })),
  ),
  { ...counter, ...JSON_TOKEN },
  { ...counter, ...MSGPACK_TOKEN },
  { ...namedCounter, ...MSGPACK_TOKEN },
  { ...push, ...JSON_TOKEN },
  ...newTexts.map((scenario): Scenario => ({ ...scenario, ...JSON_TOKEN })),
];

/** The name of a scenario with its format and authentication. */
export function titleOf(scenario: Scenario): string {
  return `${scenario.name}, ${scenario.format}, ${scenario.auth}`;
}

/** The bytes of a query in JSON. */
export function queryRequest(scope: string, code: string, as: Credentials): Buffer {
  return requestOf({ name: '', scope, setup: [], body: query(code), format: 'json', auth: 'token' }, as);
}

/** The client that names requests, and how far behind its newest one an answer may be missing. */
const CLIENT = '0123456789abcdef01234567';
const UNANSWERED_MAX = 2000;

/** Bodies of a scenario that differ at most. */
const BODIES = 100;

/** The requests of a scenario: one, or as many as differ. */
export function requestsOf(scenario: Scenario, as: Credentials): Buffer[] {
  if (scenario.isNew === true) throw new Error('requests that never come twice are made as they are needed');
  const first = requestOf(scenario, as);
  if (requestOf(scenario, as, 1).equals(first)) return [first];
  return Array.from({ length: BODIES }, (_, n) => requestOf(scenario, as, n));
}

/**
 * The bytes of a scenario's nth request.
 *
 * @param nameHeader under which its name goes, if it has one
 */
export function requestOf(
  scenario: Scenario,
  as: Credentials,
  n = 0,
  nameHeader: 'Althing-Request' | 'Althing-Nothing' = 'Althing-Request',
): Buffer {
  const { format, scope } = scenario;
  const body = scenario.body(n);
  const content = format === 'json' ? Buffer.from(stringifyJson(body)) : encodeMessagePack(body);
  const head = [
    `POST ${scopePath(scope)} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: ${authorization(as)}`,
    `Content-Type: ${contentTypes[format]}`,
    `Content-Length: ${content.length}`,
    ...(scenario.isNamed === true
      ? [`${nameHeader}: ${CLIENT}.${n}.${Math.max(1, n - UNANSWERED_MAX)}`]
      : []),
    '\r\n',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head), content]);
}
