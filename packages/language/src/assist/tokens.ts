/**
 * Divides query code into tokens, for colours and completion. It goes on line by line, and never fails: code that is being typed fits
 * no grammar. What may stand where is for the parser to say; `tokens.test.ts` holds the two together on the places of literals.
 */

/** `type` is a name directly before `{`, `call` one directly before `(`, `property` any other behind a dot. */
export type TokenKind =
  | 'comment'
  | 'keyword'
  | 'constant'
  | 'number'
  | 'string'
  | 'template'
  | 'regex'
  | 'name'
  | 'property'
  | 'call'
  | 'type'
  | 'operator'
  | 'bracket'
  | 'invalid';

/** Offsets in UTF-16 units, end exclusive. White space is in no token. */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

/**
 * The state at the end of a line, from which the next line goes on. Two states with the same fields are the same.
 */
export interface LineState {
  /**
   * Constructs that are not closed yet, the outermost first, a character each: a quote or a backtick for a text, `*` for a comment, `{` for a hole of
   * a template and for each brace in it.
   */
  readonly open: string;
  /** True if an operand ended last, so that a slash divides and begins no regular expression. */
  readonly isAfterOperand: boolean;
}

export const FIRST_LINE: LineState = { open: '', isAfterOperand: false };

/** The tokens of one line (without its line feed), and the state behind it. */
export function tokenizeLine(line: string, state: LineState): { tokens: Token[]; state: LineState } {
  return new LineReader(line, state).read();
}

/** The tokens of a whole text, with offsets into it, and the state at its end. */
export function tokenize(source: string): { tokens: Token[]; state: LineState } {
  const tokens: Token[] = [];
  let state = FIRST_LINE;
  let offset = 0;
  for (const line of source.split('\n')) {
    const read = tokenizeLine(line, state);
    for (const { kind, start, end } of read.tokens) {
      tokens.push({ kind, start: offset + start, end: offset + end });
    }
    state = read.state;
    offset += line.length + 1;
  }
  return { tokens, state };
}

const KEYWORDS: ReadonlySet<string> = new Set(['if', 'else', 'for', 'in', 'return', 'break', 'continue']);
const CONSTANTS: ReadonlySet<string> = new Set(['true', 'false', 'nil', 'inf', 'nan']);

const SPACE = /[ \t\r\v\f]+/y;
const WORD = /[A-Za-z_][A-Za-z_0-9]*/y;
const NUMBER = /0b[01]+|0o[0-7]+|0x[0-9A-Fa-f]+|[0-9]*\.[0-9]+(?:e[+-][0-9]+)?|[0-9]+/y;
const REGEX = /\/(?:\\+\/?|[^/\\])+\/[a-z]*/y;
const OPERATOR = /\.\.|\|\||&&|==|!=|<=|>=|<<|>>|[-+*/%&^|]=|[-+*/%&^|<>=!~?:;,.]/y;
const LONG_STRING = { "'": /(?:''|[^'])*/y, '"': /(?:""|[^"])*/y };
const TEMPLATE_TEXT = /(?:``|\{\{|\}\}|[^`{}])*/y;

class LineReader {
  private readonly tokens: Token[] = [];
  private at = 0;
  private open: string;
  private isAfterOperand: boolean;
  /** The operator or bracket directly before, white space aside. */
  private before = '';

  constructor(
    private readonly line: string,
    state: LineState,
  ) {
    this.open = state.open;
    this.isAfterOperand = state.isAfterOperand;
  }

  read(): { tokens: Token[]; state: LineState } {
    while (this.at < this.line.length) {
      const inside = this.open.at(-1);
      if (inside === '*') this.readComment(this.at);
      else if (inside === "'" || inside === '"') this.readString(inside, this.at);
      else if (inside === '`') this.readTemplate(this.at);
      else this.readCode();
    }
    return { tokens: this.tokens, state: { open: this.open, isAfterOperand: this.isAfterOperand } };
  }

  private readCode(): void {
    if (this.match(SPACE) > 0) return;
    const start = this.at;
    const char = this.line.charAt(start);
    if (this.line.startsWith('//', start)) {
      this.at = this.line.length;
      this.push('comment', start);
    } else if (this.line.startsWith('/*', start)) {
      this.open += '*';
      this.at += 2;
      this.readComment(start);
    } else if (char === "'" || char === '"') {
      this.open += char;
      this.at += 1;
      this.readString(char, start);
    } else if (char === '`') {
      this.open += '`';
      this.at += 1;
      this.readTemplate(start);
    } else if (this.match(WORD) > 0) this.pushWord(start);
    else if (/[0-9]/.test(char) || (char === '.' && !this.isAfterOperand && this.hasDigitAt(start + 1))) {
      this.match(NUMBER);
      this.pushOperand('number', start);
    } else if (char === '/' && !this.isAfterOperand && this.matchRegex()) this.pushOperand('regex', start);
    else if ('()[]{}'.includes(char)) this.pushBracket(char, start);
    else if (this.match(OPERATOR) > 0) {
      this.push('operator', start);
      this.before = this.line.slice(start, this.at);
      this.isAfterOperand = false;
    } else {
      this.at += 1;
      this.push('invalid', start);
    }
  }

  private readComment(start: number): void {
    const end = this.line.indexOf('*/', this.at);
    this.at = end < 0 ? this.line.length : end + 2;
    if (end >= 0) this.close();
    this.push('comment', start);
  }

  private readString(quote: "'" | '"', start: number): void {
    this.match(LONG_STRING[quote]);
    if (this.at < this.line.length) {
      this.at += 1;
      this.close();
    }
    this.pushOperand('string', start);
  }

  private readTemplate(start: number): void {
    this.match(TEMPLATE_TEXT);
    const char = this.line.charAt(this.at);
    if (char !== '') this.at += 1;
    if (char === '`') this.close();
    this.pushOperand('template', start);
    if (char === '{') {
      this.open += '{';
      this.isAfterOperand = false;
      this.before = '{';
    }
  }

  private pushWord(start: number): void {
    const word = this.line.slice(start, this.at);
    const isMember = this.before === '.' || this.before === '..';
    const next = this.line.charAt(this.at);
    if (!isMember && KEYWORDS.has(word)) {
      this.push('keyword', start);
      this.before = '';
      this.isAfterOperand = word === 'break' || word === 'continue';
    } else if (!isMember && CONSTANTS.has(word)) this.pushOperand('constant', start);
    else {
      const rest = this.line.slice(this.at).trimStart();
      const kind = rest.startsWith('(') ? 'call' : isMember ? 'property' : next === '{' ? 'type' : 'name';
      this.pushOperand(kind, start);
    }
  }

  private pushBracket(char: string, start: number): void {
    this.at += 1;
    const isInTemplate = this.open !== '';
    if (isInTemplate && char === '{') this.open += '{';
    if (isInTemplate && char === '}') {
      this.close();
      // The brace that ends a hole is text of the template.
      if (this.open.endsWith('`')) {
        this.readTemplate(start);
        return;
      }
    }
    this.push('bracket', start);
    this.before = char;
    this.isAfterOperand = ')]}'.includes(char);
  }

  private matchRegex(): boolean {
    const start = this.at;
    if (this.match(REGEX) > 0) return true;
    // Without a slash that ends it the last slash of the line does.
    const end = this.line.lastIndexOf('/');
    if (end <= start + 1) return false;
    this.at = end + 1;
    return true;
  }

  private hasDigitAt(offset: number): boolean {
    return /[0-9]/.test(this.line.charAt(offset));
  }

  private close(): void {
    this.open = this.open.slice(0, -1);
  }

  private pushOperand(kind: TokenKind, start: number): void {
    this.push(kind, start);
    this.before = '';
    this.isAfterOperand = true;
  }

  private push(kind: TokenKind, start: number): void {
    this.tokens.push({ kind, start, end: this.at });
  }

  /** Moves behind what the pattern matches here; gives the length of it, 0 for nothing. */
  private match(pattern: RegExp): number {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.line)?.[0].length ?? 0;
    this.at += found;
    return found;
  }
}
