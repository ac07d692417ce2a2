/**
 * What is measured: a new scenario is one entry in the table.
 */
import {
  authorization,
  type Credentials,
  contentTypes,
  type Format,
  scopePath,
} from '../process/node-client.js';
import { encodeMessagePack, stringifyJson, type WireValue, wireMap } from '../wire/index.js';

export interface Scenario {
  readonly name: string;
  readonly scope: string;
  /** Queries that prepare the scope; run before each measurement. */
  readonly setup: readonly string[];
  readonly body: WireValue;
  readonly format: Format;
  readonly auth: 'token' | 'basic';
  /** Whether it changes data: then its yardstick is the synced append beside the echo. */
  readonly changes: boolean;
  /** Least share of the echo's rate, by number of connections, that is aimed at. */
  readonly targetShare?: Readonly<Record<number, number>>;
}

const query = (code: string): WireValue => wireMap({ type: 'query', code });
const run = (name: string, ...args: WireValue[]): WireValue => wireMap({ type: 'run', name, args });

/** Shares of the echo's rate that are aimed at with many connections, where the machine is busy. */
const aim = (share: number) => ({ 64: share });

const sum = {
  name: 'sum',
  scope: '//bench',
  setup: [],
  body: query('1 + 1;'),
  changes: false,
  targetShare: aim(0.7),
} as const;

const choice = {
  name: 'choice of a stored list',
  scope: '//bench',
  setup: [".greetings = ['Hello', 'Hi', 'Hey', 'Salut', 'Ciao', 'Moin', 'Hoi', 'Hej'];"],
  body: query('.greetings.choice();'),
  changes: false,
  targetShare: aim(0.7),
} as const;

const procedure = {
  name: 'procedure with two arguments',
  scope: '//bench',
  setup: ["try(new_procedure('add', |a, b| a + b));"],
  body: run('add', 3n, 4n),
  changes: false,
} as const;

const counter = {
  name: 'counter += 1',
  scope: '//bench',
  setup: ['.counter = 0;'],
  body: query('.counter += 1;'),
  changes: true,
  targetShare: aim(0.45),
} as const;

const push = {
  name: 'procedure that pushes',
  scope: '//bench',
  setup: ['.visits = [];', "try(new_procedure('visit', |who| .visits.push(who)));"],
  body: run('visit', 'somebody'),
  changes: true,
  targetShare: aim(0.45),
} as const;

/** All scenarios. Formats and authentication vary where they matter. */
export const scenarios: readonly Scenario[] = [
  { ...sum, format: 'json', auth: 'token' },
  { ...sum, format: 'json', auth: 'basic' },
  { ...sum, format: 'msgpack', auth: 'token' },
  { ...choice, format: 'json', auth: 'token' },
  { ...choice, format: 'json', auth: 'basic' },
  { ...choice, format: 'msgpack', auth: 'token' },
  { ...procedure, format: 'json', auth: 'token', targetShare: aim(0.8) },
  { ...procedure, format: 'msgpack', auth: 'token', targetShare: aim(0.85) },
  { ...counter, format: 'json', auth: 'token' },
  { ...counter, format: 'msgpack', auth: 'token' },
  { ...push, format: 'json', auth: 'token' },
];

/** The name of a scenario with its format and authentication. */
export function titleOf(scenario: Scenario): string {
  return `${scenario.name}, ${scenario.format}, ${scenario.auth}`;
}

/** The bytes of a scenario's request. */
export function requestOf(scenario: Scenario, as: Credentials): Buffer {
  const { body, format, scope } = scenario;
  const content = format === 'json' ? Buffer.from(stringifyJson(body)) : encodeMessagePack(body);
  const head = [
    `POST ${scopePath(scope)} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: ${authorization(as)}`,
    `Content-Type: ${contentTypes[format]}`,
    `Content-Length: ${content.length}`,
    '\r\n',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head), content]);
}
