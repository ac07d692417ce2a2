/** Requests to an engine in this process, as a node answers them to an administrator. */

import { decodeMessagePack, encodeMessagePack, isWireList, isWireMap, type WireValue } from '@althing/client';
import {
  type Call,
  ErrorCode,
  MsgpackReader,
  type PasswordHash,
  parseScope,
  type QueryBody,
  QueryError,
  type Scope,
  type Value,
} from '@althing/engine';
import { type LocalEngine, noPassword, ROOT } from '../harness/local-engine.js';
import type { Credentials, Outcome } from '../harness/node-client.js';

/** Called with each change, as it would go into the log of a group. */
export type OnChange = (group: number, effects: Uint8Array) => void;

const nestingMax = 500;

/** There is no other node that could know more. */
const ALL_FRESH = { isFresh: () => true };

export class LocalClient {
  readonly #beforeEach: () => Promise<void>;

  constructor(
    private readonly local: LocalEngine,
    beforeEach: () => Promise<void>,
    private readonly onChange: OnChange,
  ) {
    this.#beforeEach = beforeEach;
  }

  async send(scope: string, _as: Credentials, body: WireValue): Promise<Outcome> {
    await this.#beforeEach();
    try {
      return this.#answer(scope, body);
    } catch (error) {
      if (error instanceof QueryError) return { kind: 'error', code: error.code, message: error.message };
      return { kind: 'broken', why: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  }

  #answer(scopeText: string, body: WireValue): Outcome {
    const { engine, admin } = this.local;
    const name = parseScope(scopeText);
    const target = name.kind === 'collection' ? this.local.idOf(name.name) : name.kind;
    const scope = target === undefined ? undefined : engine.scope(target);
    if (scope === undefined) throw new QueryError(ErrorCode.LOOKUP, `there is no scope ${scopeText}`);
    const hashes = new Map<string, PasswordHash>();
    const call: Call = {
      scope,
      user: admin,
      body: this.#body(scope, body),
      format: 'msgpack',
      hashes,
      fresh: ALL_FRESH,
      mayEmit: true,
    };
    let outcome = engine.run(call);
    for (; outcome.kind === 'hash'; outcome = engine.run(call)) hashes.set(outcome.password, noPassword);
    for (;;) {
      if (outcome.kind === 'error') throw outcome.error;
      if (outcome.kind !== 'value' && outcome.kind !== 'more') throw new Error('the call can not go on');
      if (outcome.change !== null) {
        this.onChange(typeof target === 'number' ? target : ROOT, outcome.change.effects);
        this.local.followCollections();
      }
      if (outcome.kind === 'value') break;
      outcome = engine.futures.resume(outcome.rest, {
        mayChange: true,
        until: Number.POSITIVE_INFINITY,
        fresh: ALL_FRESH,
      });
    }
    return { kind: 'value', value: decodeMessagePack(Buffer.from(outcome.result)) };
  }

  #body(scope: Scope, body: WireValue): Call['body'] {
    if (!isWireMap(body)) throw new Error('a request is a map');
    if (body.get('type') === 'query') {
      const vars = body.get('vars');
      return this.#query(String(body.get('code')), isWireMap(vars) ? this.#valuesOf(vars) : null);
    }
    const name = String(body.get('name'));
    const procedure = scope.procedure(name);
    if (procedure === undefined) throw new QueryError(ErrorCode.LOOKUP, `there is no procedure '${name}'`);
    const args = body.get('args');
    if (isWireMap(args)) return { kind: 'run', procedure, args: this.#valuesOf(args) };
    return { kind: 'run', procedure, args: isWireList(args) ? args.map((arg) => this.#valueOf(arg)) : [] };
  }

  #query(code: string, vars: ReadonlyMap<string, Value> | null): QueryBody {
    const prepared = this.local.engine.prepare(code);
    // On nodes the texts of cases come once, and run as such; here they run as those that are known.
    prepared.keep();
    return { kind: 'query', prepared, vars };
  }

  #valuesOf(map: ReadonlyMap<string, WireValue>): Map<string, Value> {
    return new Map(Array.from(map, ([key, value]) => [key, this.#valueOf(value)]));
  }

  #valueOf(value: WireValue): Value {
    return new MsgpackReader(encodeMessagePack(value), this.local.engine.runtime.shapes, nestingMax).value();
  }
}
