/**
 * The names of a scope, for completion. They come from the node: read-only, within a short time, kept for a while. Completion never
 * waits for it: what is not known yet comes with the next Tab.
 */
import { AlthingError, isWireList, isWireMap, type WireValue } from '@althing/client';
import { type Catalogue, functionInfoOf } from '@althing/language';
import type { Session } from './session.js';

/** Time for which names are taken for true, in milliseconds. */
const FRESH_MS = 10_000;
/** Time that completion waits for an answer. */
const WAIT_MS = 150;
/** Names of one thing at most. */
const NAMES_MAX = 200;

interface Known {
  readonly at: number;
  readonly value: WireValue;
}

export class LiveCatalogue {
  private readonly known = new Map<string, Known>();
  private readonly asked = new Map<string, Promise<void>>();

  constructor(private readonly session: Session) {}

  /** The catalogue as known after a short wait for answers. `path` is the thing whose properties are wanted, if any. */
  async at(path: readonly string[] | null): Promise<Catalogue> {
    const isCollection = !/^(@t|@n|\/t|\/n)/.test(this.session.scope);
    const queries: [string, string][] = [['functions', 'functions_info();']];
    if (!this.session.scope.match(/^(@n|\/n)/)) queries.push(['procedures', 'procedures_info();']);
    if (isCollection) queries.push(['types', 'types_info();'], ['enums', 'enums_info();']);
    if (isCollection && path !== null) queries.push([keysOf(path), keysCode(path)]);
    const waits = queries.map(([name, code]) => this.fresh(name, code));
    await Promise.race([Promise.all(waits), new Promise((resolve) => setTimeout(resolve, WAIT_MS).unref())]);
    return this.catalogue();
  }

  /** Forgets everything: another scope, or a query that may have changed something. */
  forget(): void {
    const functions = this.known.get('functions');
    this.known.clear();
    if (functions !== undefined) this.known.set('functions', functions);
  }

  private catalogue(): Catalogue {
    const types = this.list('types').map((type) => ({
      name: textAt(type, 'name'),
      fields: listAt(type, 'fields').map((field) => (isWireList(field) ? String(field[0]) : '')),
    }));
    const enums = this.list('enums').map((each) => ({
      name: textAt(each, 'name'),
      members: listAt(each, 'members').map((member) => (isWireList(member) ? String(member[0]) : '')),
    }));
    const procedures = this.list('procedures').map((each) => ({
      name: textAt(each, 'name'),
      arguments: listAt(each, 'arguments').map(String),
      doc: textAt(each, 'doc'),
    }));
    return {
      functions: this.list('functions').map(functionInfoOf),
      procedures,
      types,
      enums,
      keys: (path) => {
        const found = this.known.get(keysOf(path))?.value;
        return isWireList(found) ? found.map(String) : null;
      },
      texts: (call, argument) => (argument > 0 ? [] : textsFor(call, { types, enums, procedures })),
    };
  }

  private fresh(name: string, code: string): Promise<void> {
    const key = `${this.session.scope} ${name}`;
    const found = this.known.get(name);
    if (found !== undefined && performance.now() - found.at < FRESH_MS) return Promise.resolve();
    const underWay = this.asked.get(key);
    if (underWay !== undefined) return underWay;
    const { scope } = this.session;
    const asking = this.ask(scope, code)
      .then((value) => {
        if (scope === this.session.scope) this.known.set(name, { at: performance.now(), value });
      })
      .finally(() => this.asked.delete(key));
    this.asked.set(key, asking);
    return asking;
  }

  /** Nil for what the user may not know, or the node can't tell now. */
  private async ask(scope: string, code: string): Promise<WireValue> {
    try {
      return await this.session.db
        .$scope(scope)
        .with({ exact: true, consistency: 'stale', timeoutMs: 10 * WAIT_MS })
        .query<WireValue>(code);
    } catch (error) {
      if (error instanceof AlthingError) return null;
      throw error;
    }
  }

  private list(name: string): WireValue[] {
    const value = this.known.get(name)?.value;
    return isWireList(value) ? [...value] : [];
  }
}

function keysOf(path: readonly string[]): string {
  return `keys ${path.join('.')}`;
}

/** Nothing of it is code of the user: names of properties are words, and the grammar takes no others behind a dot. */
function keysCode(path: readonly string[]): string {
  const thing = path.length === 0 ? '' : `.${path.join('.')}`;
  return `${thing}.keys()[:${NAMES_MAX}];`;
}

interface Named {
  readonly types: readonly { readonly name: string }[];
  readonly enums: readonly { readonly name: string }[];
  readonly procedures: readonly { readonly name: string }[];
}

/** Names that the first argument of a call is one of. */
function textsFor(call: string, { types, enums, procedures }: Named): string[] {
  const namesOf = (each: readonly { readonly name: string }[]): string[] => each.map(({ name }) => name);
  if (call === 'run' || call.includes('procedure')) return namesOf(procedures);
  if (call.includes('enum')) return namesOf(enums);
  return call.includes('type') || call === 'wrap' ? namesOf(types) : [];
}

function at(value: WireValue | undefined, key: string): WireValue | undefined {
  return isWireMap(value) ? value.get(key) : undefined;
}

function textAt(value: WireValue | undefined, key: string): string {
  const found = at(value, key);
  return typeof found === 'string' ? found : '';
}

function listAt(value: WireValue | undefined, key: string): readonly WireValue[] {
  const found = at(value, key);
  return isWireList(found) ? found : [];
}
