/**
 * Runs queries and holds their results, beside the page: it asks for the hundred rows that it shows. Taking an answer of 20 MB apart
 * takes a while, in which the page must go on.
 */
import {
  AlthingError,
  type Credentials,
  connect,
  type Database,
  type HookAnswer,
  type HookCall,
  QueryError,
  showValue,
  type WireValue,
} from '@althing/client';
import { rulesOf, verdictOn } from '../query/rules.js';
import type { Answers, Asked, DryRunKind, Failed, Question, Ran, RawPage, Told, Way } from './protocol.js';
import { explainedTable, fileOf, itemsAt, scalarText, shown, tableOf, valueAt } from './show.js';

/** The part of a worker's global scope that is used; the types of the page do not have it. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<Asked>) => void) | null;
  postMessage(message: Told): void;
}

/** Characters of raw text at a time. */
const RAW_PAGE = 50_000;
const API = '../';
const TIMEOUT_MS = 10 * 60_000;

class Results {
  private db: Database | null = null;
  /** The same, for requests of which nothing stays: no other one can be taken for one. */
  private readonly dryDbs = new Map<DryRunKind, Database>();
  private readonly values = new Map<string, WireValue>();
  private readonly raw = new Map<string, string>();
  private readonly running = new Map<string, AbortController>();
  private readonly told = new WeakMap<HookCall, HookAnswer>();
  /** The results that calls are for. */
  private readonly resultOf = new WeakMap<HookCall, string>();
  private rules = rulesOf([]);
  /** The call that was begun last. */
  private call: HookCall | null = null;

  async answer(question: Question): Promise<Answers[keyof Answers]> {
    switch (question.kind) {
      case 'login':
        return this.login(question);
      case 'run':
        return this.run(question);
      case 'judge':
        if (question.functions !== null) this.rules = rulesOf(question.functions);
        return verdictOn(question.code, question.scope, this.rules);
      case 'cancel':
        this.running.get(question.result)?.abort();
        return null;
      case 'items':
        return itemsAt(this.at(question), question.from);
      case 'table':
        return tableOf(this.valueOf(question.result), question.from);
      case 'raw':
        return this.rawOf(question.result, question.from);
      case 'text':
        return scalarText(this.at(question));
      case 'file':
        return fileOf(this.valueOf(question.result), question.format);
      case 'forget':
        this.values.delete(question.result);
        this.raw.delete(question.result);
        return null;
    }
  }

  private async login({ credentials, readOnly }: Question & { kind: 'login' }): Promise<null> {
    await Promise.all([this.db, ...this.dryDbs.values()].map((db) => db?.$close()));
    this.db = null;
    this.dryDbs.clear();
    if (credentials === null) return null;
    const headers = { 'Althing-Timing': '1', ...(readOnly ? { 'Althing-Read-Only': 'true' } : {}) };
    this.db = this.connected(credentials, headers);
    for (const kind of ['true', 'explain'] as const)
      this.dryDbs.set(kind, this.connected(credentials, { ...headers, 'Althing-Dry-Run': kind }));
    return null;
  }

  private connected(credentials: Credentials, headers: Readonly<Record<string, string>>): Database {
    return connect(API, {
      credentials: () => credentials,
      timeoutMs: TIMEOUT_MS,
      attemptTimeoutMs: TIMEOUT_MS,
      hooks: {
        request: (call) => {
          this.call = call;
          return headers;
        },
        attempt: (call, { attempt, failure }) => {
          const result = this.resultOf.get(call);
          if (failure !== null && result !== undefined)
            self.postMessage({ waiting: { result, attempts: attempt - 1, why: failure } });
          return undefined;
        },
        answer: (call, answer) => this.told.set(call, answer),
      },
    });
  }

  private async run({
    result,
    scope,
    code,
    vars,
    procedure,
    dry,
  }: Question & { kind: 'run' }): Promise<Ran | Failed> {
    const db = dry === null ? this.db : (this.dryDbs.get(dry) ?? null);
    if (db === null) throw new Error('the worker was not told who asks');
    const controller = new AbortController();
    this.running.set(result, controller);
    const begun = performance.now();
    const options = { exact: true, signal: controller.signal };
    const where = db.$scope(scope).with(options);
    const asked =
      procedure === null
        ? where.query<WireValue>(code, vars)
        : where.call(procedure, Object.fromEntries(vars)).then(wireOf);
    // The hook was told of it within the call.
    const { call } = this;
    if (call !== null) this.resultOf.set(call, result);
    try {
      const answer = await asked;
      const value = dry === 'explain' ? explainedTable(answer) : answer;
      this.values.set(result, value);
      this.raw.delete(result);
      return { ok: true, root: shown(value), way: this.wayOf(call, begun) };
    } catch (error) {
      if (!(error instanceof AlthingError)) throw error;
      const { at = null, procedure: within = null } = error instanceof QueryError ? error : {};
      const { name, message, outcome } = error;
      const way = this.wayOf(call, begun);
      return { ok: false, way, name, message, outcome, at, procedure: within };
    } finally {
      if (this.running.get(result) === controller) this.running.delete(result);
    }
  }

  private wayOf(call: HookCall | null, begun: number): Way {
    const answer = call === null ? undefined : this.told.get(call);
    const { bytes = 0, node = null, attempts = 1, index = 0, timing = null } = answer ?? {};
    const ms = performance.now() - begun;
    return { ms, bytes, node: node ?? '', attempts, index, parts: timingParts(timing ?? '') };
  }

  private rawOf(result: string, from: number): RawPage {
    let text = this.raw.get(result);
    if (text === undefined) {
      text = showValue(this.valueOf(result));
      this.raw.set(result, text);
    }
    return { text: text.slice(from, from + RAW_PAGE), total: text.length };
  }

  private at({ result, path }: { readonly result: string; readonly path: readonly number[] }): WireValue {
    return valueAt(this.valueOf(result), path);
  }

  private valueOf(result: string): WireValue {
    const value = this.values.get(result);
    if (value === undefined) throw new Error('the result is not there any more: run it again');
    return value;
  }
}

/** Reads `queue;dur=0.100, run;dur=2.300`. */
function timingParts(text: string): Way['parts'] {
  return [...text.matchAll(/(\w+);dur=([\d.]+)/g)].map(([, name = '', ms]) => [name, Number(ms)]);
}

/** The result of a procedure comes exactly, as that of a query does. */
function wireOf(value: unknown): WireValue {
  if (isWire(value)) return value;
  throw new Error('the client gave no exact value');
}

function isWire(value: unknown): value is WireValue {
  return value === null || ['boolean', 'bigint', 'number', 'string', 'object'].includes(typeof value);
}

declare const self: WorkerScope;

const results = new Results();
self.onmessage = ({ data: { number, question } }) => {
  results.answer(question).then(
    (answer) => self.postMessage({ number, answer, defect: null }),
    (error: unknown) => self.postMessage({ number, answer: null, defect: String(error) }),
  );
};
