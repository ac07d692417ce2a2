// Made from grammar.ohm by generator/main.mjs. Do not edit: change the grammar and run the build.
import type { AssignOp, BinaryOp, Closure, Entry, Link, Node, Param, StrLiteral, ThingLiteral } from './ast.js';
import { headedChain, indexLink, orNone, prefixed, rootChain, ternary } from './build.js';
import { CHARACTERS_PER_LOOK, NESTING_MAX, nestedTooDeep, type Watch } from './limits.js';
import { isOptional, toAssignOp, toFloat, toInt, toName, toRegexBody, toRegexFlags, toStr, toTemplateText } from './literals.js';

/** Tokens that can be missing at a place, in the words of the grammar. */
export const EXPECTED: readonly (readonly string[])[] = [
  ["\"&{\"","\"(\"","\".\" or \"..\"","\"[\"","\"break\"","\"continue\"","\"false\"","\"for\"","\"if\"","\"nil\"","\"return\"","\"true\"","\"{\"","\"|\"","\"~\"","a float","a prefix operator","a regular expression","a string","a template","a variable name","an int"],
  ["the end"],
  ["\";\""],
  ["an operator"],
  ["\":\""],
  ["\"?\""],
  ["\"~\""],
  ["a prefix operator"],
  ["\".\" or \"..\"","\"[\""],
  ["\"false\""],
  ["\"nil\""],
  ["\"true\""],
  ["a float"],
  ["an int"],
  ["a string"],
  ["a regular expression"],
  ["\"&{\"","\"(\"","\"[\"","\"false\"","\"nil\"","\"true\"","\"{\"","a float","a regular expression","a string","a template","a variable name","an int"],
  ["\"&{\"","\"(\"","\".\" or \"..\"","\"[\"","\"false\"","\"nil\"","\"true\"","\"{\"","a float","a regular expression","a string","a template","a variable name","an int"],
  ["\"if\""],
  ["\"(\""],
  ["\")\""],
  ["\"else\""],
  ["\"return\""],
  ["\",\""],
  ["\"for\""],
  ["a variable name"],
  ["\"in\""],
  ["\"break\""],
  ["\"continue\""],
  ["\"|\""],
  ["\".\" or \"..\""],
  ["a name"],
  ["an assignment"],
  ["\"&{\""],
  ["\"}\""],
  ["\"`\""],
  ["template text"],
  ["\"{\"","template text"],
  ["\"|\"","a name"],
  ["\"{\""],
  ["\"[\""],
  ["\"]\""],
];

/** Tokens that any statement may begin with. */
export const STATEMENT: readonly string[] = ["\"&{\"","\"(\"","\".\" or \"..\"","\"[\"","\"break\"","\"continue\"","\"false\"","\"for\"","\"if\"","\"nil\"","\"return\"","\"true\"","\"{\"","\"|\"","\"~\"","a float","a prefix operator","a regular expression","a string","a template","a variable name","an int"];

/** Behind the end of every text: nothing is noted, and nobody looks. */
const NOWHERE = 2 ** 30;

export class GeneratedParser {
  /** Rightmost place at which something was missing; -1 as long as nothing was. */
  far: number;
  /** Tokens that were missing there: the first `noted` are indexes into EXPECTED. */
  readonly wanted: number[] = [];
  noted = 0;
  /** The source with a 0 behind it, so that looking behind its last character is no special case. */
  readonly text: string;
  readonly length: number;
  /** End of what the last successful rule matched. */
  pos = 0;
  /** Statements around the current place. */
  depth = -1;
  /** Where Stmt has failed: it need not be tried there again. */
  failedStmt: Set<number> | undefined;
  /** The last stretch of white space that was skipped. */
  skippedFrom = -1;
  skippedTo = -1;
  /** Where the text goes on behind a closure that ended with } at the end of a line; -1 behind any other. */
  closedAt = -1;
  readonly watch: Watch;
  /** Where `watch` is called next. */
  lookAt: number;

  /**
   * @param notes whether to note what is missing: to be asked for when a text is known not to fit
   * @param watch is called time and again on the way through a long text
   */
  constructor(readonly source: string, notes = false, watch: Watch = null) {
    this.text = source + '\0';
    this.length = source.length;
    this.far = notes ? -1 : NOWHERE;
    this.watch = watch;
    this.lookAt = watch === null ? NOWHERE : CHARACTERS_PER_LOOK;
  }

  look(p: number): void {
    this.lookAt = p + CHARACTERS_PER_LOOK;
    this.watch?.();
  }

  note(q: number, expectation: number): void {
    if (q > this.far) {
      this.far = q;
      this.noted = 0;
    }
    this.wanted[this.noted++] = expectation;
  }

  /** The value of the whole source, or undefined if it does not fit the grammar. */
  parse(): readonly Node[] | undefined {
    return this.Query(this.skip(0));
  }

  /** The first place from `from` on that is not white space. */
  skip(from: number): number {
    if (from === this.skippedFrom) return this.skippedTo;
    let p = from;
    for (let end = this.$space(p); end >= 0; end = this.$space(p)) p = end;
    this.skippedFrom = from;
    this.skippedTo = p;
    return p;
  }

  /** The value of `closedAt` for a closure that ends at `p`. */
  closing(p: number): number {
    if (this.text.charCodeAt(p - 1) !== 125) return -1;
    const q = this.skip(p);
    return this.text.slice(p, q).includes('\n') ? q : -1;
  }

  giveUpStmt(start: number): undefined {
    this.depth--;
    if (this.failedStmt === undefined) this.failedStmt = new Set();
    this.failedStmt.add(start);
    return undefined;
  }

  /** The operator at `q`, as an index into the tables of operators, or -1. */
  operator(q: number): number {
    const text = this.text;
    switch (text.charCodeAt(q)) {
      case 124: // |
        if (text.charCodeAt(q + 1) === 124) return 0;
        if (!text.startsWith('|', q + 1)) return 10;
        return -1;

      case 38: // &
        if (text.charCodeAt(q + 1) === 38) return 1;
        if (!text.startsWith('&', q + 1)) return 12;
        return -1;

      case 61: // =
        if (text.charCodeAt(q + 1) === 61) return 2;
        return -1;

      case 33: // !
        if (text.charCodeAt(q + 1) === 61) return 3;
        return -1;

      case 60: // <
        if (text.charCodeAt(q + 1) === 61) return 4;
        if (text.charCodeAt(q + 1) === 60) return 6;
        if (!text.startsWith('<', q + 1)) return 8;
        return -1;

      case 62: // >
        if (text.charCodeAt(q + 1) === 61) return 5;
        if (text.charCodeAt(q + 1) === 62) return 7;
        if (!text.startsWith('>', q + 1)) return 9;
        return -1;

      case 94: // ^
        return 11;

      case 43: // +
        return 13;

      case 45: // -
        return 14;

      case 37: // %
        return 15;

      case 42: // *
        return 16;

      case 47: // /
        return 17;

      default:
        return -1;

    }
  }

  Query(start: number): readonly Node[] | undefined {
    let v1: Node[] | null = null;
    let v2: Node[] | undefined;
    let v3 = 0;
    let v4 = 0;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    v1 = null;
    opt1: if (((c0 >= 33 && c0 <= 34) || (c0 >= 38 && c0 <= 40) || c0 === 43 || (c0 >= 45 && c0 <= 57) || (c0 >= 65 && c0 <= 91) || (c0 >= 95 && c0 <= 124) || c0 === 126)) {
      v2 = this.Stmts(start);
      if (v2 === undefined) {
        break opt1;
      }
      p = this.pos;
      v1 = v2;
    } else {
      if (start >= this.far) this.note(start, 0);
    }
    v3 = p;
    v4 = text.charCodeAt(v3);
    if (((v4 >= 9 && v4 <= 13) || v4 === 32 || v4 === 47)) {
      v3 = this.skip(v3);
      v4 = text.charCodeAt(v3);
    }
    if (v3 !== this.length) {
      if (v3 >= this.far) this.note(v3, 1);
      return undefined;
    }
    this.pos = p;
    return orNone(start, p, v1);
  }

  $space(start: number): number {
    let v2 = 0;
    let v3 = 0;
    const text = this.text;
    let p = start;
    alt1: {
      v2 = text.charCodeAt(p);
      no2: if (((v2 >= 9 && v2 <= 13) || v2 === 32)) {
        p += 1;
        break alt1;
      }
      no3: if (v2 === 47) {
        v3 = this.$lineComment(p);
        if (v3 < 0) {
          break no3;
        }
        p = v3;
        break alt1;
      }
      no4: if (v2 === 47) {
        v3 = this.$blockComment(p);
        if (v3 < 0) {
          break no4;
        }
        p = v3;
        break alt1;
      }
      return -1;
    }
    return p;
  }

  Stmts(start: number): Node[] | undefined {
    let v1: Node[] | undefined;
    let v2: Node | undefined;
    let v3 = 0;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    let v7 = 0;
    let v8: Node | undefined;
    const text = this.text;
    let p = start;
    v1 = [];
    v2 = this.Stmt(start);
    if (v2 === undefined) {
      return undefined;
    }
    p = this.pos;
    if (v1.length === 0) v1 = [v2];
    else v1.push(v2);
    loop1: for (;;) {
      if (p >= this.lookAt) this.look(p);
      v3 = p;
      v4 = text.charCodeAt(v3);
      if (((v4 >= 9 && v4 <= 13) || v4 === 32 || v4 === 47)) {
        v3 = this.skip(v3);
        v4 = text.charCodeAt(v3);
      }
      if (!(((v4 >= 33 && v4 <= 34) || (v4 >= 38 && v4 <= 40) || v4 === 43 || (v4 >= 45 && v4 <= 57) || v4 === 59 || (v4 >= 65 && v4 <= 91) || (v4 >= 95 && v4 <= 124) || v4 === 126))) {
        if (v3 >= this.far) this.note(v3, 2);
        break;
      }
      v5 = p;
      alt2: {
        no3: if (v4 === 59) {
          p = v3 + 1;
          loop4: for (;;) {
            if (p >= this.lookAt) this.look(p);
            v6 = p;
            v7 = text.charCodeAt(v6);
            if (((v7 >= 9 && v7 <= 13) || v7 === 32 || v7 === 47)) {
              v6 = this.skip(v6);
              v7 = text.charCodeAt(v6);
            }
            if (!(v7 === 59)) {
              if (v6 >= this.far) this.note(v6, 2);
              break;
            }
            p = v6 + 1;
          }
          break alt2;
        }
        no5: {
          if (v3 !== this.closedAt) {
            break no5;
          }
          break alt2;
        }
        if (v3 >= this.far) this.note(v3, 2);
        p = v5;
        break loop1;
      }
      v3 = p;
      v4 = text.charCodeAt(v3);
      if (((v4 >= 9 && v4 <= 13) || v4 === 32 || v4 === 47)) {
        v3 = this.skip(v3);
        v4 = text.charCodeAt(v3);
      }
      v8 = this.Stmt(v3);
      if (v8 === undefined) {
        p = v5;
        break loop1;
      }
      p = this.pos;
      if (v1.length === 0) v1 = [v8];
      else v1.push(v8);
    }
    loop6: for (;;) {
      if (p >= this.lookAt) this.look(p);
      v5 = p;
      v4 = text.charCodeAt(v5);
      if (((v4 >= 9 && v4 <= 13) || v4 === 32 || v4 === 47)) {
        v5 = this.skip(v5);
        v4 = text.charCodeAt(v5);
      }
      if (!(v4 === 59)) {
        if (v5 >= this.far) this.note(v5, 2);
        break;
      }
      p = v5 + 1;
    }
    this.pos = p;
    return v1;
  }

  $lineComment(start: number): number {
    let v2 = 0;
    const text = this.text;
    const length = this.length;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 47 && text.charCodeAt(p + 1) === 47)) {
      return -1;
    }
    p += 2;
    while (p < length && text.charCodeAt(p) !== 10) p++;
    return p;
  }

  $blockComment(start: number): number {
    let v2 = 0;
    let v4 = 0;
    let v5 = 0;
    const text = this.text;
    const length = this.length;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 47 && text.charCodeAt(p + 1) === 42)) {
      return -1;
    }
    p += 2;
    loop1: for (;;) {
      v4 = text.charCodeAt(p);
      v5 = p;
      not2: if (v4 === 42) {
        if (!(text.charCodeAt(p + 1) === 47)) {
          break not2;
        }
        p += 2;
        p = v5;
        break loop1;
      }
      p = v5;
      if (!(p < length)) {
        break loop1;
      }
      p += 1;
    }
    v2 = text.charCodeAt(p);
    if (!(v2 === 42 && text.charCodeAt(p + 1) === 47)) {
      return -1;
    }
    p += 2;
    return p;
  }

  Stmt(start: number): Node | undefined {
    let v1: Node | undefined;
    let v2: Level[] | undefined;
    let v3 = 0;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    let v7: Node | null = null;
    let v8: Node | null = null;
    let v9 = 0;
    let v10 = 0;
    let v11 = 0;
    let v12: Node | undefined;
    let v13: Node | undefined;
    if (this.failedStmt !== undefined && this.failedStmt.has(start)) return undefined;
    if (++this.depth > NESTING_MAX) throw nestedTooDeep(start);
    const text = this.text;
    const first = text.charCodeAt(start);
    if (!(((first >= 33 && first <= 34) || (first >= 38 && first <= 40) || first === 43 || (first >= 45 && first <= 57) || (first >= 65 && first <= 91) || (first >= 95 && first <= 124) || first === 126))) {
      if (start >= this.far) this.note(start, 0);
      this.depth--;
      return undefined;
    }
    let p = start;
    v2 = undefined;
    v3 = start;
    for (;;) {
      if (p >= this.lookAt) this.look(p);
      v1 = this.Operand(v3);
      if (v1 === undefined) {
        if (v2 === undefined) {
          return this.giveUpStmt(start);
        }
        // No operand behind the operator: it does not belong to this expression.
        v1 = unshift(v2);
        break;
      }
      p = this.pos;
      v5 = p;
      v6 = text.charCodeAt(v5);
      if (((v6 >= 9 && v6 <= 13) || v6 === 32 || v6 === 47)) {
        v5 = this.skip(v5);
        v6 = text.charCodeAt(v5);
      }
      v4 = (v6 === 33 || (v6 >= 37 && v6 <= 38) || (v6 >= 42 && v6 <= 43) || v6 === 45 || v6 === 47 || (v6 >= 60 && v6 <= 62) || v6 === 94 || v6 === 124) ? this.operator(v5) : -1;
      if (v4 < 0) {
        if (v5 >= this.far) this.note(v5, 3);
        break;
      }
      v3 = v5 + WIDTHS[v4]!;
      v6 = text.charCodeAt(v3);
      if (((v6 >= 9 && v6 <= 13) || v6 === 32 || v6 === 47)) {
        v3 = this.skip(v3);
        v6 = text.charCodeAt(v3);
      }
      if (!(((v6 >= 33 && v6 <= 34) || (v6 >= 38 && v6 <= 40) || v6 === 43 || (v6 >= 45 && v6 <= 57) || (v6 >= 65 && v6 <= 91) || (v6 >= 95 && v6 <= 124) || v6 === 126))) {
        if (v3 >= this.far) this.note(v3, 0);
        break;
      }
      if (v2 === undefined) v2 = [];
      shift(v2, v1, v4);
    }
    if (v2 !== undefined) v1 = close(v2, v1);
    v7 = null;
    v8 = null;
    v5 = p;
    v6 = text.charCodeAt(v5);
    if (((v6 >= 9 && v6 <= 13) || v6 === 32 || v6 === 47)) {
      v5 = this.skip(v5);
      v6 = text.charCodeAt(v5);
    }
    opt1: if (v6 === 63) {
      v9 = p;
      p = v5 + 1;
      v10 = p;
      v11 = text.charCodeAt(v10);
      if (((v11 >= 9 && v11 <= 13) || v11 === 32 || v11 === 47)) {
        v10 = this.skip(v10);
        v11 = text.charCodeAt(v10);
      }
      v12 = this.Stmt(v10);
      if (v12 === undefined) {
        p = v9;
        break opt1;
      }
      p = this.pos;
      v7 = v12;
      v10 = p;
      v11 = text.charCodeAt(v10);
      if (((v11 >= 9 && v11 <= 13) || v11 === 32 || v11 === 47)) {
        v10 = this.skip(v10);
        v11 = text.charCodeAt(v10);
      }
      if (v11 !== 58) {
        if (v10 >= this.far) this.note(v10, 4);
        p = v9;
        v7 = null;
        break opt1;
      }
      p = v10 + 1;
      v10 = p;
      v11 = text.charCodeAt(v10);
      if (((v11 >= 9 && v11 <= 13) || v11 === 32 || v11 === 47)) {
        v10 = this.skip(v10);
        v11 = text.charCodeAt(v10);
      }
      v13 = this.Stmt(v10);
      if (v13 === undefined) {
        p = v9;
        v7 = null;
        break opt1;
      }
      p = this.pos;
      v8 = v13;
    } else {
      if (v5 >= this.far) this.note(v5, 5);
    }
    this.depth--;
    this.pos = p;
    return ternary(start, p, v1, v7, v8);
  }

  Operand(start: number): Node | undefined {
    let v1 = 0;
    let v2: Node | undefined;
    let v3: string[] | undefined;
    let v4 = 0;
    let v5 = 0;
    let v6: string[] | undefined;
    let v7 = 0;
    let v8: Node | undefined;
    let v9: Link | undefined;
    let v10: Link[] | undefined;
    let v11 = 0;
    let v12 = 0;
    let v13: Link | undefined;
    let v14: Node | undefined;
    let v15: Node | undefined;
    let v16 = 0;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    v1 = p;
    no1: if (c0 === 105) {
      v2 = this.If(start);
      if (v2 === undefined) {
        break no1;
      }
      p = this.pos;
      return v2;
    }
    no2: if (c0 === 114) {
      v2 = this.Return(start);
      if (v2 === undefined) {
        break no2;
      }
      p = this.pos;
      return v2;
    }
    no3: if (c0 === 102) {
      v2 = this.For(start);
      if (v2 === undefined) {
        break no3;
      }
      p = this.pos;
      return v2;
    }
    no4: if (c0 === 98) {
      v2 = this.Break(start);
      if (v2 === undefined) {
        break no4;
      }
      p = this.pos;
      return v2;
    }
    no5: if (c0 === 99) {
      v2 = this.Continue(start);
      if (v2 === undefined) {
        break no5;
      }
      p = this.pos;
      return v2;
    }
    no6: if (c0 === 124) {
      v2 = this.Closure(start);
      if (v2 === undefined) {
        break no6;
      }
      p = this.pos;
      return v2;
    }
    no7: if (((c0 >= 33 && c0 <= 34) || (c0 >= 38 && c0 <= 40) || c0 === 43 || (c0 >= 45 && c0 <= 57) || (c0 >= 65 && c0 <= 91) || (c0 >= 95 && c0 <= 123) || c0 === 126)) {
      rule8: {
        v3 = undefined;
        loop9: for (;;) {
          if (p >= this.lookAt) this.look(p);
          v4 = p;
          v5 = text.charCodeAt(v4);
          if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
            v4 = this.skip(v4);
            v5 = text.charCodeAt(v4);
          }
          if (!(v5 === 126)) {
            if (v4 >= this.far) this.note(v4, 6);
            break;
          }
          p = v4 + 1;
          if (v3 === undefined) v3 = ['~'];
          else v3.push('~');
        }
        v6 = undefined;
        loop10: for (;;) {
          if (p >= this.lookAt) this.look(p);
          v5 = p;
          v4 = text.charCodeAt(v5);
          if (((v4 >= 9 && v4 <= 13) || v4 === 32 || v4 === 47)) {
            v5 = this.skip(v5);
            v4 = text.charCodeAt(v5);
          }
          if (!((v4 === 33 || v4 === 43 || v4 === 45))) {
            if (v5 >= this.far) this.note(v5, 7);
            break;
          }
          v7 = this.$sign(v5);
          if (v7 < 0) {
            if (v5 >= this.far) this.note(v5, 7);
            break loop10;
          }
          if (v6 === undefined) v6 = [this.source.slice(v5, v7)];
          else v6.push(this.source.slice(v5, v7));
          p = v7;
        }
        v4 = p;
        v5 = text.charCodeAt(v4);
        if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
          v4 = this.skip(v4);
          v5 = text.charCodeAt(v4);
        }
        v7 = v4;
        rule11: {
          no12: if (v5 === 46) {
            v9 = this.Member(v4);
            if (v9 === undefined) {
              break no12;
            }
            p = this.pos;
            v10 = undefined;
            loop13: for (;;) {
              if (p >= this.lookAt) this.look(p);
              v11 = p;
              v12 = text.charCodeAt(v11);
              if (((v12 >= 9 && v12 <= 13) || v12 === 32 || v12 === 47)) {
                v11 = this.skip(v11);
                v12 = text.charCodeAt(v11);
              }
              if (!((v12 === 46 || v12 === 91))) {
                if (v11 >= this.far) this.note(v11, 8);
                break;
              }
              v13 = this.Link(v11);
              if (v13 === undefined) {
                break loop13;
              }
              p = this.pos;
              if (v10 === undefined) v10 = [v13];
              else v10.push(v13);
            }
            v8 = rootChain(v7, p, v9, v10);
            break rule11;
          }
          no14: if ((v5 === 34 || (v5 >= 38 && v5 <= 40) || v5 === 43 || (v5 >= 45 && v5 <= 57) || (v5 >= 65 && v5 <= 91) || (v5 >= 95 && v5 <= 123))) {
            v12 = v4;
            rule15: {
              no16: if (v5 === 102) {
                v11 = this.$false(v4);
                if (v11 < 0) {
                  if (v4 >= this.far) this.note(v4, 9);
                  break no16;
                }
                p = v11;
                v14 = { kind: 'bool', start: v4, end: v11, value: false };
                break rule15;
              }
              no17: if (v5 === 110) {
                v11 = this.$nil(v4);
                if (v11 < 0) {
                  if (v4 >= this.far) this.note(v4, 10);
                  break no17;
                }
                p = v11;
                v14 = { kind: 'nil', start: v4, end: v11 };
                break rule15;
              }
              no18: if (v5 === 116) {
                v11 = this.$true(v4);
                if (v11 < 0) {
                  if (v4 >= this.far) this.note(v4, 11);
                  break no18;
                }
                p = v11;
                v14 = { kind: 'bool', start: v4, end: v11, value: true };
                break rule15;
              }
              no19: if ((v5 === 43 || (v5 >= 45 && v5 <= 46) || (v5 >= 48 && v5 <= 57) || v5 === 105 || v5 === 110)) {
                v11 = this.$float(v4);
                if (v11 < 0) {
                  if (v4 >= this.far) this.note(v4, 12);
                  break no19;
                }
                p = v11;
                v14 = { kind: 'float', start: v4, end: v11, value: toFloat(this.source.slice(v4, v11)) };
                break rule15;
              }
              no20: if ((v5 === 43 || v5 === 45 || (v5 >= 48 && v5 <= 57))) {
                v11 = this.$int(v4);
                if (v11 < 0) {
                  if (v4 >= this.far) this.note(v4, 13);
                  break no20;
                }
                p = v11;
                v14 = { kind: 'int', start: v4, end: v11, value: toInt(this.source.slice(v4, v11)) };
                break rule15;
              }
              no21: if ((v5 === 34 || v5 === 39)) {
                v11 = this.$string(v4);
                if (v11 < 0) {
                  if (v4 >= this.far) this.note(v4, 14);
                  break no21;
                }
                p = v11;
                v14 = { kind: 'str', start: v4, end: v11, value: toStr(this.source.slice(v4, v11)) };
                break rule15;
              }
              no22: if (v5 === 47) {
                v11 = this.$regex(v4);
                if (v11 < 0) {
                  if (v4 >= this.far) this.note(v4, 15);
                  break no22;
                }
                p = v11;
                v14 = { kind: 'regex', start: v4, end: v11, body: toRegexBody(this.source.slice(v4, v11)), flags: toRegexFlags(this.source.slice(v4, v11)) };
                break rule15;
              }
              no23: if (v5 === 38) {
                v15 = this.Anonymous(v4);
                if (v15 === undefined) {
                  break no23;
                }
                p = this.pos;
                v14 = v15;
                break rule15;
              }
              no24: if (v5 === 96) {
                v15 = this.template(v4);
                if (v15 === undefined) {
                  break no24;
                }
                p = this.pos;
                v14 = v15;
                break rule15;
              }
              no25: if (((v5 >= 65 && v5 <= 90) || v5 === 95 || (v5 >= 97 && v5 <= 122))) {
                v15 = this.Named(v4);
                if (v15 === undefined) {
                  break no25;
                }
                p = this.pos;
                v14 = v15;
                break rule15;
              }
              no26: if (v5 === 123) {
                v15 = this.Thing(v4);
                if (v15 === undefined) {
                  break no26;
                }
                p = this.pos;
                v14 = v15;
                break rule15;
              }
              no27: if (v5 === 91) {
                v15 = this.List(v4);
                if (v15 === undefined) {
                  break no27;
                }
                p = this.pos;
                v14 = v15;
                break rule15;
              }
              no28: if (v5 === 40) {
                v15 = this.Paren(v4);
                if (v15 === undefined) {
                  break no28;
                }
                p = this.pos;
                v14 = v15;
                break rule15;
              }
              if (v4 >= this.far) this.note(v4, 16);
              break no14;
            }
            v10 = undefined;
            loop29: for (;;) {
              if (p >= this.lookAt) this.look(p);
              v11 = p;
              v16 = text.charCodeAt(v11);
              if (((v16 >= 9 && v16 <= 13) || v16 === 32 || v16 === 47)) {
                v11 = this.skip(v11);
                v16 = text.charCodeAt(v11);
              }
              if (!((v16 === 46 || v16 === 91))) {
                if (v11 >= this.far) this.note(v11, 8);
                break;
              }
              v9 = this.Link(v11);
              if (v9 === undefined) {
                break loop29;
              }
              p = this.pos;
              if (v10 === undefined) v10 = [v9];
              else v10.push(v9);
            }
            v8 = headedChain(v7, p, v14, v10);
            break rule11;
          }
          if (v4 >= this.far) this.note(v4, 17);
          p = v1;
          break no7;
        }
        v2 = prefixed(start, p, v3, v6, v8);
        break rule8;
      }
      this.pos = p;
      return v2;
    }
    no30: if (c0 === 123) {
      v2 = this.Block(start);
      if (v2 === undefined) {
        break no30;
      }
      p = this.pos;
      return v2;
    }
    if (start >= this.far) this.note(start, 0);
    return undefined;
  }

  If(start: number): Node | undefined {
    let v1 = 0;
    let v2 = 0;
    let v3: Node | undefined;
    let v4: Node | undefined;
    let v5: Node | null = null;
    let v6 = 0;
    let v7 = 0;
    let v8 = 0;
    let v9: Node | undefined;
    const text = this.text;
    let p = start;
    v1 = this.$if(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 18);
      return undefined;
    }
    p = v1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v2 !== 40) {
      if (v1 >= this.far) this.note(v1, 19);
      return undefined;
    }
    p = v1 + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    v3 = this.Stmt(v1);
    if (v3 === undefined) {
      return undefined;
    }
    p = this.pos;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v2 !== 41) {
      if (v1 >= this.far) this.note(v1, 20);
      return undefined;
    }
    p = v1 + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    v4 = this.Stmt(v1);
    if (v4 === undefined) {
      return undefined;
    }
    p = this.pos;
    v5 = null;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    opt1: if (v2 === 101) {
      v6 = p;
      v7 = this.$else(v1);
      if (v7 < 0) {
        if (v1 >= this.far) this.note(v1, 21);
        p = v6;
        break opt1;
      }
      p = v7;
      v7 = p;
      v8 = text.charCodeAt(v7);
      if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
        v7 = this.skip(v7);
        v8 = text.charCodeAt(v7);
      }
      v9 = this.Stmt(v7);
      if (v9 === undefined) {
        p = v6;
        break opt1;
      }
      p = this.pos;
      v5 = v9;
    } else {
      if (v1 >= this.far) this.note(v1, 21);
    }
    this.pos = p;
    return { kind: 'if', start, end: p, condition: v3, then: v4, otherwise: v5 };
  }

  Return(start: number): Node | undefined {
    let v1 = 0;
    let v2: Node | null = null;
    let v3: Node | null = null;
    let v4: Node | null = null;
    let v5 = 0;
    let v6: Node | undefined;
    let v7 = 0;
    let v8 = 0;
    let v9 = 0;
    let v10 = 0;
    let v11 = 0;
    let v12: Node | undefined;
    let v13 = 0;
    let v14 = 0;
    let v15 = 0;
    let v16: Node | undefined;
    const text = this.text;
    let p = start;
    v1 = this.$return(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 22);
      return undefined;
    }
    p = v1;
    v2 = null;
    v3 = null;
    v4 = null;
    v1 = p;
    v5 = text.charCodeAt(v1);
    if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
      v1 = this.skip(v1);
      v5 = text.charCodeAt(v1);
    }
    opt1: if (((v5 >= 33 && v5 <= 34) || (v5 >= 38 && v5 <= 40) || v5 === 43 || (v5 >= 45 && v5 <= 57) || (v5 >= 65 && v5 <= 91) || (v5 >= 95 && v5 <= 124) || v5 === 126)) {
      v6 = this.Stmt(v1);
      if (v6 === undefined) {
        break opt1;
      }
      p = this.pos;
      v2 = v6;
      v7 = p;
      v8 = text.charCodeAt(v7);
      if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
        v7 = this.skip(v7);
        v8 = text.charCodeAt(v7);
      }
      opt2: if (v8 === 44) {
        v9 = p;
        p = v7 + 1;
        v10 = p;
        v11 = text.charCodeAt(v10);
        if (((v11 >= 9 && v11 <= 13) || v11 === 32 || v11 === 47)) {
          v10 = this.skip(v10);
          v11 = text.charCodeAt(v10);
        }
        v12 = this.Stmt(v10);
        if (v12 === undefined) {
          p = v9;
          break opt2;
        }
        p = this.pos;
        v3 = v12;
        v10 = p;
        v11 = text.charCodeAt(v10);
        if (((v11 >= 9 && v11 <= 13) || v11 === 32 || v11 === 47)) {
          v10 = this.skip(v10);
          v11 = text.charCodeAt(v10);
        }
        opt3: if (v11 === 44) {
          v13 = p;
          p = v10 + 1;
          v14 = p;
          v15 = text.charCodeAt(v14);
          if (((v15 >= 9 && v15 <= 13) || v15 === 32 || v15 === 47)) {
            v14 = this.skip(v14);
            v15 = text.charCodeAt(v14);
          }
          v16 = this.Stmt(v14);
          if (v16 === undefined) {
            p = v13;
            break opt3;
          }
          p = this.pos;
          v4 = v16;
        } else {
          if (v10 >= this.far) this.note(v10, 23);
        }
      } else {
        if (v7 >= this.far) this.note(v7, 23);
      }
    } else {
      if (v1 >= this.far) this.note(v1, 0);
    }
    this.pos = p;
    return { kind: 'return', start, end: p, value: v2, deep: v3, flags: v4 };
  }

  For(start: number): Node | undefined {
    let v1 = 0;
    let v2 = 0;
    let v3: string[] | undefined;
    let v5: string[] | undefined;
    let v6 = 0;
    let v7 = 0;
    let v8 = 0;
    let v9 = 0;
    let v10: Node | undefined;
    let v11: Node | undefined;
    const text = this.text;
    let p = start;
    v1 = this.$for(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 24);
      return undefined;
    }
    p = v1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v2 !== 40) {
      if (v1 >= this.far) this.note(v1, 19);
      return undefined;
    }
    p = v1 + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    rule1: {
      v5 = [];
      v6 = this.$variable(v1);
      if (v6 < 0) {
        if (v1 >= this.far) this.note(v1, 25);
        return undefined;
      }
      if (v5.length === 0) v5 = [toName(this.source.slice(v1, v6), v1)];
      else v5.push(toName(this.source.slice(v1, v6), v1));
      p = v6;
      loop2: for (;;) {
        if (p >= this.lookAt) this.look(p);
        v6 = p;
        v7 = text.charCodeAt(v6);
        if (((v7 >= 9 && v7 <= 13) || v7 === 32 || v7 === 47)) {
          v6 = this.skip(v6);
          v7 = text.charCodeAt(v6);
        }
        if (!(v7 === 44)) {
          if (v6 >= this.far) this.note(v6, 23);
          break;
        }
        v8 = p;
        p = v6 + 1;
        v6 = p;
        v7 = text.charCodeAt(v6);
        if (((v7 >= 9 && v7 <= 13) || v7 === 32 || v7 === 47)) {
          v6 = this.skip(v6);
          v7 = text.charCodeAt(v6);
        }
        v9 = this.$variable(v6);
        if (v9 < 0) {
          if (v6 >= this.far) this.note(v6, 25);
          p = v8;
          break loop2;
        }
        if (v5.length === 0) v5 = [toName(this.source.slice(v6, v9), v6)];
        else v5.push(toName(this.source.slice(v6, v9), v6));
        p = v9;
      }
      v3 = v5;
      break rule1;
    }
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    v8 = this.$in(v1);
    if (v8 < 0) {
      if (v1 >= this.far) this.note(v1, 26);
      return undefined;
    }
    p = v8;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    v10 = this.Stmt(v1);
    if (v10 === undefined) {
      return undefined;
    }
    p = this.pos;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v2 !== 41) {
      if (v1 >= this.far) this.note(v1, 20);
      return undefined;
    }
    p = v1 + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    v11 = this.Stmt(v1);
    if (v11 === undefined) {
      return undefined;
    }
    p = this.pos;
    return { kind: 'for', start, end: p, names: v3, iterable: v10, body: v11 };
  }

  Break(start: number): Node | undefined {
    let v1 = 0;
    let p = start;
    v1 = this.$break(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 27);
      return undefined;
    }
    p = v1;
    this.pos = p;
    return { kind: 'break', start, end: p };
  }

  Continue(start: number): Node | undefined {
    let v1 = 0;
    let p = start;
    v1 = this.$continue(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 28);
      return undefined;
    }
    p = v1;
    this.pos = p;
    return { kind: 'continue', start, end: p };
  }

  Closure(start: number): Closure | undefined {
    let v1: Param[] | undefined;
    let v2 = 0;
    let v3 = 0;
    let v5: Param[] | undefined;
    let v6: Param | undefined;
    let v7 = 0;
    let v8 = 0;
    let v9 = 0;
    let v10: Param | undefined;
    let v11: Node | undefined;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 !== 124) {
      if (start >= this.far) this.note(start, 29);
      return undefined;
    }
    p = start + 1;
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    rule1: {
      v5 = [];
      opt2: if (((v3 >= 65 && v3 <= 90) || v3 === 95 || (v3 >= 97 && v3 <= 122))) {
        v6 = this.Param(v2);
        if (v6 === undefined) {
          break opt2;
        }
        p = this.pos;
        if (v5.length === 0) v5 = [v6];
        else v5.push(v6);
        loop3: for (;;) {
          if (p >= this.lookAt) this.look(p);
          v7 = p;
          v8 = text.charCodeAt(v7);
          if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
            v7 = this.skip(v7);
            v8 = text.charCodeAt(v7);
          }
          if (!(v8 === 44)) {
            if (v7 >= this.far) this.note(v7, 23);
            break;
          }
          v9 = p;
          p = v7 + 1;
          v7 = p;
          v8 = text.charCodeAt(v7);
          if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
            v7 = this.skip(v7);
            v8 = text.charCodeAt(v7);
          }
          v10 = this.Param(v7);
          if (v10 === undefined) {
            p = v9;
            break loop3;
          }
          p = this.pos;
          if (v5.length === 0) v5 = [v10];
          else v5.push(v10);
        }
        v9 = p;
        v8 = text.charCodeAt(v9);
        if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
          v9 = this.skip(v9);
          v8 = text.charCodeAt(v9);
        }
        opt4: if (v8 === 44) {
          p = v9 + 1;
        } else {
          if (v9 >= this.far) this.note(v9, 23);
        }
      } else {
        if (v2 >= this.far) this.note(v2, 25);
      }
      v1 = v5;
      break rule1;
    }
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    if (v3 !== 124) {
      if (v2 >= this.far) this.note(v2, 29);
      return undefined;
    }
    p = v2 + 1;
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    v11 = this.Stmt(v2);
    if (v11 === undefined) {
      return undefined;
    }
    p = this.pos;
    this.closedAt = this.closing(p);
    return { kind: 'closure', start, end: p, params: v1, body: v11 };
  }

  $sign(start: number): number {
    let v2 = 0;
    let v3 = 0;
    let v5 = 0;
    const text = this.text;
    let p = start;
    alt1: {
      v2 = text.charCodeAt(p);
      v3 = p;
      no2: if (v2 === 33) {
        p += 1;
        break alt1;
      }
      no3: if ((v2 === 43 || v2 === 45)) {
        p += 1;
        v5 = text.charCodeAt(p);
        if ((v5 >= 48 && v5 <= 57)) {
          p = v3;
          break no3;
        }
        break alt1;
      }
      return -1;
    }
    return p;
  }

  Member(start: number): Link | undefined {
    let v1 = 0;
    let v2: boolean | undefined;
    let v3 = 0;
    let v4 = 0;
    let v5: string | undefined;
    let v6: readonly Node[] | undefined;
    let v7 = 0;
    let v8: AssignOp | undefined;
    let v9 = 0;
    let v10: Node | undefined;
    const text = this.text;
    let p = start;
    v1 = this.$dots(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 30);
      return undefined;
    }
    v2 = isOptional(this.source.slice(start, v1));
    p = v1;
    v1 = p;
    v3 = text.charCodeAt(v1);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v1 = this.skip(v1);
      v3 = text.charCodeAt(v1);
    }
    v4 = this.$name(v1);
    if (v4 < 0) {
      if (v1 >= this.far) this.note(v1, 31);
      return undefined;
    }
    v5 = toName(this.source.slice(v1, v4), v1);
    p = v4;
    v1 = p;
    v3 = text.charCodeAt(v1);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v1 = this.skip(v1);
      v3 = text.charCodeAt(v1);
    }
    v4 = p;
    no1: if (v3 === 40) {
      v6 = this.Arguments(v1);
      if (v6 === undefined) {
        break no1;
      }
      p = this.pos;
      return { kind: 'method', start, end: p, optional: v2, name: v5, args: v6 };
    }
    no2: if (((v3 >= 37 && v3 <= 38) || (v3 >= 42 && v3 <= 43) || v3 === 45 || v3 === 47 || v3 === 61 || v3 === 94 || v3 === 124)) {
      v7 = this.$assignOp(v1);
      if (v7 < 0) {
        if (v1 >= this.far) this.note(v1, 32);
        p = v4;
        break no2;
      }
      v8 = toAssignOp(this.source.slice(v1, v7));
      p = v7;
      v7 = p;
      v9 = text.charCodeAt(v7);
      if (((v9 >= 9 && v9 <= 13) || v9 === 32 || v9 === 47)) {
        v7 = this.skip(v7);
        v9 = text.charCodeAt(v7);
      }
      v10 = this.Stmt(v7);
      if (v10 === undefined) {
        p = v4;
        break no2;
      }
      p = this.pos;
      return { kind: 'assign_property', start, end: p, optional: v2, name: v5, op: v8, value: v10 };
    }
    no3: {
      this.pos = p;
      return { kind: 'property', start, end: p, optional: v2, name: v5 };
    }
  }

  Link(start: number): Link | undefined {
    let v1: Link | undefined;
    let v2: Link | undefined;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (start === this.closedAt) {
      return undefined;
    }
    alt1: {
      no2: if (c0 === 46) {
        v2 = this.Member(start);
        if (v2 === undefined) {
          break no2;
        }
        p = this.pos;
        v1 = v2;
        break alt1;
      }
      no3: if (c0 === 91) {
        v2 = this.Index(start);
        if (v2 === undefined) {
          break no3;
        }
        p = this.pos;
        v1 = v2;
        break alt1;
      }
      if (start >= this.far) this.note(start, 8);
      return undefined;
    }
    this.pos = p;
    return v1;
  }

  $false(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 102 && text.charCodeAt(p + 1) === 97 && text.charCodeAt(p + 2) === 108 && text.charCodeAt(p + 3) === 115 && text.charCodeAt(p + 4) === 101)) {
      return -1;
    }
    p += 5;
    v2 = text.charCodeAt(p);
    if (((v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
      return -1;
    }
    return p;
  }

  $nil(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 110 && text.charCodeAt(p + 1) === 105 && text.charCodeAt(p + 2) === 108)) {
      return -1;
    }
    p += 3;
    v2 = text.charCodeAt(p);
    if (((v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
      return -1;
    }
    return p;
  }

  $true(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 116 && text.charCodeAt(p + 1) === 114 && text.charCodeAt(p + 2) === 117 && text.charCodeAt(p + 3) === 101)) {
      return -1;
    }
    p += 4;
    v2 = text.charCodeAt(p);
    if (((v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
      return -1;
    }
    return p;
  }

  $float(start: number): number {
    let v2 = 0;
    let v3 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    opt1: if ((v2 === 43 || v2 === 45)) {
      p += 1;
    }
    alt2: {
      v2 = text.charCodeAt(p);
      no3: if ((v2 === 105 || v2 === 110)) {
        v3 = this.$infinite(p);
        if (v3 < 0) {
          break no3;
        }
        p = v3;
        break alt2;
      }
      no4: if ((v2 === 46 || (v2 >= 48 && v2 <= 57))) {
        v3 = this.$decimals(p);
        if (v3 < 0) {
          break no4;
        }
        p = v3;
        break alt2;
      }
      return -1;
    }
    v2 = text.charCodeAt(p);
    if ((v2 === 46 || (v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
      return -1;
    }
    return p;
  }

  $int(start: number): number {
    let v2 = 0;
    let v3 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    opt1: if ((v2 === 43 || v2 === 45)) {
      p += 1;
    }
    alt2: {
      v2 = text.charCodeAt(p);
      no3: if (v2 === 48) {
        v3 = this.$binary(p);
        if (v3 < 0) {
          break no3;
        }
        p = v3;
        break alt2;
      }
      no4: if (v2 === 48) {
        v3 = this.$octal(p);
        if (v3 < 0) {
          break no4;
        }
        p = v3;
        break alt2;
      }
      no5: if (v2 === 48) {
        v3 = this.$hexadecimal(p);
        if (v3 < 0) {
          break no5;
        }
        p = v3;
        break alt2;
      }
      no6: if ((v2 >= 48 && v2 <= 57)) {
        v3 = this.$decimal(p);
        if (v3 < 0) {
          break no6;
        }
        p = v3;
        break alt2;
      }
      return -1;
    }
    v2 = text.charCodeAt(p);
    if ((v2 === 46 || (v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
      return -1;
    }
    return p;
  }

  $string(start: number): number {
    let v2 = 0;
    let v3 = 0;
    let v4 = 0;
    let v5 = 0;
    const text = this.text;
    let p = start;
    alt1: {
      v2 = text.charCodeAt(p);
      no2: if (v2 === 39) {
        v3 = this.$singleQuoted(p);
        if (v3 < 0) {
          break no2;
        }
        p = v3;
        loop3: for (;;) {
          v4 = text.charCodeAt(p);
          if (!(v4 === 39)) {
            break;
          }
          v5 = this.$singleQuoted(p);
          if (v5 < 0) {
            break loop3;
          }
          p = v5;
        }
        break alt1;
      }
      no4: if (v2 === 34) {
        v4 = this.$doubleQuoted(p);
        if (v4 < 0) {
          break no4;
        }
        p = v4;
        loop5: for (;;) {
          v3 = text.charCodeAt(p);
          if (!(v3 === 34)) {
            break;
          }
          v5 = this.$doubleQuoted(p);
          if (v5 < 0) {
            break loop5;
          }
          p = v5;
        }
        break alt1;
      }
      return -1;
    }
    return p;
  }

  $regex(start: number): number {
    let v2 = 0;
    let v3 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (v2 !== 47) {
      return -1;
    }
    p += 1;
    v2 = text.charCodeAt(p);
    if (v2 === 42) {
      return -1;
    }
    alt1: {
      no2: if (v2 !== 10 && v2 !== 47) {
        v3 = this.$regexBody(p);
        if (v3 < 0) {
          break no2;
        }
        p = v3;
        break alt1;
      }
      no3: {
        v3 = this.$regexRest(p);
        if (v3 < 0) {
          break no3;
        }
        p = v3;
        break alt1;
      }
      return -1;
    }
    v2 = text.charCodeAt(p);
    if (v2 !== 47) {
      return -1;
    }
    p += 1;
    while ((text.charCodeAt(p) >= 97 && text.charCodeAt(p) <= 122)) p++;
    return p;
  }

  Anonymous(start: number): Node | undefined {
    let v1: Entry[] | undefined;
    let v2 = 0;
    let v3 = 0;
    let v5: Entry[] | undefined;
    let v6: Entry | undefined;
    let v7 = 0;
    let v8 = 0;
    let v9 = 0;
    let v10: Entry | undefined;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (!(c0 === 38 && text.charCodeAt(start + 1) === 123)) {
      if (start >= this.far) this.note(start, 33);
      return undefined;
    }
    p = start + 2;
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    rule1: {
      v5 = [];
      opt2: if (((v3 >= 65 && v3 <= 90) || v3 === 95 || (v3 >= 97 && v3 <= 122))) {
        v6 = this.Entry(v2);
        if (v6 === undefined) {
          break opt2;
        }
        p = this.pos;
        if (v5.length === 0) v5 = [v6];
        else v5.push(v6);
        loop3: for (;;) {
          if (p >= this.lookAt) this.look(p);
          v7 = p;
          v8 = text.charCodeAt(v7);
          if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
            v7 = this.skip(v7);
            v8 = text.charCodeAt(v7);
          }
          if (!(v8 === 44)) {
            if (v7 >= this.far) this.note(v7, 23);
            break;
          }
          v9 = p;
          p = v7 + 1;
          v7 = p;
          v8 = text.charCodeAt(v7);
          if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
            v7 = this.skip(v7);
            v8 = text.charCodeAt(v7);
          }
          v10 = this.Entry(v7);
          if (v10 === undefined) {
            p = v9;
            break loop3;
          }
          p = this.pos;
          if (v5.length === 0) v5 = [v10];
          else v5.push(v10);
        }
        v9 = p;
        v8 = text.charCodeAt(v9);
        if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
          v9 = this.skip(v9);
          v8 = text.charCodeAt(v9);
        }
        opt4: if (v8 === 44) {
          p = v9 + 1;
        } else {
          if (v9 >= this.far) this.note(v9, 23);
        }
      } else {
        if (v2 >= this.far) this.note(v2, 31);
      }
      v1 = v5;
      break rule1;
    }
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    if (v3 !== 125) {
      if (v2 >= this.far) this.note(v2, 34);
      return undefined;
    }
    p = v2 + 1;
    this.pos = p;
    return { kind: 'anonymous', start, end: p, entries: v1 };
  }

  template(start: number): Node | undefined {
    let v2 = 0;
    let v3: (string | Node)[] | undefined;
    let v5 = 0;
    let v6 = 0;
    let v7: string | Node | undefined;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (v2 !== 96) {
      if (p >= this.far) this.note(p, 35);
      return undefined;
    }
    p += 1;
    v3 = undefined;
    loop1: for (;;) {
      if (p >= this.lookAt) this.look(p);
      v5 = text.charCodeAt(p);
      alt2: {
        no3: {
          v6 = this.$templateText(p);
          if (v6 < 0) {
            if (p >= this.far) this.note(p, 36);
            break no3;
          }
          if (v3 === undefined) v3 = [toTemplateText(this.source.slice(p, v6))];
          else v3.push(toTemplateText(this.source.slice(p, v6)));
          p = v6;
          break alt2;
        }
        no4: if (v5 === 123) {
          v7 = this.hole(p);
          if (v7 === undefined) {
            break no4;
          }
          p = this.pos;
          if (v3 === undefined) v3 = [v7];
          else v3.push(v7);
          break alt2;
        }
        if (p >= this.far) this.note(p, 37);
        break loop1;
      }
    }
    v2 = text.charCodeAt(p);
    if (v2 !== 96) {
      if (p >= this.far) this.note(p, 35);
      return undefined;
    }
    p += 1;
    this.pos = p;
    return { kind: 'template', start, end: p, parts: v3 ?? [] };
  }

  Named(start: number): Node | undefined {
    let v1 = 0;
    let v2: string | undefined;
    let v3 = 0;
    let v4 = 0;
    let v5: readonly Node[] | undefined;
    let v6 = 0;
    let v7: AssignOp | undefined;
    let v8 = 0;
    let v9: Node | undefined;
    let v10: ThingLiteral | undefined;
    let v11 = 0;
    let v12 = 0;
    let v13: string | undefined;
    let v14 = 0;
    let v15: Closure | undefined;
    const text = this.text;
    let p = start;
    v1 = this.$variable(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 25);
      return undefined;
    }
    v2 = toName(this.source.slice(start, v1), start);
    p = v1;
    v1 = p;
    v3 = text.charCodeAt(v1);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v1 = this.skip(v1);
      v3 = text.charCodeAt(v1);
    }
    v4 = p;
    no1: if (v3 === 40) {
      v5 = this.Arguments(v1);
      if (v5 === undefined) {
        break no1;
      }
      p = this.pos;
      return { kind: 'call', start, end: p, name: v2, args: v5 };
    }
    no2: if (((v3 >= 37 && v3 <= 38) || (v3 >= 42 && v3 <= 43) || v3 === 45 || v3 === 47 || v3 === 61 || v3 === 94 || v3 === 124)) {
      v6 = this.$assignOp(v1);
      if (v6 < 0) {
        if (v1 >= this.far) this.note(v1, 32);
        p = v4;
        break no2;
      }
      v7 = toAssignOp(this.source.slice(v1, v6));
      p = v6;
      v6 = p;
      v8 = text.charCodeAt(v6);
      if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
        v6 = this.skip(v6);
        v8 = text.charCodeAt(v6);
      }
      v9 = this.Stmt(v6);
      if (v9 === undefined) {
        p = v4;
        break no2;
      }
      p = this.pos;
      return { kind: 'assign', start, end: p, name: v2, op: v7, value: v9 };
    }
    no3: if (v3 === 123) {
      v10 = this.Thing(v1);
      if (v10 === undefined) {
        break no3;
      }
      p = this.pos;
      return { kind: 'instance', start, end: p, name: v2, thing: v10 };
    }
    no4: if (v3 === 123) {
      p = v1 + 1;
      v8 = p;
      v6 = text.charCodeAt(v8);
      if (((v6 >= 9 && v6 <= 13) || v6 === 32 || v6 === 47)) {
        v8 = this.skip(v8);
        v6 = text.charCodeAt(v8);
      }
      v11 = p;
      no5: if (((v6 >= 65 && v6 <= 90) || v6 === 95 || (v6 >= 97 && v6 <= 122))) {
        v12 = this.$name(v8);
        if (v12 < 0) {
          if (v8 >= this.far) this.note(v8, 31);
          p = v11;
          break no5;
        }
        v13 = toName(this.source.slice(v8, v12), v8);
        p = v12;
        v12 = p;
        v14 = text.charCodeAt(v12);
        if (((v14 >= 9 && v14 <= 13) || v14 === 32 || v14 === 47)) {
          v12 = this.skip(v12);
          v14 = text.charCodeAt(v12);
        }
        if (v14 !== 125) {
          if (v12 >= this.far) this.note(v12, 34);
          p = v11;
          break no5;
        }
        p = v12 + 1;
        this.pos = p;
        return { kind: 'enum', start, end: p, name: v2, member: v13, closure: null };
      }
      no6: if (v6 === 124) {
        v15 = this.Closure(v8);
        if (v15 === undefined) {
          p = v11;
          break no6;
        }
        p = this.pos;
        v14 = p;
        v12 = text.charCodeAt(v14);
        if (((v12 >= 9 && v12 <= 13) || v12 === 32 || v12 === 47)) {
          v14 = this.skip(v14);
          v12 = text.charCodeAt(v14);
        }
        if (v12 !== 125) {
          if (v14 >= this.far) this.note(v14, 34);
          p = v11;
          break no6;
        }
        p = v14 + 1;
        this.pos = p;
        return { kind: 'enum', start, end: p, name: v2, closure: v15, member: null };
      }
      if (v8 >= this.far) this.note(v8, 38);
      p = v4;
      break no4;
    }
    no7: {
      this.pos = p;
      return { kind: 'variable', start, end: p, name: v2 };
    }
  }

  Thing(start: number): ThingLiteral | undefined {
    let v1: Entry[] | undefined;
    let v2 = 0;
    let v3 = 0;
    let v5: Entry[] | undefined;
    let v6: Entry | undefined;
    let v7 = 0;
    let v8 = 0;
    let v9 = 0;
    let v10: Entry | undefined;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 === 123 && this.depth >= NESTING_MAX) throw nestedTooDeep(start);
    if (c0 !== 123) {
      if (start >= this.far) this.note(start, 39);
      return undefined;
    }
    p = start + 1;
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    rule1: {
      v5 = [];
      opt2: if (((v3 >= 65 && v3 <= 90) || v3 === 95 || (v3 >= 97 && v3 <= 122))) {
        v6 = this.Entry(v2);
        if (v6 === undefined) {
          break opt2;
        }
        p = this.pos;
        if (v5.length === 0) v5 = [v6];
        else v5.push(v6);
        loop3: for (;;) {
          if (p >= this.lookAt) this.look(p);
          v7 = p;
          v8 = text.charCodeAt(v7);
          if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
            v7 = this.skip(v7);
            v8 = text.charCodeAt(v7);
          }
          if (!(v8 === 44)) {
            if (v7 >= this.far) this.note(v7, 23);
            break;
          }
          v9 = p;
          p = v7 + 1;
          v7 = p;
          v8 = text.charCodeAt(v7);
          if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
            v7 = this.skip(v7);
            v8 = text.charCodeAt(v7);
          }
          v10 = this.Entry(v7);
          if (v10 === undefined) {
            p = v9;
            break loop3;
          }
          p = this.pos;
          if (v5.length === 0) v5 = [v10];
          else v5.push(v10);
        }
        v9 = p;
        v8 = text.charCodeAt(v9);
        if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
          v9 = this.skip(v9);
          v8 = text.charCodeAt(v9);
        }
        opt4: if (v8 === 44) {
          p = v9 + 1;
        } else {
          if (v9 >= this.far) this.note(v9, 23);
        }
      } else {
        if (v2 >= this.far) this.note(v2, 31);
      }
      v1 = v5;
      break rule1;
    }
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    if (v3 !== 125) {
      if (v2 >= this.far) this.note(v2, 34);
      return undefined;
    }
    p = v2 + 1;
    this.pos = p;
    return { kind: 'thing', start, end: p, entries: v1 };
  }

  List(start: number): Node | undefined {
    let v1: Node[] | undefined;
    let v2 = 0;
    let v3 = 0;
    let v5: Node[] | undefined;
    let v6: Node | undefined;
    let v7 = 0;
    let v8 = 0;
    let v9 = 0;
    let v10: Node | undefined;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 === 91 && this.depth >= NESTING_MAX) throw nestedTooDeep(start);
    if (c0 !== 91) {
      if (start >= this.far) this.note(start, 40);
      return undefined;
    }
    p = start + 1;
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    rule1: {
      v5 = [];
      opt2: if (((v3 >= 33 && v3 <= 34) || (v3 >= 38 && v3 <= 40) || v3 === 43 || (v3 >= 45 && v3 <= 57) || (v3 >= 65 && v3 <= 91) || (v3 >= 95 && v3 <= 124) || v3 === 126)) {
        v6 = this.Stmt(v2);
        if (v6 === undefined) {
          break opt2;
        }
        p = this.pos;
        if (v5.length === 0) v5 = [v6];
        else v5.push(v6);
        loop3: for (;;) {
          if (p >= this.lookAt) this.look(p);
          v7 = p;
          v8 = text.charCodeAt(v7);
          if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
            v7 = this.skip(v7);
            v8 = text.charCodeAt(v7);
          }
          if (!(v8 === 44)) {
            if (v7 >= this.far) this.note(v7, 23);
            break;
          }
          v9 = p;
          p = v7 + 1;
          v7 = p;
          v8 = text.charCodeAt(v7);
          if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
            v7 = this.skip(v7);
            v8 = text.charCodeAt(v7);
          }
          v10 = this.Stmt(v7);
          if (v10 === undefined) {
            p = v9;
            break loop3;
          }
          p = this.pos;
          if (v5.length === 0) v5 = [v10];
          else v5.push(v10);
        }
        v9 = p;
        v8 = text.charCodeAt(v9);
        if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
          v9 = this.skip(v9);
          v8 = text.charCodeAt(v9);
        }
        opt4: if (v8 === 44) {
          p = v9 + 1;
        } else {
          if (v9 >= this.far) this.note(v9, 23);
        }
      } else {
        if (v2 >= this.far) this.note(v2, 0);
      }
      v1 = v5;
      break rule1;
    }
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    if (v3 !== 93) {
      if (v2 >= this.far) this.note(v2, 41);
      return undefined;
    }
    p = v2 + 1;
    this.pos = p;
    return { kind: 'list', start, end: p, items: v1 };
  }

  Paren(start: number): Node | undefined {
    let v1 = 0;
    let v2 = 0;
    let v3: Node | undefined;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 !== 40) {
      if (start >= this.far) this.note(start, 19);
      return undefined;
    }
    p = start + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    v3 = this.Stmt(v1);
    if (v3 === undefined) {
      return undefined;
    }
    p = this.pos;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v2 !== 41) {
      if (v1 >= this.far) this.note(v1, 20);
      return undefined;
    }
    p = v1 + 1;
    this.pos = p;
    return { kind: 'paren', start, end: p, body: v3 };
  }

  Block(start: number): Node | undefined {
    let v1 = 0;
    let v2 = 0;
    let v3: Node[] | undefined;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 !== 123) {
      if (start >= this.far) this.note(start, 39);
      return undefined;
    }
    p = start + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    v3 = this.Stmts(v1);
    if (v3 === undefined) {
      return undefined;
    }
    p = this.pos;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v2 !== 125) {
      if (v1 >= this.far) this.note(v1, 34);
      return undefined;
    }
    p = v1 + 1;
    this.pos = p;
    return { kind: 'block', start, end: p, statements: v3 };
  }

  $if(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 105 && text.charCodeAt(p + 1) === 102)) {
      return -1;
    }
    p += 2;
    v2 = text.charCodeAt(p);
    if (((v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
      return -1;
    }
    return p;
  }

  $else(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 101 && text.charCodeAt(p + 1) === 108 && text.charCodeAt(p + 2) === 115 && text.charCodeAt(p + 3) === 101)) {
      return -1;
    }
    p += 4;
    v2 = text.charCodeAt(p);
    if (((v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
      return -1;
    }
    return p;
  }

  $return(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 114 && text.charCodeAt(p + 1) === 101 && text.charCodeAt(p + 2) === 116 && text.charCodeAt(p + 3) === 117 && text.charCodeAt(p + 4) === 114 && text.charCodeAt(p + 5) === 110)) {
      return -1;
    }
    p += 6;
    v2 = text.charCodeAt(p);
    if (((v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
      return -1;
    }
    return p;
  }

  $for(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 102 && text.charCodeAt(p + 1) === 111 && text.charCodeAt(p + 2) === 114)) {
      return -1;
    }
    p += 3;
    v2 = text.charCodeAt(p);
    if (((v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
      return -1;
    }
    return p;
  }

  $variable(start: number): number {
    let v2 = 0;
    let v3 = 0;
    let v4 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    v3 = p;
    not1: if (((v2 >= 98 && v2 <= 99) || (v2 >= 101 && v2 <= 102) || v2 === 105 || v2 === 110 || v2 === 114 || v2 === 116)) {
      v4 = this.$reserved(p);
      if (v4 < 0) {
        break not1;
      }
      p = v4;
      p = v3;
      return -1;
    }
    p = v3;
    v4 = this.$name(p);
    if (v4 < 0) {
      return -1;
    }
    p = v4;
    return p;
  }

  $in(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 105 && text.charCodeAt(p + 1) === 110)) {
      return -1;
    }
    p += 2;
    v2 = text.charCodeAt(p);
    if (((v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
      return -1;
    }
    return p;
  }

  $break(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 98 && text.charCodeAt(p + 1) === 114 && text.charCodeAt(p + 2) === 101 && text.charCodeAt(p + 3) === 97 && text.charCodeAt(p + 4) === 107)) {
      return -1;
    }
    p += 5;
    v2 = text.charCodeAt(p);
    if (((v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
      return -1;
    }
    return p;
  }

  $continue(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 99 && text.charCodeAt(p + 1) === 111 && text.charCodeAt(p + 2) === 110 && text.charCodeAt(p + 3) === 116 && text.charCodeAt(p + 4) === 105 && text.charCodeAt(p + 5) === 110 && text.charCodeAt(p + 6) === 117 && text.charCodeAt(p + 7) === 101)) {
      return -1;
    }
    p += 8;
    v2 = text.charCodeAt(p);
    if (((v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
      return -1;
    }
    return p;
  }

  Param(start: number): Param | undefined {
    let v1 = 0;
    let v2: string | undefined;
    let v3: StrLiteral | null = null;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    let v7 = 0;
    let v8 = 0;
    const text = this.text;
    let p = start;
    v1 = this.$variable(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 25);
      return undefined;
    }
    v2 = toName(this.source.slice(start, v1), start);
    p = v1;
    v3 = null;
    v1 = p;
    v4 = text.charCodeAt(v1);
    if (((v4 >= 9 && v4 <= 13) || v4 === 32 || v4 === 47)) {
      v1 = this.skip(v1);
      v4 = text.charCodeAt(v1);
    }
    opt1: if (v4 === 58) {
      v5 = p;
      p = v1 + 1;
      v6 = p;
      v7 = text.charCodeAt(v6);
      if (((v7 >= 9 && v7 <= 13) || v7 === 32 || v7 === 47)) {
        v6 = this.skip(v6);
        v7 = text.charCodeAt(v6);
      }
      v8 = this.$string(v6);
      if (v8 < 0) {
        if (v6 >= this.far) this.note(v6, 14);
        p = v5;
        break opt1;
      }
      v3 = { kind: 'str', start: v6, end: v8, value: toStr(this.source.slice(v6, v8)) };
      p = v8;
    } else {
      if (v1 >= this.far) this.note(v1, 4);
    }
    this.pos = p;
    return { start, end: p, name: v2, definition: v3 };
  }

  $dots(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    alt1: {
      v2 = text.charCodeAt(p);
      no2: if (v2 === 46) {
        if (!(text.charCodeAt(p + 1) === 46)) {
          break no2;
        }
        p += 2;
        break alt1;
      }
      no3: if (v2 === 46) {
        p += 1;
        break alt1;
      }
      return -1;
    }
    return p;
  }

  $name(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(((v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122)))) {
      return -1;
    }
    p += 1;
    while (((text.charCodeAt(p) >= 48 && text.charCodeAt(p) <= 57) || (text.charCodeAt(p) >= 65 && text.charCodeAt(p) <= 90) || text.charCodeAt(p) === 95 || (text.charCodeAt(p) >= 97 && text.charCodeAt(p) <= 122))) p++;
    return p;
  }

  Arguments(start: number): readonly Node[] | undefined {
    let v1: Node[] | undefined;
    let v2 = 0;
    let v3 = 0;
    let v5: Node[] | undefined;
    let v6: Node | undefined;
    let v7 = 0;
    let v8 = 0;
    let v9 = 0;
    let v10: Node | undefined;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 !== 40) {
      if (start >= this.far) this.note(start, 19);
      return undefined;
    }
    p = start + 1;
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    rule1: {
      v5 = [];
      opt2: if (((v3 >= 33 && v3 <= 34) || (v3 >= 38 && v3 <= 40) || v3 === 43 || (v3 >= 45 && v3 <= 57) || (v3 >= 65 && v3 <= 91) || (v3 >= 95 && v3 <= 124) || v3 === 126)) {
        v6 = this.Stmt(v2);
        if (v6 === undefined) {
          break opt2;
        }
        p = this.pos;
        if (v5.length === 0) v5 = [v6];
        else v5.push(v6);
        loop3: for (;;) {
          if (p >= this.lookAt) this.look(p);
          v7 = p;
          v8 = text.charCodeAt(v7);
          if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
            v7 = this.skip(v7);
            v8 = text.charCodeAt(v7);
          }
          if (!(v8 === 44)) {
            if (v7 >= this.far) this.note(v7, 23);
            break;
          }
          v9 = p;
          p = v7 + 1;
          v7 = p;
          v8 = text.charCodeAt(v7);
          if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
            v7 = this.skip(v7);
            v8 = text.charCodeAt(v7);
          }
          v10 = this.Stmt(v7);
          if (v10 === undefined) {
            p = v9;
            break loop3;
          }
          p = this.pos;
          if (v5.length === 0) v5 = [v10];
          else v5.push(v10);
        }
        v9 = p;
        v8 = text.charCodeAt(v9);
        if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
          v9 = this.skip(v9);
          v8 = text.charCodeAt(v9);
        }
        opt4: if (v8 === 44) {
          p = v9 + 1;
        } else {
          if (v9 >= this.far) this.note(v9, 23);
        }
      } else {
        if (v2 >= this.far) this.note(v2, 0);
      }
      v1 = v5;
      break rule1;
    }
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    if (v3 !== 41) {
      if (v2 >= this.far) this.note(v2, 20);
      return undefined;
    }
    p = v2 + 1;
    this.pos = p;
    return v1;
  }

  $assignOp(start: number): number {
    let v2 = 0;
    let v3 = 0;
    let v5 = 0;
    const text = this.text;
    let p = start;
    alt1: {
      v2 = text.charCodeAt(p);
      v3 = p;
      no2: if (v2 === 43) {
        if (!(text.charCodeAt(p + 1) === 61)) {
          break no2;
        }
        p += 2;
        break alt1;
      }
      no3: if (v2 === 45) {
        if (!(text.charCodeAt(p + 1) === 61)) {
          break no3;
        }
        p += 2;
        break alt1;
      }
      no4: if (v2 === 42) {
        if (!(text.charCodeAt(p + 1) === 61)) {
          break no4;
        }
        p += 2;
        break alt1;
      }
      no5: if (v2 === 47) {
        if (!(text.charCodeAt(p + 1) === 61)) {
          break no5;
        }
        p += 2;
        break alt1;
      }
      no6: if (v2 === 37) {
        if (!(text.charCodeAt(p + 1) === 61)) {
          break no6;
        }
        p += 2;
        break alt1;
      }
      no7: if (v2 === 38) {
        if (!(text.charCodeAt(p + 1) === 61)) {
          break no7;
        }
        p += 2;
        break alt1;
      }
      no8: if (v2 === 94) {
        if (!(text.charCodeAt(p + 1) === 61)) {
          break no8;
        }
        p += 2;
        break alt1;
      }
      no9: if (v2 === 124) {
        if (!(text.charCodeAt(p + 1) === 61)) {
          break no9;
        }
        p += 2;
        break alt1;
      }
      no10: if (v2 === 61) {
        p += 1;
        v5 = text.charCodeAt(p);
        if (v5 === 61) {
          p = v3;
          break no10;
        }
        break alt1;
      }
      return -1;
    }
    return p;
  }

  Index(start: number): Link | undefined {
    let v1: Node | null = null;
    let v2 = 0;
    let v3 = 0;
    let v4: Node | undefined;
    let v5: string | null = null;
    let v6: Node | null = null;
    let v7: Node | null = null;
    let v8 = 0;
    let v9 = 0;
    let v10 = 0;
    let v11 = 0;
    let v12: AssignOp | null = null;
    let v13: Node | null = null;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 !== 91) {
      if (start >= this.far) this.note(start, 40);
      return undefined;
    }
    p = start + 1;
    v1 = null;
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    opt1: if (((v3 >= 33 && v3 <= 34) || (v3 >= 38 && v3 <= 40) || v3 === 43 || (v3 >= 45 && v3 <= 57) || (v3 >= 65 && v3 <= 91) || (v3 >= 95 && v3 <= 124) || v3 === 126)) {
      v4 = this.Stmt(v2);
      if (v4 === undefined) {
        break opt1;
      }
      p = this.pos;
      v1 = v4;
    } else {
      if (v2 >= this.far) this.note(v2, 0);
    }
    v5 = null;
    v6 = null;
    v7 = null;
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    opt2: if (v3 === 58) {
      p = v2 + 1;
      v5 = ':';
      v8 = p;
      v9 = text.charCodeAt(v8);
      if (((v9 >= 9 && v9 <= 13) || v9 === 32 || v9 === 47)) {
        v8 = this.skip(v8);
        v9 = text.charCodeAt(v8);
      }
      opt3: if (((v9 >= 33 && v9 <= 34) || (v9 >= 38 && v9 <= 40) || v9 === 43 || (v9 >= 45 && v9 <= 57) || (v9 >= 65 && v9 <= 91) || (v9 >= 95 && v9 <= 124) || v9 === 126)) {
        v4 = this.Stmt(v8);
        if (v4 === undefined) {
          break opt3;
        }
        p = this.pos;
        v6 = v4;
      } else {
        if (v8 >= this.far) this.note(v8, 0);
      }
      v8 = p;
      v9 = text.charCodeAt(v8);
      if (((v9 >= 9 && v9 <= 13) || v9 === 32 || v9 === 47)) {
        v8 = this.skip(v8);
        v9 = text.charCodeAt(v8);
      }
      opt4: if (v9 === 58) {
        p = v8 + 1;
        v10 = p;
        v11 = text.charCodeAt(v10);
        if (((v11 >= 9 && v11 <= 13) || v11 === 32 || v11 === 47)) {
          v10 = this.skip(v10);
          v11 = text.charCodeAt(v10);
        }
        opt5: if (((v11 >= 33 && v11 <= 34) || (v11 >= 38 && v11 <= 40) || v11 === 43 || (v11 >= 45 && v11 <= 57) || (v11 >= 65 && v11 <= 91) || (v11 >= 95 && v11 <= 124) || v11 === 126)) {
          v4 = this.Stmt(v10);
          if (v4 === undefined) {
            break opt5;
          }
          p = this.pos;
          v7 = v4;
        } else {
          if (v10 >= this.far) this.note(v10, 0);
        }
      } else {
        if (v8 >= this.far) this.note(v8, 4);
      }
    } else {
      if (v2 >= this.far) this.note(v2, 4);
    }
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    if (v3 !== 93) {
      if (v2 >= this.far) this.note(v2, 41);
      return undefined;
    }
    p = v2 + 1;
    v12 = null;
    v13 = null;
    v2 = p;
    v3 = text.charCodeAt(v2);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v2 = this.skip(v2);
      v3 = text.charCodeAt(v2);
    }
    opt6: if (((v3 >= 37 && v3 <= 38) || (v3 >= 42 && v3 <= 43) || v3 === 45 || v3 === 47 || v3 === 61 || v3 === 94 || v3 === 124)) {
      v9 = p;
      v8 = this.$assignOp(v2);
      if (v8 < 0) {
        if (v2 >= this.far) this.note(v2, 32);
        p = v9;
        break opt6;
      }
      v12 = toAssignOp(this.source.slice(v2, v8));
      p = v8;
      v8 = p;
      v11 = text.charCodeAt(v8);
      if (((v11 >= 9 && v11 <= 13) || v11 === 32 || v11 === 47)) {
        v8 = this.skip(v8);
        v11 = text.charCodeAt(v8);
      }
      v4 = this.Stmt(v8);
      if (v4 === undefined) {
        p = v9;
        v12 = null;
        break opt6;
      }
      p = this.pos;
      v13 = v4;
    } else {
      if (v2 >= this.far) this.note(v2, 32);
    }
    this.pos = p;
    return indexLink(start, p, v1, v5, v6, v7, v12, v13);
  }

  $infinite(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    alt1: {
      v2 = text.charCodeAt(p);
      no2: if (v2 === 105) {
        if (!(text.charCodeAt(p + 1) === 110 && text.charCodeAt(p + 2) === 102)) {
          break no2;
        }
        p += 3;
        break alt1;
      }
      no3: if (v2 === 110) {
        if (!(text.charCodeAt(p + 1) === 97 && text.charCodeAt(p + 2) === 110)) {
          break no3;
        }
        p += 3;
        break alt1;
      }
      return -1;
    }
    return p;
  }

  $decimals(start: number): number {
    let v2 = 0;
    let v3 = 0;
    const text = this.text;
    let p = start;
    while ((text.charCodeAt(p) >= 48 && text.charCodeAt(p) <= 57)) p++;
    v2 = text.charCodeAt(p);
    if (v2 !== 46) {
      return -1;
    }
    p += 1;
    v2 = text.charCodeAt(p);
    if (!((v2 >= 48 && v2 <= 57))) {
      return -1;
    }
    p += 1;
    while ((text.charCodeAt(p) >= 48 && text.charCodeAt(p) <= 57)) p++;
    v2 = text.charCodeAt(p);
    opt1: if (v2 === 101) {
      v3 = this.$exponent(p);
      if (v3 < 0) {
        break opt1;
      }
      p = v3;
    }
    return p;
  }

  $binary(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 48 && text.charCodeAt(p + 1) === 98)) {
      return -1;
    }
    p += 2;
    v2 = text.charCodeAt(p);
    if (!((v2 >= 48 && v2 <= 49))) {
      return -1;
    }
    p += 1;
    while ((text.charCodeAt(p) >= 48 && text.charCodeAt(p) <= 49)) p++;
    return p;
  }

  $octal(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 48 && text.charCodeAt(p + 1) === 111)) {
      return -1;
    }
    p += 2;
    v2 = text.charCodeAt(p);
    if (!((v2 >= 48 && v2 <= 55))) {
      return -1;
    }
    p += 1;
    while ((text.charCodeAt(p) >= 48 && text.charCodeAt(p) <= 55)) p++;
    return p;
  }

  $hexadecimal(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!(v2 === 48 && text.charCodeAt(p + 1) === 120)) {
      return -1;
    }
    p += 2;
    v2 = text.charCodeAt(p);
    if (!(((v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 70) || (v2 >= 97 && v2 <= 102)))) {
      return -1;
    }
    p += 1;
    while (((text.charCodeAt(p) >= 48 && text.charCodeAt(p) <= 57) || (text.charCodeAt(p) >= 65 && text.charCodeAt(p) <= 70) || (text.charCodeAt(p) >= 97 && text.charCodeAt(p) <= 102))) p++;
    return p;
  }

  $decimal(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (!((v2 >= 48 && v2 <= 57))) {
      return -1;
    }
    p += 1;
    while ((text.charCodeAt(p) >= 48 && text.charCodeAt(p) <= 57)) p++;
    return p;
  }

  $singleQuoted(start: number): number {
    let v2 = 0;
    const text = this.text;
    const length = this.length;
    let p = start;
    v2 = text.charCodeAt(p);
    if (v2 !== 39) {
      return -1;
    }
    p += 1;
    while (p < length && text.charCodeAt(p) !== 39) p++;
    v2 = text.charCodeAt(p);
    if (v2 !== 39) {
      return -1;
    }
    p += 1;
    return p;
  }

  $doubleQuoted(start: number): number {
    let v2 = 0;
    const text = this.text;
    const length = this.length;
    let p = start;
    v2 = text.charCodeAt(p);
    if (v2 !== 34) {
      return -1;
    }
    p += 1;
    while (p < length && text.charCodeAt(p) !== 34) p++;
    v2 = text.charCodeAt(p);
    if (v2 !== 34) {
      return -1;
    }
    p += 1;
    return p;
  }

  $regexBody(start: number): number {
    let v2 = 0;
    let v3 = 0;
    let v4 = 0;
    let v5 = 0;
    const text = this.text;
    const length = this.length;
    let p = start;
    alt1: {
      v2 = text.charCodeAt(p);
      no2: if (v2 === 92) {
        v3 = this.$backslashes(p);
        if (v3 < 0) {
          break no2;
        }
        p = v3;
        break alt1;
      }
      no3: if (v2 !== 10 && v2 !== 47 && v2 !== 92) {
        if (!(p < length)) {
          break no3;
        }
        p += 1;
        break alt1;
      }
      return -1;
    }
    loop4: for (;;) {
      v4 = text.charCodeAt(p);
      if (!(v4 !== 10 && v4 !== 47)) {
        break;
      }
      alt5: {
        no6: if (v4 === 92) {
          v5 = this.$backslashes(p);
          if (v5 < 0) {
            break no6;
          }
          p = v5;
          break alt5;
        }
        no7: if (v4 !== 10 && v4 !== 47 && v4 !== 92) {
          if (!(p < length)) {
            break no7;
          }
          p += 1;
          break alt5;
        }
        break loop4;
      }
    }
    v2 = text.charCodeAt(p);
    if (!(v2 === 47)) {
      return -1;
    }
    return p;
  }

  $regexRest(start: number): number {
    let v2 = 0;
    let v3 = 0;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    let v7 = 0;
    const text = this.text;
    const length = this.length;
    let p = start;
    v2 = text.charCodeAt(p);
    v3 = p;
    not1: if (v2 === 47) {
      v4 = this.$lastSlash(p);
      if (v4 < 0) {
        break not1;
      }
      p = v4;
      p = v3;
      return -1;
    }
    p = v3;
    if (v2 === 10) {
      return -1;
    }
    if (!(p < length)) {
      return -1;
    }
    p += 1;
    loop2: for (;;) {
      v5 = text.charCodeAt(p);
      v6 = p;
      not3: if (v5 === 47) {
        v7 = this.$lastSlash(p);
        if (v7 < 0) {
          break not3;
        }
        p = v7;
        p = v6;
        break loop2;
      }
      p = v6;
      if (v5 === 10) {
        break loop2;
      }
      if (!(p < length)) {
        break loop2;
      }
      p += 1;
    }
    return p;
  }

  Entry(start: number): Entry | undefined {
    let v1 = 0;
    let v2: string | undefined;
    let v3 = 0;
    let v4: Node | null = null;
    let v5: Node | undefined;
    const text = this.text;
    let p = start;
    v1 = this.$name(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 31);
      return undefined;
    }
    v2 = toName(this.source.slice(start, v1), start);
    p = v1;
    v1 = p;
    v3 = text.charCodeAt(v1);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v1 = this.skip(v1);
      v3 = text.charCodeAt(v1);
    }
    if (v3 !== 58) {
      if (v1 >= this.far) this.note(v1, 4);
      return undefined;
    }
    p = v1 + 1;
    v4 = null;
    v1 = p;
    v3 = text.charCodeAt(v1);
    if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
      v1 = this.skip(v1);
      v3 = text.charCodeAt(v1);
    }
    opt1: if (((v3 >= 33 && v3 <= 34) || (v3 >= 38 && v3 <= 40) || v3 === 43 || (v3 >= 45 && v3 <= 57) || (v3 >= 65 && v3 <= 91) || (v3 >= 95 && v3 <= 124) || v3 === 126)) {
      v5 = this.Stmt(v1);
      if (v5 === undefined) {
        break opt1;
      }
      p = this.pos;
      v4 = v5;
    } else {
      if (v1 >= this.far) this.note(v1, 0);
    }
    this.pos = p;
    return { start, end: p, key: v2, value: v4 };
  }

  $templateText(start: number): number {
    let v2 = 0;
    let v4 = 0;
    const text = this.text;
    const length = this.length;
    let p = start;
    alt1: {
      v2 = text.charCodeAt(p);
      no2: if (v2 === 96) {
        if (!(text.charCodeAt(p + 1) === 96)) {
          break no2;
        }
        p += 2;
        break alt1;
      }
      no3: if (v2 === 123) {
        if (!(text.charCodeAt(p + 1) === 123)) {
          break no3;
        }
        p += 2;
        break alt1;
      }
      no4: if (v2 === 125) {
        if (!(text.charCodeAt(p + 1) === 125)) {
          break no4;
        }
        p += 2;
        break alt1;
      }
      no5: if (v2 !== 96 && v2 !== 123 && v2 !== 125) {
        if (!(p < length)) {
          break no5;
        }
        p += 1;
        break alt1;
      }
      return -1;
    }
    loop6: for (;;) {
      v4 = text.charCodeAt(p);
      alt7: {
        no8: if (v4 === 96) {
          if (!(text.charCodeAt(p + 1) === 96)) {
            break no8;
          }
          p += 2;
          break alt7;
        }
        no9: if (v4 === 123) {
          if (!(text.charCodeAt(p + 1) === 123)) {
            break no9;
          }
          p += 2;
          break alt7;
        }
        no10: if (v4 === 125) {
          if (!(text.charCodeAt(p + 1) === 125)) {
            break no10;
          }
          p += 2;
          break alt7;
        }
        no11: if (v4 !== 96 && v4 !== 123 && v4 !== 125) {
          if (!(p < length)) {
            break no11;
          }
          p += 1;
          break alt7;
        }
        break loop6;
      }
    }
    return p;
  }

  hole(start: number): Node | undefined {
    let v1 = 0;
    let v2 = 0;
    let v3: Node | undefined;
    let v5: Node | undefined;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (v2 !== 123) {
      if (p >= this.far) this.note(p, 39);
      return undefined;
    }
    p += 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    rule1: {
      v5 = this.Stmt(v1);
      if (v5 === undefined) {
        return undefined;
      }
      p = this.pos;
      v3 = v5;
      break rule1;
    }
    p = this.skip(p);
    v2 = text.charCodeAt(p);
    if (v2 !== 125) {
      if (p >= this.far) this.note(p, 34);
      return undefined;
    }
    p += 1;
    this.pos = p;
    return v3;
  }

  $reserved(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    alt1: {
      v2 = text.charCodeAt(p);
      no2: if (v2 === 116) {
        if (!(text.charCodeAt(p + 1) === 114 && text.charCodeAt(p + 2) === 117 && text.charCodeAt(p + 3) === 101)) {
          break no2;
        }
        p += 4;
        break alt1;
      }
      no3: if (v2 === 102) {
        if (!(text.charCodeAt(p + 1) === 97 && text.charCodeAt(p + 2) === 108 && text.charCodeAt(p + 3) === 115 && text.charCodeAt(p + 4) === 101)) {
          break no3;
        }
        p += 5;
        break alt1;
      }
      no4: if (v2 === 110) {
        if (!(text.charCodeAt(p + 1) === 105 && text.charCodeAt(p + 2) === 108)) {
          break no4;
        }
        p += 3;
        break alt1;
      }
      no5: if (v2 === 105) {
        if (!(text.charCodeAt(p + 1) === 110 && text.charCodeAt(p + 2) === 102)) {
          break no5;
        }
        p += 3;
        break alt1;
      }
      no6: if (v2 === 110) {
        if (!(text.charCodeAt(p + 1) === 97 && text.charCodeAt(p + 2) === 110)) {
          break no6;
        }
        p += 3;
        break alt1;
      }
      no7: if (v2 === 114) {
        if (!(text.charCodeAt(p + 1) === 101 && text.charCodeAt(p + 2) === 116 && text.charCodeAt(p + 3) === 117 && text.charCodeAt(p + 4) === 114 && text.charCodeAt(p + 5) === 110)) {
          break no7;
        }
        p += 6;
        break alt1;
      }
      no8: if (v2 === 105) {
        if (!(text.charCodeAt(p + 1) === 102)) {
          break no8;
        }
        p += 2;
        break alt1;
      }
      no9: if (v2 === 101) {
        if (!(text.charCodeAt(p + 1) === 108 && text.charCodeAt(p + 2) === 115 && text.charCodeAt(p + 3) === 101)) {
          break no9;
        }
        p += 4;
        break alt1;
      }
      no10: if (v2 === 102) {
        if (!(text.charCodeAt(p + 1) === 111 && text.charCodeAt(p + 2) === 114)) {
          break no10;
        }
        p += 3;
        break alt1;
      }
      no11: if (v2 === 105) {
        if (!(text.charCodeAt(p + 1) === 110)) {
          break no11;
        }
        p += 2;
        break alt1;
      }
      no12: if (v2 === 98) {
        if (!(text.charCodeAt(p + 1) === 114 && text.charCodeAt(p + 2) === 101 && text.charCodeAt(p + 3) === 97 && text.charCodeAt(p + 4) === 107)) {
          break no12;
        }
        p += 5;
        break alt1;
      }
      no13: if (v2 === 99) {
        if (!(text.charCodeAt(p + 1) === 111 && text.charCodeAt(p + 2) === 110 && text.charCodeAt(p + 3) === 116 && text.charCodeAt(p + 4) === 105 && text.charCodeAt(p + 5) === 110 && text.charCodeAt(p + 6) === 117 && text.charCodeAt(p + 7) === 101)) {
          break no13;
        }
        p += 8;
        break alt1;
      }
      return -1;
    }
    v2 = text.charCodeAt(p);
    if (((v2 >= 48 && v2 <= 57) || (v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
      return -1;
    }
    return p;
  }

  $exponent(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (v2 !== 101) {
      return -1;
    }
    p += 1;
    v2 = text.charCodeAt(p);
    if (!((v2 === 43 || v2 === 45))) {
      return -1;
    }
    p += 1;
    v2 = text.charCodeAt(p);
    if (!((v2 >= 48 && v2 <= 57))) {
      return -1;
    }
    p += 1;
    while ((text.charCodeAt(p) >= 48 && text.charCodeAt(p) <= 57)) p++;
    return p;
  }

  $backslashes(start: number): number {
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (v2 !== 92) {
      return -1;
    }
    p += 1;
    while (text.charCodeAt(p) === 92) p++;
    v2 = text.charCodeAt(p);
    opt1: if (v2 === 47) {
      p += 1;
    }
    return p;
  }

  $lastSlash(start: number): number {
    let v2 = 0;
    let v3 = 0;
    let v5 = 0;
    const text = this.text;
    const length = this.length;
    let p = start;
    v2 = text.charCodeAt(p);
    if (v2 !== 47) {
      return -1;
    }
    p += 1;
    v2 = text.charCodeAt(p);
    v3 = p;
    not1: if (v2 !== 10) {
      while (p < length && text.charCodeAt(p) !== 10 && text.charCodeAt(p) !== 47) p++;
      v5 = text.charCodeAt(p);
      if (v5 !== 47) {
        break not1;
      }
      p += 1;
      p = v3;
      return -1;
    }
    p = v3;
    return p;
  }

}

/** The lengths of the operators. */
const WIDTHS: readonly number[] = [2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];

/** Precedence of the operators (0 is the loosest), and their names in an operation. */
const LEVELS: readonly number[] = [0, 1, 2, 2, 2, 2, 6, 6, 2, 2, 3, 4, 5, 7, 7, 8, 8, 8];
const OPS: readonly (BinaryOp | undefined)[] = [undefined, undefined, '==', '!=', '<=', '>=', '<<', '>>', '<', '>', '|', '^', '&', '+', '-', '%', '*', '/'];

/** The operators of a level whose node does not name them. */
const NO_OPS: BinaryOp[] = [];

/** Operands of one level of operators that wait for the last one. */
interface Level {
  readonly level: number;
  readonly operands: Node[];
  readonly ops: BinaryOp[];
}

/** Takes up an operand and the operator behind it. The open levels get tighter from first to last. */
function shift(open: Level[], operand: Node, operator: number): void {
  const level = LEVELS[operator]!;
  const op = OPS[operator];
  let last = operand;
  let top = open[open.length - 1];
  while (top !== undefined && top.level > level) {
    last = toNode(top, last);
    open.pop();
    top = open[open.length - 1];
  }
  if (top === undefined || top.level < level) {
    open.push({ level, operands: [last], ops: op === undefined ? NO_OPS : [op] });
    return;
  }
  top.operands.push(last);
  if (op !== undefined) top.ops.push(op);
}

/** Takes back the last `shift`; the operand. */
function unshift(open: Level[]): Node {
  const top = open[open.length - 1]!;
  if (top.ops.length > 0) top.ops.pop();
  if (top.operands.length === 1) open.pop();
  return top.operands.pop()!;
}

/** Ends all open levels with the last operand. */
function close(open: Level[], operand: Node): Node {
  let last = operand;
  for (let top = open.pop(); top !== undefined; top = open.pop()) last = toNode(top, last);
  return last;
}

function toNode({ level, operands: before, ops }: Level, last: Node): Node {
  let operands = before;
  if (operands.length === 0) return last;
  const first = operands[0]!;
  const { start } = first;
  // Mostly there are two, and an array that grows makes room for sixteen more.
  if (operands.length > 1) operands.push(last);
  else operands = [first, last];
  if (level === 0) return { kind: 'or', start, end: last.end, operands };
  if (level === 1) return { kind: 'and', start, end: last.end, operands };
  return { kind: 'operation', start, end: last.end, operands, ops };
}
