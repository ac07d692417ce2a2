/** The objects that programs hold: a database, whose properties are its collections, and its scopes. */
import type { Collection, Database, Room, Variables } from '../api/database.js';
import type { CallOptions, LoginOptions, LoginSession, ScopeOptions } from '../api/options.js';
import { collectionScope, nodeScope, rootScope, type ScopeName, scopeOf } from '../scope.js';
import { Code, code, compileCode } from '../template.js';
import type { Value } from '../values/from-wire.js';
import type { Int } from '../values/numbers.js';
import type { Client } from './client.js';

/** The database of a client. */
export function databaseOf<S extends object>(client: Client, options: CallOptions): Database<S> {
  const scopes = new Map<string, ClientScope>();
  const close = (): Promise<void> => client.close();
  const login = (
    given: string | { readonly token: string },
    ...rest: readonly (string | LoginOptions | undefined)[]
  ): Promise<LoginSession> => {
    const [password, chosen] = typeof given === 'string' ? rest : [undefined, ...rest];
    const credentials = typeof given === 'string' ? { user: given, password: String(password) } : given;
    return client.login(credentials, typeof chosen === 'object' ? chosen : {});
  };
  const members = new Map<string | symbol, unknown>([
    ['$root', new ClientScope(client, rootScope(), options)],
    ['$node', (node?: number | string) => new ClientScope(client, nodeScope(node), options)],
    ['$collection', (name: string) => new ClientScope(client, collectionScope(name), options)],
    ['$scope', (text: string) => new ClientScope(client, scopeOf(text), options)],
    ['$with', (changed: CallOptions) => databaseOf(client, { ...options, ...changed })],
    ['$login', login],
    ['$close', close],
    [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose'), close],
    [Symbol.toStringTag, 'Database'],
    [Symbol.toPrimitive, () => '[object Database]'],
  ]);
  return answering<Database<S>>((name) => {
    if (typeof name === 'symbol' || name.startsWith('$')) return members.get(name);
    let scope = scopes.get(name);
    if (scope === undefined) {
      scope = new ClientScope(client, collectionScope(name), options);
      scopes.set(name, scope);
    }
    return scope;
  });
}

/** Procedures of any name, whose results are what the caller knows them to be. */
type AnyCalls = Readonly<Record<string, (...args: readonly unknown[]) => Promise<never>>>;

/** A scope, for all that scopes of any kind can do. */
class ClientScope implements Collection {
  readonly scope: string;
  readonly #client: Client;
  readonly #name: ScopeName;
  readonly #options: ScopeOptions;

  constructor(client: Client, name: ScopeName, options: ScopeOptions) {
    this.#client = client;
    this.#name = name;
    this.#options = options;
    this.scope = name.text;
  }

  query<T = Value>(strings: TemplateStringsArray, ...values: readonly unknown[]): Promise<T>;
  query<T = Value>(text: string | Code, vars?: Variables): Promise<T>;
  async query(first: TemplateStringsArray | string | Code, ...rest: readonly unknown[]): Promise<unknown> {
    if (typeof first === 'string') return this.#run(first, variablesIn(rest[0]));
    const { text, vars } = compileCode(first instanceof Code ? first : code(first, ...rest));
    if (!(first instanceof Code) || rest[0] === undefined) return this.#run(text, vars);
    return this.#run(text, new Map([...Object.entries(variablesIn(rest[0]) ?? {}), ...vars]));
  }

  // No property of the object itself: JSON.stringify would call a procedure `toJSON`.
  get procs(): AnyCalls {
    return proceduresOf((procedure, args) => this.#client.run(this.#name, procedure, args, this.#options));
  }

  call<T>(procedure: string, args?: object): Promise<T>;
  async call(procedure: string, args: object = {}): Promise<unknown> {
    return this.#client.run(this.#name, procedure, args, this.#options);
  }

  with(options: ScopeOptions): ClientScope {
    return new ClientScope(this.#client, this.#name, { ...this.#options, ...options });
  }

  room(room: string | Int): Room {
    return this.#client.room(this.#name, room, this.#options);
  }

  #run(text: string, vars: Variables | undefined): Promise<unknown> {
    return this.#client.query(this.#name, text, vars, this.#options);
  }
}

function variablesIn(value: unknown): Variables | undefined {
  if (value === undefined || value instanceof Map) return value;
  if (typeof value !== 'object' || value === null)
    throw new TypeError('variables of a query are an object, by name');
  return new Map(Object.entries(value));
}

/** Procedures as functions, for any name. */
function proceduresOf(run: (procedure: string, args: readonly unknown[]) => Promise<unknown>): AnyCalls {
  return answering((name) =>
    typeof name === 'string' ? async (...args: readonly unknown[]) => run(name, args) : undefined,
  );
}

/**
 * An object without any properties of its own or inherited ones, that answers for each name; but never for `then`, so that it can be
 * awaited by mistake. Nothing can be assigned to it.
 */
function answering<T extends object>(answer: (name: string | symbol) => unknown): T {
  // A proxy is what its traps make of it: no type can say that.
  const target = Object.freeze(Object.create(null)) as T;
  return new Proxy(target, { get: (_, name) => (name === 'then' ? undefined : answer(name)) });
}
