/**
 * The files of recorded cases: reading and checking them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseJson, type WireValue } from '@althing/client';
import type { Credentials } from '../harness/node-client.js';
import type { SocketAction } from './sockets.js';
import { untagged } from './values.js';

export interface CaseFile {
  /** The file's name without `.json`. */
  readonly name: string;
  readonly cases: readonly Case[];
}

export interface Case {
  readonly file: string;
  readonly name: string;
  readonly fresh: boolean;
  readonly needs: readonly string[];
  readonly steps: readonly Step[];
}

/** An act of a step; nobody can do `other`. */
export type Action =
  | {
      readonly kind: 'code';
      readonly code: string;
      readonly vars: ReadonlyMap<string, WireValue> | undefined;
    }
  | { readonly kind: 'run'; readonly name: string; readonly args: WireValue }
  | { readonly kind: 'sleep'; readonly seconds: number }
  | { readonly kind: 'socket'; readonly action: SocketAction; readonly values: WireValue }
  | { readonly kind: 'other'; readonly what: string };

/** The expected outcome. */
export type Expectation =
  | { readonly kind: 'value'; readonly value: WireValue; readonly unordered: boolean }
  | {
      readonly kind: 'error';
      readonly code: number;
      readonly name: string;
      readonly message: string | undefined;
    }
  | { readonly kind: 'success' };

export interface Step {
  readonly action: Action;
  readonly scope: string;
  readonly as: Credentials | undefined;
  /** The connection that it is done on; undefined for any. */
  readonly client: string | undefined;
  readonly save: string | undefined;
  readonly expectation: Expectation;
}

/** A file that is not as a file of cases has to be. */
export class CaseFileError extends Error {}

/** The names of the case files in a folder, sorted, without `.json`. */
export function caseFileNames(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.map((name) => basename(name, '.json')).sort();
}

/**
 * Reads one file.
 *
 * @throws {CaseFileError} when it is not as it has to be
 */
export function readCaseFile(folder: string, name: string): CaseFile {
  return { name, cases: parseCases(name, readFileSync(join(folder, `${name}.json`), 'utf8')) };
}

export function parseCases(file: string, text: string): Case[] {
  const reader = new Reader(file);
  const cases = reader.list(reader.map(parseJson(text)).get('cases')).map((item) => reader.case(item));
  const names = new Set(cases.map((item) => item.name));
  if (names.size !== cases.length) throw new CaseFileError(`${file}: two cases have the same name`);
  return cases;
}

type Fields = ReadonlyMap<string, WireValue>;

class Reader {
  #where: string;

  constructor(readonly file: string) {
    this.#where = file;
  }

  case(value: WireValue): Case {
    const fields = this.map(value);
    const name = this.string(fields.get('name'));
    this.#where = `${this.file}: ${name}`;
    return {
      file: this.file,
      name,
      fresh: fields.get('fresh') === true,
      needs: this.needs(fields.get('needs')),
      steps: this.list(fields.get('steps')).map((step) => this.step(this.map(step))),
    };
  }

  needs(value: WireValue | undefined): string[] {
    if (value === undefined) return [];
    return typeof value === 'string' ? [value] : this.list(value).map((need) => this.string(need));
  }

  step(fields: Fields): Step {
    const save = fields.get('save');
    return {
      action: this.action(fields),
      scope: fields.has('scope') ? this.string(fields.get('scope')) : '//stuff',
      as: this.credentials(fields.get('as')),
      client: fields.has('client') ? this.string(fields.get('client')) : undefined,
      save: save === undefined ? undefined : this.string(save),
      expectation: this.expectation(fields),
    };
  }

  action(fields: Fields): Action {
    const code = fields.get('code');
    if (code !== undefined) {
      const vars = fields.get('vars');
      return {
        kind: 'code',
        code: this.string(code),
        vars: vars === undefined ? undefined : this.map(untagged(vars)),
      };
    }
    if (fields.has('run')) {
      return { kind: 'run', name: this.string(fields.get('run')), args: untagged(fields.get('args') ?? []) };
    }
    if (fields.has('sleep')) return { kind: 'sleep', seconds: this.number(fields.get('sleep')) };
    for (const action of ['join', 'leave', 'emit'] as const) {
      if (!fields.has(action)) continue;
      const values = untagged(fields.get(action) ?? []);
      const toPeers = action === 'emit' && fields.get('peers') === true;
      return { kind: 'socket', action: toPeers ? 'emit_peers' : action, values };
    }
    if (fields.get('events') === true) return { kind: 'socket', action: 'events', values: [] };
    return { kind: 'other', what: `a step with the keys ${[...fields.keys()].join(', ')}` };
  }

  credentials(value: WireValue | undefined): Credentials | undefined {
    if (value === undefined) return undefined;
    const fields = this.map(value);
    if (fields.has('token')) return { token: this.string(fields.get('token')) };
    const [user, password] = this.list(fields.get('basic'));
    return { basic: [this.string(user), this.string(password)] };
  }

  expectation(fields: Fields): Expectation {
    if (fields.has('error')) {
      const error = this.map(fields.get('error'));
      const message = error.get('message');
      return {
        kind: 'error',
        code: this.number(error.get('code')),
        name: error.has('name') ? this.string(error.get('name')) : '',
        message: message === undefined ? undefined : this.string(message),
      };
    }
    const expected = fields.get('expect');
    if (expected === undefined || fields.get('ignore') === true) return { kind: 'success' };
    return { kind: 'value', value: untagged(expected), unordered: fields.get('unordered') === true };
  }

  map(value: WireValue | undefined): Fields {
    if (value instanceof Map) return value;
    throw this.wrong('a map', value);
  }

  list(value: WireValue | undefined): readonly WireValue[] {
    if (Array.isArray(value)) return value;
    throw this.wrong('a list', value);
  }

  string(value: WireValue | undefined): string {
    if (typeof value === 'string') return value;
    throw this.wrong('a string', value);
  }

  number(value: WireValue | undefined): number {
    if (typeof value === 'bigint' || typeof value === 'number') return Number(value);
    throw this.wrong('a number', value);
  }

  wrong(wanted: string, found: WireValue | undefined): CaseFileError {
    return new CaseFileError(`${this.#where}: ${wanted} was expected where ${String(found)} stands`);
  }
}
