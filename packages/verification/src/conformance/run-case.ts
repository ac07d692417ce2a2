/**
 * Runs one case on a node that is ready for it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isWireList, isWireMap, showValue, type WireValue, wireMap } from '@althing/client';
import { ADMIN, type Credentials, type Format, type Outcome } from '../harness/node-client.js';
import type { Case, Expectation, Step } from './cases.js';
import { difference, IdPairs } from './compare.js';
import { CaseSockets, type SocketRequest } from './sockets.js';
import { fitsJson, substituted } from './values.js';

export type CaseResult =
  | { readonly kind: 'passed' }
  | { readonly kind: 'skipped'; readonly why: string }
  | Failure;

export interface Failure {
  readonly kind: 'failed';
  /** The step, for people. */
  readonly step: string;
  readonly expected: string;
  readonly actual: string;
  /** The node did not answer as a node: it should not be used any more. */
  readonly isBroken: boolean;
}

/** Where requests go. */
export interface Requester {
  send(scope: string, as: Credentials, body: WireValue): Promise<Outcome>;
}

/** Why a case can't be run in that format; undefined when it can. Those that need a socket speak MessagePack alone. */
export function skipReason(wanted: Case, format: Format): string | undefined {
  const need = wanted.needs.find((name) => name !== 'sleep' && (name !== 'socket' || format === 'json'));
  if (need !== undefined) return `needs ${need}`;
  if (!needsSocket(wanted) && wanted.steps.some(onSocket)) return 'does not say that it needs a socket';
  const other = wanted.steps.find((step) => step.action.kind === 'other');
  if (other?.action.kind === 'other') return other.action.what;
  if (format === 'json' && !wanted.steps.every(stepFitsJson)) return "JSON can't carry its values";
  return undefined;
}

/** True if a case wants connections that last. */
export function needsSocket({ needs }: Case): boolean {
  return needs.includes('socket');
}

function onSocket({ client, action }: Step): boolean {
  return client !== undefined || action.kind === 'socket';
}

/**
 * Does the steps in order, up to the first that does not come out as recorded.
 *
 * @param url of the API of the node, for cases that need a socket; undefined where there are none
 */
export async function runCase(
  wanted: Case,
  client: Requester,
  format: Format,
  url?: string,
): Promise<CaseResult> {
  if (!needsSocket(wanted) || url === undefined) return runSteps(wanted, requests(client), format);
  const sockets = new CaseSockets(url);
  try {
    return await runSteps(
      wanted,
      (step, saved) =>
        sockets.send(step.client, credentialsOf(step, saved), step.scope, socketRequestOf(step, saved)),
      format,
    );
  } finally {
    sockets.close();
  }
}

type Saved = ReadonlyMap<string, WireValue>;

type Send = (step: Step, saved: Saved) => Promise<Outcome>;

function requests(client: Requester): Send {
  return (step, saved) => client.send(step.scope, credentialsOf(step, saved), bodyOf(step, saved));
}

async function runSteps(wanted: Case, send: Send, format: Format): Promise<CaseResult> {
  const ids = new IdPairs();
  const saved = new Map<string, WireValue>();
  for (const [index, step] of wanted.steps.entries()) {
    if (step.action.kind === 'sleep') {
      await sleep(step.action.seconds * 1000);
      continue;
    }
    const outcome = await send(step, saved);
    if (format === 'json' && step.expectation.kind === 'success' && isError(outcome, typeErr)) {
      return { kind: 'skipped', why: "JSON can't carry an answer" };
    }
    const found = mismatch(step.expectation, outcome, ids);
    if (found !== undefined) {
      return {
        kind: 'failed',
        step: `step ${index + 1} of ${wanted.steps.length}: ${step.scope} ${textOf(step)}`,
        expected: expectationText(step.expectation),
        actual: found,
        isBroken: outcome.kind === 'broken',
      };
    }
    if (step.save !== undefined && outcome.kind === 'value') saved.set(step.save, outcome.value);
  }
  return { kind: 'passed' };
}

/** Makes an empty collection `stuff`; gives what went wrong, if anything did. */
export async function prepareShared(client: Requester): Promise<string | undefined> {
  const code = "try(del_collection('stuff')); new_collection('stuff'); set_default_deep('//stuff', 1);";
  return failureOf(await client.send('@thingsdb', ADMIN, query(code)));
}

/** Sees to it that a fresh node has its collection `stuff`; gives what went wrong, if anything did. */
export async function prepareFresh(client: Requester): Promise<string | undefined> {
  const there = await client.send('@thingsdb', ADMIN, query("has_collection('stuff');"));
  if (there.kind === 'value' && there.value === true) return undefined;
  const made = await client.send('@thingsdb', ADMIN, query("new_collection('stuff');"));
  return (
    failureOf(made) ??
    failureOf(await client.send('@thingsdb', ADMIN, query("set_default_deep('//stuff', 1);")))
  );
}

const typeErr = -61;

function isError(outcome: Outcome, code: number): boolean {
  return outcome.kind === 'error' && outcome.code === code;
}

function query(code: string, vars?: ReadonlyMap<string, WireValue>): WireValue {
  return wireMap({ type: 'query', code, vars });
}

function bodyOf(step: Step, saved: ReadonlyMap<string, WireValue>): WireValue {
  const { action } = step;
  if (action.kind === 'run') {
    return wireMap({ type: 'run', name: action.name, args: substituted(action.args, saved) });
  }
  if (action.kind !== 'code') throw new Error(`a step of kind ${action.kind} is no request`);
  const vars = action.vars === undefined ? undefined : substituted(action.vars, saved);
  return query(action.code, isWireMap(vars) ? vars : undefined);
}

function socketRequestOf({ action }: Step, saved: Saved): SocketRequest {
  if (action.kind === 'run') return { kind: 'run', name: action.name, args: substituted(action.args, saved) };
  if (action.kind === 'code') {
    const vars = action.vars === undefined ? undefined : substituted(action.vars, saved);
    return { kind: 'code', code: action.code, vars };
  }
  if (action.kind !== 'socket') throw new Error(`a step of kind ${action.kind} is no request`);
  const values = substituted(action.values, saved);
  return { kind: 'socket', action: action.action, values: isWireList(values) ? values : [] };
}

function credentialsOf(step: Step, saved: ReadonlyMap<string, WireValue>): Credentials {
  if (step.as === undefined) return ADMIN;
  if (!('token' in step.as)) return step.as;
  const token = substituted(step.as.token, saved);
  return { token: typeof token === 'string' ? token : showValue(token) };
}

/** The outcome, when it is not the expected one. */
function mismatch(expectation: Expectation, outcome: Outcome, ids: IdPairs): string | undefined {
  if (outcome.kind === 'broken') return `no answer: ${outcome.why}`;
  if (expectation.kind === 'error') {
    if (outcome.kind === 'value') return outcomeText(outcome);
    const sameText = expectation.message === undefined || expectation.message === outcome.message;
    return expectation.code === outcome.code && sameText ? undefined : outcomeText(outcome);
  }
  if (outcome.kind === 'error') return outcomeText(outcome);
  if (expectation.kind === 'success') return undefined;
  const found = difference(expectation.value, outcome.value, ids, expectation.unordered);
  return found === undefined ? undefined : `${outcomeText(outcome)}   (${found})`;
}

function failureOf(outcome: Outcome): string | undefined {
  return outcome.kind === 'value' ? undefined : outcomeText(outcome);
}

function outcomeText(outcome: Outcome): string {
  if (outcome.kind === 'value') return showValue(outcome.value);
  if (outcome.kind === 'broken') return outcome.why;
  return `error ${outcome.code}: ${outcome.message}`;
}

function expectationText(expectation: Expectation): string {
  if (expectation.kind === 'success') return 'any value';
  if (expectation.kind === 'error') {
    const message = expectation.message === undefined ? '' : `: ${expectation.message}`;
    return `error ${expectation.code} ${expectation.name}${message}`;
  }
  return showValue(expectation.value) + (expectation.unordered ? '   (in any order)' : '');
}

function textOf(step: Step): string {
  if (step.action.kind === 'code') return step.action.code;
  return step.action.kind === 'run'
    ? `run ${step.action.name} ${showValue(step.action.args)}`
    : step.action.kind === 'socket'
      ? `${step.client ?? ''} ${step.action.action} ${showValue(step.action.values)}`
      : step.action.kind;
}

function stepFitsJson(step: Step): boolean {
  const values: WireValue[] = [];
  if (step.action.kind === 'code' && step.action.vars !== undefined) values.push(step.action.vars);
  if (step.action.kind === 'run') values.push(step.action.args);
  if (step.expectation.kind === 'value') values.push(step.expectation.value);
  return values.every(fitsJson);
}
