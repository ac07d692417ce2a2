/** The context of a place in a text that is being typed: the part of completion that needs no names. */
import { type Token, tokenize } from './tokens.js';

/** The receiver of a method or property, as far as the text tells. */
export type Receiver =
  /** Properties from the root of the collection: `.a.b` is `['a', 'b']`, the root itself `[]`. */
  | { readonly kind: 'path'; readonly path: readonly string[] }
  /** A literal of a type that the text shows. */
  | { readonly kind: 'type'; readonly type: string }
  | { readonly kind: 'unknown' };

export type Wanted =
  /** A variable, function, procedure, type, enum, keyword or constant. */
  | { readonly kind: 'name' }
  | { readonly kind: 'member'; readonly receiver: Receiver }
  /** A field of a type, or a member of an enum: behind `Name{`. */
  | { readonly kind: 'field'; readonly of: string; readonly isFirst: boolean }
  /** A text that is an argument of a call, such as the name in `type_info('...')`. */
  | { readonly kind: 'text'; readonly call: EnclosingCall }
  | { readonly kind: 'nothing' };

/** The innermost call that a place is in. */
export interface EnclosingCall {
  readonly name: string;
  readonly isMethod: boolean;
  /** Number of the argument, from 0. */
  readonly argument: number;
}

export interface Context {
  readonly wanted: Wanted;
  /** The word (or text) around the place, which a completion replaces: offsets in UTF-16 units, end exclusive. */
  readonly from: number;
  readonly to: number;
  /** The part of it before the place. */
  readonly prefix: string;
  readonly call: EnclosingCall | null;
  /** Variables that the text names elsewhere. */
  readonly variables: readonly string[];
}

const WORDS: ReadonlySet<string> = new Set(['name', 'property', 'call', 'type', 'keyword', 'constant']);

export function contextAt(source: string, offset: number): Context {
  const { tokens } = tokenize(source);
  const touching = tokens.findLast(({ start, end }) => start < offset && offset <= end);
  const word = touching !== undefined && WORDS.has(touching.kind) ? touching : undefined;
  const before = tokens.filter(
    ({ kind, start, end }) => kind !== 'comment' && (word === undefined ? end <= offset : start < word.start),
  );
  const walk = new Backwards(source, before);
  const call = walk.enclosingCall();
  const from = word?.start ?? offset;
  const common = { call, variables: variablesIn(source, tokens, word) };
  if (touching !== undefined && word === undefined && isInside(source, touching, offset)) {
    if (touching.kind !== 'string' || call === null) {
      return { ...common, wanted: { kind: 'nothing' }, from: offset, to: offset, prefix: '' };
    }
    const to = isClosed(source, touching) ? touching.end - 1 : offset;
    const prefix = source.slice(touching.start + 1, offset);
    return { ...common, wanted: { kind: 'text', call }, from: touching.start + 1, to, prefix };
  }
  const to = word?.end ?? offset;
  return { ...common, wanted: walk.wanted(), from, to, prefix: source.slice(from, offset) };
}

/** True if a place at the end of a token still belongs to it: a text may not be closed, a number may go on. */
function isInside(source: string, token: Token, offset: number): boolean {
  if (offset < token.end) return true;
  if (token.kind === 'number' || token.kind === 'regex') return true;
  if (token.kind === 'comment') return !source.slice(token.start, token.end).endsWith('*/');
  return (token.kind === 'string' || token.kind === 'template') && !isClosed(source, token);
}

function isClosed(source: string, { kind, start, end }: Token): boolean {
  const last = source.charAt(end - 1);
  if (kind === 'template') return last === '`' || last === '{';
  return end - start > 1 && last === source.charAt(start);
}

function variablesIn(source: string, tokens: readonly Token[], word: Token | undefined): string[] {
  const names = tokens.filter((token) => token.kind === 'name' && token !== word);
  return [...new Set(names.map(({ start, end }) => source.slice(start, end)))];
}

/** Reads tokens from the last to the first. */
class Backwards {
  constructor(
    private readonly source: string,
    private readonly tokens: readonly Token[],
  ) {}

  wanted(): Wanted {
    const last = this.tokens.length - 1;
    const text = this.text(last);
    if (text === '.' || text === '..') return { kind: 'member', receiver: this.receiver(last - 1) };
    if (text === '{' || text === ',') {
      const open = text === '{' ? last : this.opening(last);
      const head = this.tokens[open - 1];
      if (this.text(open) === '{' && head?.kind === 'type') {
        return { kind: 'field', of: this.text(open - 1), isFirst: text === '{' };
      }
    }
    return { kind: 'name' };
  }

  enclosingCall(): EnclosingCall | null {
    let argument = 0;
    for (let index = this.tokens.length - 1, depth = 0; index >= 0; index--) {
      const text = this.text(index);
      if (this.tokens[index]?.kind === 'operator' && text === ',' && depth === 0) argument++;
      if (this.tokens[index]?.kind !== 'bracket') continue;
      if (CLOSING.includes(text)) depth++;
      else if (depth > 0) depth--;
      else if (text === '(' && this.tokens[index - 1]?.kind === 'call') {
        const dot = this.text(index - 2);
        return { name: this.text(index - 1), isMethod: dot === '.' || dot === '..', argument };
      } else argument = 0;
    }
    return null;
  }

  /** The receiver that ends with the token at an index, and has a dot behind it. */
  private receiver(index: number): Receiver {
    const path: string[] = [];
    for (let at = index; ; at -= 2) {
      const token = this.tokens[at];
      if (token === undefined || !this.isOperand(at)) return { kind: 'path', path };
      if (token.kind !== 'property') return path.length === 0 ? this.literal(at) : { kind: 'unknown' };
      path.unshift(this.text(at));
      if (this.text(at - 1) !== '.' && this.text(at - 1) !== '..') return { kind: 'unknown' };
    }
  }

  private literal(index: number): Receiver {
    const token = this.tokens[index];
    const text = this.text(index);
    if (token?.kind === 'string' || token?.kind === 'template') return { kind: 'type', type: 'str' };
    if (token?.kind === 'regex') return { kind: 'type', type: 'regex' };
    if (token?.kind === 'number')
      return { kind: 'type', type: /^0[box]|^[0-9]+$/.test(text) ? 'int' : 'float' };
    if (text === ']' && !this.isOperand(this.opening(index) - 1)) return { kind: 'type', type: 'list' };
    return { kind: 'unknown' };
  }

  private isOperand(index: number): boolean {
    const token = this.tokens[index];
    if (token === undefined || token.kind === 'operator' || token.kind === 'keyword') return false;
    return token.kind !== 'bracket' || CLOSING.includes(this.text(index));
  }

  /** Index of the bracket that opens what the token at an index is in or closes; -1 for none. */
  private opening(index: number): number {
    for (let at = index - 1, depth = 0; at >= 0; at--) {
      if (this.tokens[at]?.kind !== 'bracket') continue;
      if (CLOSING.includes(this.text(at))) depth++;
      else if (depth-- === 0) return at;
    }
    return -1;
  }

  private text(index: number): string {
    const token = this.tokens[index];
    return token === undefined ? '' : this.source.slice(token.start, token.end);
  }
}

const CLOSING = [')', ']', '}'];
