/**
 * Renders the Helm chart, to compare it with the manifests of kustomize. It knows that part of Helm's template language
 * which the chart is written in, and refuses everything else:
 *
 *   template = { text | "{{" [ "-" ] action [ "-" ] "}}" }
 *   action   = "define" string | "if" pipeline | "else" | "end" | pipeline | comment
 *   pipeline = call { "|" call }               the result is the last argument of the next call
 *   call     = term { term }                   the first term names a function when there are more, or when it is one
 *   term     = string | whole number | path | "(" pipeline ")" | "." | word
 *   path     = "." name { "." name }
 *
 * Functions: see below. What stands in a branch that is not taken is read, but not run. Where Helm itself is installed, a
 * test renders with both.
 */
import { stringify } from 'yaml';
import { isRecord } from '../check-packages.js';

export interface Chart {
  readonly name: string;
  readonly version: string;
  readonly appVersion: string;
  /** Values of `values.yaml`, those given on top. */
  readonly values: unknown;
  /** The texts of `templates/`, by file name. */
  readonly templates: ReadonlyMap<string, string>;
  /** The texts of other files, by path, for `.Files.Get`. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * The text of each template that has one, in the order of their names.
 *
 * @throws {Error} on anything that it does not know
 */
export function renderChart(chart: Chart, release: string): string[] {
  const scope: Scope = {
    root: {
      Values: chart.values,
      Release: { Name: release, Service: 'Helm', Namespace: 'althing' },
      Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
      Files: { Get: (path: unknown) => chart.files.get(String(path)) ?? fail(`no file ${path}`) },
    },
    definitions: new Map(),
  };
  const bodies: string[] = [];
  // Definitions first: any template may include them.
  const names = [...chart.templates.keys()].sort((a, b) => order(a) - order(b) || (a < b ? -1 : 1));
  for (const name of names) {
    try {
      const nodes = parse(chart.templates.get(name) ?? '');
      const text = show(nodes, scope);
      if (text.trim() !== '') bodies.push(text);
    } catch (error) {
      throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
  return bodies;
}

/** Values on top of others, as Helm does it: maps are merged, everything else is replaced. */
export function mergeValues(under: unknown, over: unknown): unknown {
  if (!isRecord(under) || !isRecord(over)) return over;
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    merged[key] = key in under ? mergeValues(under[key], value) : value;
  }
  return merged;
}

interface Scope {
  readonly root: Readonly<Record<string, unknown>>;
  readonly definitions: Map<string, readonly Part[]>;
}

type Part =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'value'; readonly pipeline: readonly string[] }
  | { readonly is: 'define'; readonly name: string; readonly body: readonly Part[] }
  | {
      readonly is: 'if';
      readonly condition: readonly string[];
      readonly body: readonly Part[];
      readonly otherwise: readonly Part[];
    };

const TOKEN = /\s+|("(?:[^"\\]|\\.)*"|:=|[|()]|\$\w+(?:\.\w+)*|\.\w+(?:\.\w+)*|\.|[\w-]+)/y;

const FUNCTIONS: Readonly<Record<string, (scope: Scope, ...values: unknown[]) => unknown>> = {
  default: (_, otherwise, value) => (isTrue(value) ? value : otherwise),
  quote: (_, value) => JSON.stringify(String(value)),
  int: (_, value) => Number(value),
  not: (_, value) => !isTrue(value),
  and: (_, ...values) => values.find((value) => !isTrue(value)) ?? values.at(-1),
  eq: (_, a, b) => a === b,
  ne: (_, a, b) => a !== b,
  printf: (_, format, ...values) =>
    String(format).replace(/%./g, (mark) =>
      mark === '%s' ? String(values.shift()) : fail(`printf can't ${mark}`),
    ),
  toYaml: (_, value) => stringify(value, { lineWidth: 0 }).trimEnd(),
  nindent: (_, count, text) => `\n${indented(Number(count), text)}`,
  include: (scope, name) => show(scope.definitions.get(String(name)) ?? fail(`no definition ${name}`), scope),
};

function parse(source: string): readonly Part[] {
  const marks = [...source.matchAll(/\{\{(-?)\s*([\s\S]*?)\s*(-?)\}\}/g)];
  const pieces: (string | { readonly action: string })[] = [];
  let from = 0;
  let trimsNext = false;
  for (const mark of marks) {
    const text = source.slice(from, mark.index);
    const left = trimsNext ? text.trimStart() : text;
    pieces.push(mark[1] === '-' ? left.trimEnd() : left, { action: mark[2] ?? '' });
    trimsNext = mark[3] === '-';
    from = mark.index + mark[0].length;
  }
  const rest = source.slice(from);
  pieces.push(trimsNext ? rest.trimStart() : rest);
  const reader = { pieces, at: 0 };
  const parts = parseParts(reader, []);
  return parts.parts;
}

interface Reader {
  readonly pieces: readonly (string | { readonly action: string })[];
  at: number;
}

/** Reads up to one of some words, or up to the end when there are none. */
function parseParts(reader: Reader, ends: readonly string[]): { parts: Part[]; end: string } {
  const parts: Part[] = [];
  while (reader.at < reader.pieces.length) {
    const piece = reader.pieces[reader.at++];
    if (piece === undefined) break;
    if (typeof piece === 'string') {
      if (piece !== '') parts.push({ is: 'text', text: piece });
      continue;
    }
    if (piece.action.startsWith('/*')) continue;
    const tokens = tokensOf(piece.action);
    const [first = '', second = ''] = tokens;
    if (ends.includes(first) && tokens.length === 1) return { parts, end: first };
    if (first === 'define') {
      parts.push({ is: 'define', name: unquoted(second), body: parseParts(reader, ['end']).parts });
    } else if (first === 'if') {
      const then = parseParts(reader, ['else', 'end']);
      const otherwise = then.end === 'else' ? parseParts(reader, ['end']).parts : [];
      parts.push({ is: 'if', condition: tokens.slice(1), body: then.parts, otherwise });
    } else if (['else', 'end', 'range', 'with', 'template', 'block'].includes(first)) {
      fail(`${piece.action}: not known here`);
    } else {
      parts.push({ is: 'value', pipeline: tokens });
    }
  }
  if (ends.length > 0) fail(`${ends.join(' or ')} is missing`);
  return { parts, end: '' };
}

function tokensOf(action: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < action.length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(action);
    if (found === null) fail(`${action.slice(at)}: not known`);
    else if (found[1] !== undefined) tokens.push(found[1]);
  }
  return tokens;
}

function show(parts: readonly Part[], scope: Scope): string {
  let text = '';
  for (const part of parts) {
    switch (part.is) {
      case 'text':
        text += part.text;
        break;
      case 'define':
        scope.definitions.set(part.name, part.body);
        break;
      case 'value':
        text += String(evaluate(part.pipeline, scope));
        break;
      case 'if':
        text += show(isTrue(evaluate(part.condition, scope)) ? part.body : part.otherwise, scope);
    }
  }
  return text;
}

/** The value of a pipeline without the parentheses around it. */
function evaluate(tokens: readonly string[], scope: Scope): unknown {
  let piped: readonly unknown[] = [];
  for (const call of splitAtBars(tokens)) piped = [evaluateCall(call, piped, scope)];
  return piped[0];
}

function evaluateCall(tokens: readonly string[], piped: readonly unknown[], scope: Scope): unknown {
  const [head = fail('an empty action')] = tokens;
  const fn = FUNCTIONS[head];
  const rest = fn === undefined && head !== '.Files.Get' ? tokens : tokens.slice(1);
  const values: unknown[] = [];
  for (let at = 0; at < rest.length; at++) {
    const token = rest[at] ?? '';
    if (token === '(') {
      const end = closing(rest, at);
      values.push(evaluate(rest.slice(at + 1, end), scope));
      at = end;
    } else {
      values.push(term(token, scope));
    }
  }
  values.push(...piped);
  if (fn !== undefined) return fn(scope, ...values);
  if (head === '.Files.Get') {
    const get = field(scope.root, ['Files', 'Get']);
    return typeof get === 'function' ? get(values[0]) : fail('no files');
  }
  if (values.length !== 1) fail(`${tokens.join(' ')}: ${head} is no function known here`);
  return values[0];
}

function term(token: string, scope: Scope): unknown {
  if (token.startsWith('"')) return unquoted(token);
  if (/^\d+$/.test(token)) return Number(token);
  if (token === '.') return scope.root;
  if (token.startsWith('.')) return field(scope.root, token.slice(1).split('.'));
  return fail(`${token}: not known`);
}

/** A field that is not there is a mistake in the template or the values, where Helm would go on with nothing. */
function field(root: Readonly<Record<string, unknown>>, path: readonly string[]): unknown {
  let value: unknown = root;
  for (const name of path) {
    if (!isRecord(value) || !(name in value)) fail(`.${path.join('.')}: there is no ${name}`);
    else value = value[name];
  }
  return value;
}

function splitAtBars(tokens: readonly string[]): string[][] {
  const calls: string[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (token === '|' && depth === 0) calls.push([]);
    else calls.at(-1)?.push(token);
  }
  return calls;
}

function closing(tokens: readonly string[], from: number): number {
  let depth = 0;
  for (let at = from; at < tokens.length; at++) {
    if (tokens[at] === '(') depth++;
    if (tokens[at] === ')' && --depth === 0) return at;
  }
  return fail(`${tokens.join(' ')}: a parenthesis is not closed`);
}

/** As in Go's templates: false, 0, nothing, and what is empty are not true. */
function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isRecord(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

function indented(count: number, text: unknown): string {
  const margin = ' '.repeat(count);
  return String(text)
    .split('\n')
    .map((line) => margin + line)
    .join('\n');
}

function unquoted(token: string): string {
  const value: unknown = JSON.parse(token);
  return typeof value === 'string' ? value : fail(`${token}: not a string`);
}

/** `_helpers.tpl` comes first. */
function order(name: string): number {
  return name.startsWith('_') ? 0 : 1;
}

function fail(message: string): never {
  throw new Error(message);
}
