// Made from grammar.ohm by generator/main.mjs. Do not edit: change the grammar and run the build.
import { NESTING_MAX, nestedTooDeep } from './limits.js';

/** What can be missing at a place, in the words of the grammar. */
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

/** What any statement may begin with. */
export const STATEMENT: readonly string[] = ["\"&{\"","\"(\"","\".\" or \"..\"","\"[\"","\"break\"","\"continue\"","\"false\"","\"for\"","\"if\"","\"nil\"","\"return\"","\"true\"","\"{\"","\"|\"","\"~\"","a float","a prefix operator","a regular expression","a string","a template","a variable name","an int"];

/** The lengths of the operators. */
const WIDTHS: readonly number[] = [2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];

export class GeneratedTracer {
  /** Rightmost place at which something was missing; -1 as long as nothing was. */
  far = -1;
  /** What was missing there: the first `noted` are indexes into EXPECTED. */
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

  constructor(readonly source: string) {
    this.text = source + '\0';
    this.length = source.length;
  }

  /** Whether the source fits the grammar. */
  trace(): boolean {
    return this.Query(this.skip(0));
  }

  note(q: number, expectation: number): void {
    if (q > this.far) {
      this.far = q;
      this.noted = 0;
    }
    this.wanted[this.noted++] = expectation;
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

  /** What `closedAt` is for a closure that ends at `p`. */
  closing(p: number): number {
    if (this.text.charCodeAt(p - 1) !== 125) return -1;
    const q = this.skip(p);
    return this.text.slice(p, q).includes('\n') ? q : -1;
  }

  giveUpStmt(start: number): false {
    this.depth--;
    if (this.failedStmt === undefined) this.failedStmt = new Set();
    this.failedStmt.add(start);
    return false;
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

  Query(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    opt1: if (((c0 >= 33 && c0 <= 34) || (c0 >= 38 && c0 <= 40) || c0 === 43 || (c0 >= 45 && c0 <= 57) || (c0 >= 65 && c0 <= 91) || (c0 >= 95 && c0 <= 124) || c0 === 126)) {
      if (!this.Stmts(start)) {
        break opt1;
      }
      p = this.pos;
    } else {
      if (start >= this.far) this.note(start, 0);
    }
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v1 !== this.length) {
      if (v1 >= this.far) this.note(v1, 1);
      return false;
    }
    this.pos = p;
    return true;
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

  Stmts(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v3 = 0;
    let v4 = 0;
    let v5 = 0;
    const text = this.text;
    let p = start;
    if (!this.Stmt(start)) {
      return false;
    }
    p = this.pos;
    loop1: for (;;) {
      v1 = p;
      v2 = text.charCodeAt(v1);
      if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
        v1 = this.skip(v1);
        v2 = text.charCodeAt(v1);
      }
      if (!(((v2 >= 33 && v2 <= 34) || (v2 >= 38 && v2 <= 40) || v2 === 43 || (v2 >= 45 && v2 <= 57) || v2 === 59 || (v2 >= 65 && v2 <= 91) || (v2 >= 95 && v2 <= 124) || v2 === 126))) {
        if (v1 >= this.far) this.note(v1, 2);
        break;
      }
      v3 = p;
      alt2: {
        no3: if (v2 === 59) {
          p = v1 + 1;
          loop4: for (;;) {
            v4 = p;
            v5 = text.charCodeAt(v4);
            if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
              v4 = this.skip(v4);
              v5 = text.charCodeAt(v4);
            }
            if (!(v5 === 59)) {
              if (v4 >= this.far) this.note(v4, 2);
              break;
            }
            p = v4 + 1;
          }
          break alt2;
        }
        no5: {
          if (v1 !== this.closedAt) {
            break no5;
          }
          break alt2;
        }
        if (v1 >= this.far) this.note(v1, 2);
        p = v3;
        break loop1;
      }
      v1 = p;
      v2 = text.charCodeAt(v1);
      if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
        v1 = this.skip(v1);
        v2 = text.charCodeAt(v1);
      }
      if (!this.Stmt(v1)) {
        p = v3;
        break loop1;
      }
      p = this.pos;
    }
    loop6: for (;;) {
      v3 = p;
      v2 = text.charCodeAt(v3);
      if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
        v3 = this.skip(v3);
        v2 = text.charCodeAt(v3);
      }
      if (!(v2 === 59)) {
        if (v3 >= this.far) this.note(v3, 2);
        break;
      }
      p = v3 + 1;
    }
    this.pos = p;
    return true;
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

  Stmt(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v3 = 0;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    let v7 = 0;
    let v8 = 0;
    if (this.failedStmt !== undefined && this.failedStmt.has(start)) return false;
    if (++this.depth > NESTING_MAX) throw nestedTooDeep(start);
    const text = this.text;
    let p = start;
    v1 = 0;
    v2 = start;
    for (;;) {
      if (!this.Operand(v2)) {
        if (v1 === 0) {
          return this.giveUpStmt(start);
        }
        // No operand behind the operator: it does not belong to this expression.
        break;
      }
      p = this.pos;
      v4 = p;
      v5 = text.charCodeAt(v4);
      if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
        v4 = this.skip(v4);
        v5 = text.charCodeAt(v4);
      }
      v3 = (v5 === 33 || (v5 >= 37 && v5 <= 38) || (v5 >= 42 && v5 <= 43) || v5 === 45 || v5 === 47 || (v5 >= 60 && v5 <= 62) || v5 === 94 || v5 === 124) ? this.operator(v4) : -1;
      if (v3 < 0) {
        if (v4 >= this.far) this.note(v4, 3);
        break;
      }
      v2 = v4 + WIDTHS[v3]!;
      v5 = text.charCodeAt(v2);
      if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
        v2 = this.skip(v2);
        v5 = text.charCodeAt(v2);
      }
      if (!(((v5 >= 33 && v5 <= 34) || (v5 >= 38 && v5 <= 40) || v5 === 43 || (v5 >= 45 && v5 <= 57) || (v5 >= 65 && v5 <= 91) || (v5 >= 95 && v5 <= 124) || v5 === 126))) {
        if (v2 >= this.far) this.note(v2, 0);
        break;
      }
      v1 = 1;
    }
    v4 = p;
    v5 = text.charCodeAt(v4);
    if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
      v4 = this.skip(v4);
      v5 = text.charCodeAt(v4);
    }
    opt1: if (v5 === 63) {
      v6 = p;
      p = v4 + 1;
      v7 = p;
      v8 = text.charCodeAt(v7);
      if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
        v7 = this.skip(v7);
        v8 = text.charCodeAt(v7);
      }
      if (!this.Stmt(v7)) {
        p = v6;
        break opt1;
      }
      p = this.pos;
      v7 = p;
      v8 = text.charCodeAt(v7);
      if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
        v7 = this.skip(v7);
        v8 = text.charCodeAt(v7);
      }
      if (v8 !== 58) {
        if (v7 >= this.far) this.note(v7, 4);
        p = v6;
        break opt1;
      }
      p = v7 + 1;
      v7 = p;
      v8 = text.charCodeAt(v7);
      if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
        v7 = this.skip(v7);
        v8 = text.charCodeAt(v7);
      }
      if (!this.Stmt(v7)) {
        p = v6;
        break opt1;
      }
      p = this.pos;
    } else {
      if (v4 >= this.far) this.note(v4, 5);
    }
    this.depth--;
    this.pos = p;
    return true;
  }

  Operand(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v3 = 0;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    let v7 = 0;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    v1 = p;
    no1: if (c0 === 105) {
      if (!this.If(start)) {
        break no1;
      }
      p = this.pos;
      return true;
    }
    no2: if (c0 === 114) {
      if (!this.Return(start)) {
        break no2;
      }
      p = this.pos;
      return true;
    }
    no3: if (c0 === 102) {
      if (!this.For(start)) {
        break no3;
      }
      p = this.pos;
      return true;
    }
    no4: if (c0 === 98) {
      if (!this.Break(start)) {
        break no4;
      }
      p = this.pos;
      return true;
    }
    no5: if (c0 === 99) {
      if (!this.Continue(start)) {
        break no5;
      }
      p = this.pos;
      return true;
    }
    no6: if (c0 === 124) {
      if (!this.Closure(start)) {
        break no6;
      }
      p = this.pos;
      return true;
    }
    no7: if (((c0 >= 33 && c0 <= 34) || (c0 >= 38 && c0 <= 40) || c0 === 43 || (c0 >= 45 && c0 <= 57) || (c0 >= 65 && c0 <= 91) || (c0 >= 95 && c0 <= 123) || c0 === 126)) {
      rule8: {
        loop9: for (;;) {
          v2 = p;
          v3 = text.charCodeAt(v2);
          if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
            v2 = this.skip(v2);
            v3 = text.charCodeAt(v2);
          }
          if (!(v3 === 126)) {
            if (v2 >= this.far) this.note(v2, 6);
            break;
          }
          p = v2 + 1;
        }
        loop10: for (;;) {
          v3 = p;
          v2 = text.charCodeAt(v3);
          if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
            v3 = this.skip(v3);
            v2 = text.charCodeAt(v3);
          }
          if (!((v2 === 33 || v2 === 43 || v2 === 45))) {
            if (v3 >= this.far) this.note(v3, 7);
            break;
          }
          v4 = this.$sign(v3);
          if (v4 < 0) {
            if (v3 >= this.far) this.note(v3, 7);
            break loop10;
          }
          p = v4;
        }
        v2 = p;
        v3 = text.charCodeAt(v2);
        if (((v3 >= 9 && v3 <= 13) || v3 === 32 || v3 === 47)) {
          v2 = this.skip(v2);
          v3 = text.charCodeAt(v2);
        }
        v4 = v2;
        rule11: {
          no12: if (v3 === 46) {
            if (!this.Member(v2)) {
              break no12;
            }
            p = this.pos;
            loop13: for (;;) {
              v5 = p;
              v6 = text.charCodeAt(v5);
              if (((v6 >= 9 && v6 <= 13) || v6 === 32 || v6 === 47)) {
                v5 = this.skip(v5);
                v6 = text.charCodeAt(v5);
              }
              if (!((v6 === 46 || v6 === 91))) {
                if (v5 >= this.far) this.note(v5, 8);
                break;
              }
              if (!this.Link(v5)) {
                break loop13;
              }
              p = this.pos;
            }
            break rule11;
          }
          no14: if ((v3 === 34 || (v3 >= 38 && v3 <= 40) || v3 === 43 || (v3 >= 45 && v3 <= 57) || (v3 >= 65 && v3 <= 91) || (v3 >= 95 && v3 <= 123))) {
            v6 = v2;
            rule15: {
              no16: if (v3 === 102) {
                v5 = this.$false(v2);
                if (v5 < 0) {
                  if (v2 >= this.far) this.note(v2, 9);
                  break no16;
                }
                p = v5;
                break rule15;
              }
              no17: if (v3 === 110) {
                v5 = this.$nil(v2);
                if (v5 < 0) {
                  if (v2 >= this.far) this.note(v2, 10);
                  break no17;
                }
                p = v5;
                break rule15;
              }
              no18: if (v3 === 116) {
                v5 = this.$true(v2);
                if (v5 < 0) {
                  if (v2 >= this.far) this.note(v2, 11);
                  break no18;
                }
                p = v5;
                break rule15;
              }
              no19: if ((v3 === 43 || (v3 >= 45 && v3 <= 46) || (v3 >= 48 && v3 <= 57) || v3 === 105 || v3 === 110)) {
                v5 = this.$float(v2);
                if (v5 < 0) {
                  if (v2 >= this.far) this.note(v2, 12);
                  break no19;
                }
                p = v5;
                break rule15;
              }
              no20: if ((v3 === 43 || v3 === 45 || (v3 >= 48 && v3 <= 57))) {
                v5 = this.$int(v2);
                if (v5 < 0) {
                  if (v2 >= this.far) this.note(v2, 13);
                  break no20;
                }
                p = v5;
                break rule15;
              }
              no21: if ((v3 === 34 || v3 === 39)) {
                v5 = this.$string(v2);
                if (v5 < 0) {
                  if (v2 >= this.far) this.note(v2, 14);
                  break no21;
                }
                p = v5;
                break rule15;
              }
              no22: if (v3 === 47) {
                v5 = this.$regex(v2);
                if (v5 < 0) {
                  if (v2 >= this.far) this.note(v2, 15);
                  break no22;
                }
                p = v5;
                break rule15;
              }
              no23: if (v3 === 38) {
                if (!this.Anonymous(v2)) {
                  break no23;
                }
                p = this.pos;
                break rule15;
              }
              no24: if (v3 === 96) {
                if (!this.template(v2)) {
                  break no24;
                }
                p = this.pos;
                break rule15;
              }
              no25: if (((v3 >= 65 && v3 <= 90) || v3 === 95 || (v3 >= 97 && v3 <= 122))) {
                if (!this.Named(v2)) {
                  break no25;
                }
                p = this.pos;
                break rule15;
              }
              no26: if (v3 === 123) {
                if (!this.Thing(v2)) {
                  break no26;
                }
                p = this.pos;
                break rule15;
              }
              no27: if (v3 === 91) {
                if (!this.List(v2)) {
                  break no27;
                }
                p = this.pos;
                break rule15;
              }
              no28: if (v3 === 40) {
                if (!this.Paren(v2)) {
                  break no28;
                }
                p = this.pos;
                break rule15;
              }
              if (v2 >= this.far) this.note(v2, 16);
              break no14;
            }
            loop29: for (;;) {
              v5 = p;
              v7 = text.charCodeAt(v5);
              if (((v7 >= 9 && v7 <= 13) || v7 === 32 || v7 === 47)) {
                v5 = this.skip(v5);
                v7 = text.charCodeAt(v5);
              }
              if (!((v7 === 46 || v7 === 91))) {
                if (v5 >= this.far) this.note(v5, 8);
                break;
              }
              if (!this.Link(v5)) {
                break loop29;
              }
              p = this.pos;
            }
            break rule11;
          }
          if (v2 >= this.far) this.note(v2, 17);
          p = v1;
          break no7;
        }
        break rule8;
      }
      this.pos = p;
      return true;
    }
    no30: if (c0 === 123) {
      if (!this.Block(start)) {
        break no30;
      }
      p = this.pos;
      return true;
    }
    if (start >= this.far) this.note(start, 0);
    return false;
  }

  If(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v3 = 0;
    let v4 = 0;
    let v5 = 0;
    const text = this.text;
    let p = start;
    v1 = this.$if(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 18);
      return false;
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
      return false;
    }
    p = v1 + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (!this.Stmt(v1)) {
      return false;
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
      return false;
    }
    p = v1 + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (!this.Stmt(v1)) {
      return false;
    }
    p = this.pos;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    opt1: if (v2 === 101) {
      v3 = p;
      v4 = this.$else(v1);
      if (v4 < 0) {
        if (v1 >= this.far) this.note(v1, 21);
        p = v3;
        break opt1;
      }
      p = v4;
      v4 = p;
      v5 = text.charCodeAt(v4);
      if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
        v4 = this.skip(v4);
        v5 = text.charCodeAt(v4);
      }
      if (!this.Stmt(v4)) {
        p = v3;
        break opt1;
      }
      p = this.pos;
    } else {
      if (v1 >= this.far) this.note(v1, 21);
    }
    this.pos = p;
    return true;
  }

  Return(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v3 = 0;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    let v7 = 0;
    let v8 = 0;
    let v9 = 0;
    let v10 = 0;
    const text = this.text;
    let p = start;
    v1 = this.$return(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 22);
      return false;
    }
    p = v1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    opt1: if (((v2 >= 33 && v2 <= 34) || (v2 >= 38 && v2 <= 40) || v2 === 43 || (v2 >= 45 && v2 <= 57) || (v2 >= 65 && v2 <= 91) || (v2 >= 95 && v2 <= 124) || v2 === 126)) {
      if (!this.Stmt(v1)) {
        break opt1;
      }
      p = this.pos;
      v3 = p;
      v4 = text.charCodeAt(v3);
      if (((v4 >= 9 && v4 <= 13) || v4 === 32 || v4 === 47)) {
        v3 = this.skip(v3);
        v4 = text.charCodeAt(v3);
      }
      opt2: if (v4 === 44) {
        v5 = p;
        p = v3 + 1;
        v6 = p;
        v7 = text.charCodeAt(v6);
        if (((v7 >= 9 && v7 <= 13) || v7 === 32 || v7 === 47)) {
          v6 = this.skip(v6);
          v7 = text.charCodeAt(v6);
        }
        if (!this.Stmt(v6)) {
          p = v5;
          break opt2;
        }
        p = this.pos;
        v6 = p;
        v7 = text.charCodeAt(v6);
        if (((v7 >= 9 && v7 <= 13) || v7 === 32 || v7 === 47)) {
          v6 = this.skip(v6);
          v7 = text.charCodeAt(v6);
        }
        opt3: if (v7 === 44) {
          v8 = p;
          p = v6 + 1;
          v9 = p;
          v10 = text.charCodeAt(v9);
          if (((v10 >= 9 && v10 <= 13) || v10 === 32 || v10 === 47)) {
            v9 = this.skip(v9);
            v10 = text.charCodeAt(v9);
          }
          if (!this.Stmt(v9)) {
            p = v8;
            break opt3;
          }
          p = this.pos;
        } else {
          if (v6 >= this.far) this.note(v6, 23);
        }
      } else {
        if (v3 >= this.far) this.note(v3, 23);
      }
    } else {
      if (v1 >= this.far) this.note(v1, 0);
    }
    this.pos = p;
    return true;
  }

  For(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    let v7 = 0;
    const text = this.text;
    let p = start;
    v1 = this.$for(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 24);
      return false;
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
      return false;
    }
    p = v1 + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    rule1: {
      v4 = this.$variable(v1);
      if (v4 < 0) {
        if (v1 >= this.far) this.note(v1, 25);
        return false;
      }
      p = v4;
      loop2: for (;;) {
        v4 = p;
        v5 = text.charCodeAt(v4);
        if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
          v4 = this.skip(v4);
          v5 = text.charCodeAt(v4);
        }
        if (!(v5 === 44)) {
          if (v4 >= this.far) this.note(v4, 23);
          break;
        }
        v6 = p;
        p = v4 + 1;
        v4 = p;
        v5 = text.charCodeAt(v4);
        if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
          v4 = this.skip(v4);
          v5 = text.charCodeAt(v4);
        }
        v7 = this.$variable(v4);
        if (v7 < 0) {
          if (v4 >= this.far) this.note(v4, 25);
          p = v6;
          break loop2;
        }
        p = v7;
      }
      break rule1;
    }
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    v6 = this.$in(v1);
    if (v6 < 0) {
      if (v1 >= this.far) this.note(v1, 26);
      return false;
    }
    p = v6;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (!this.Stmt(v1)) {
      return false;
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
      return false;
    }
    p = v1 + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (!this.Stmt(v1)) {
      return false;
    }
    p = this.pos;
    return true;
  }

  Break(start: number): boolean {
    let v1 = 0;
    let p = start;
    v1 = this.$break(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 27);
      return false;
    }
    p = v1;
    this.pos = p;
    return true;
  }

  Continue(start: number): boolean {
    let v1 = 0;
    let p = start;
    v1 = this.$continue(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 28);
      return false;
    }
    p = v1;
    this.pos = p;
    return true;
  }

  Closure(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    let v7 = 0;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 !== 124) {
      if (start >= this.far) this.note(start, 29);
      return false;
    }
    p = start + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    rule1: {
      opt2: if (((v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
        v4 = this.$variable(v1);
        if (v4 < 0) {
          if (v1 >= this.far) this.note(v1, 25);
          break opt2;
        }
        p = v4;
        loop3: for (;;) {
          v4 = p;
          v5 = text.charCodeAt(v4);
          if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
            v4 = this.skip(v4);
            v5 = text.charCodeAt(v4);
          }
          if (!(v5 === 44)) {
            if (v4 >= this.far) this.note(v4, 23);
            break;
          }
          v6 = p;
          p = v4 + 1;
          v4 = p;
          v5 = text.charCodeAt(v4);
          if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
            v4 = this.skip(v4);
            v5 = text.charCodeAt(v4);
          }
          v7 = this.$variable(v4);
          if (v7 < 0) {
            if (v4 >= this.far) this.note(v4, 25);
            p = v6;
            break loop3;
          }
          p = v7;
        }
        v6 = p;
        v5 = text.charCodeAt(v6);
        if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
          v6 = this.skip(v6);
          v5 = text.charCodeAt(v6);
        }
        opt4: if (v5 === 44) {
          p = v6 + 1;
        } else {
          if (v6 >= this.far) this.note(v6, 23);
        }
      } else {
        if (v1 >= this.far) this.note(v1, 25);
      }
      break rule1;
    }
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v2 !== 124) {
      if (v1 >= this.far) this.note(v1, 29);
      return false;
    }
    p = v1 + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (!this.Stmt(v1)) {
      return false;
    }
    p = this.pos;
    this.closedAt = this.closing(p);
    return true;
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

  Member(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v3 = 0;
    let v4 = 0;
    let v5 = 0;
    const text = this.text;
    let p = start;
    v1 = this.$dots(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 30);
      return false;
    }
    p = v1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    v3 = this.$name(v1);
    if (v3 < 0) {
      if (v1 >= this.far) this.note(v1, 31);
      return false;
    }
    p = v3;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    v3 = p;
    no1: if (v2 === 40) {
      if (!this.Arguments(v1)) {
        break no1;
      }
      p = this.pos;
      return true;
    }
    no2: if (((v2 >= 37 && v2 <= 38) || (v2 >= 42 && v2 <= 43) || v2 === 45 || v2 === 47 || v2 === 61 || v2 === 94 || v2 === 124)) {
      v4 = this.$assignOp(v1);
      if (v4 < 0) {
        if (v1 >= this.far) this.note(v1, 32);
        p = v3;
        break no2;
      }
      p = v4;
      v4 = p;
      v5 = text.charCodeAt(v4);
      if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
        v4 = this.skip(v4);
        v5 = text.charCodeAt(v4);
      }
      if (!this.Stmt(v4)) {
        p = v3;
        break no2;
      }
      p = this.pos;
      return true;
    }
    no3: {
      this.pos = p;
      return true;
    }
  }

  Link(start: number): boolean {
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (start === this.closedAt) {
      return false;
    }
    alt1: {
      no2: if (c0 === 46) {
        if (!this.Member(start)) {
          break no2;
        }
        p = this.pos;
        break alt1;
      }
      no3: if (c0 === 91) {
        if (!this.Index(start)) {
          break no3;
        }
        p = this.pos;
        break alt1;
      }
      if (start >= this.far) this.note(start, 8);
      return false;
    }
    this.pos = p;
    return true;
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

  Anonymous(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (!(c0 === 38 && text.charCodeAt(start + 1) === 123)) {
      if (start >= this.far) this.note(start, 33);
      return false;
    }
    p = start + 2;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    rule1: {
      opt2: if (((v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
        if (!this.Entry(v1)) {
          break opt2;
        }
        p = this.pos;
        loop3: for (;;) {
          v4 = p;
          v5 = text.charCodeAt(v4);
          if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
            v4 = this.skip(v4);
            v5 = text.charCodeAt(v4);
          }
          if (!(v5 === 44)) {
            if (v4 >= this.far) this.note(v4, 23);
            break;
          }
          v6 = p;
          p = v4 + 1;
          v4 = p;
          v5 = text.charCodeAt(v4);
          if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
            v4 = this.skip(v4);
            v5 = text.charCodeAt(v4);
          }
          if (!this.Entry(v4)) {
            p = v6;
            break loop3;
          }
          p = this.pos;
        }
        v6 = p;
        v5 = text.charCodeAt(v6);
        if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
          v6 = this.skip(v6);
          v5 = text.charCodeAt(v6);
        }
        opt4: if (v5 === 44) {
          p = v6 + 1;
        } else {
          if (v6 >= this.far) this.note(v6, 23);
        }
      } else {
        if (v1 >= this.far) this.note(v1, 31);
      }
      break rule1;
    }
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v2 !== 125) {
      if (v1 >= this.far) this.note(v1, 34);
      return false;
    }
    p = v1 + 1;
    this.pos = p;
    return true;
  }

  template(start: number): boolean {
    let v2 = 0;
    let v4 = 0;
    let v5 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (v2 !== 96) {
      if (p >= this.far) this.note(p, 35);
      return false;
    }
    p += 1;
    loop1: for (;;) {
      v4 = text.charCodeAt(p);
      alt2: {
        no3: {
          v5 = this.$templateText(p);
          if (v5 < 0) {
            if (p >= this.far) this.note(p, 36);
            break no3;
          }
          p = v5;
          break alt2;
        }
        no4: if (v4 === 123) {
          if (!this.hole(p)) {
            break no4;
          }
          p = this.pos;
          break alt2;
        }
        if (p >= this.far) this.note(p, 37);
        break loop1;
      }
    }
    v2 = text.charCodeAt(p);
    if (v2 !== 96) {
      if (p >= this.far) this.note(p, 35);
      return false;
    }
    p += 1;
    this.pos = p;
    return true;
  }

  Named(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v3 = 0;
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
      return false;
    }
    p = v1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    v3 = p;
    no1: if (v2 === 40) {
      if (!this.Arguments(v1)) {
        break no1;
      }
      p = this.pos;
      return true;
    }
    no2: if (((v2 >= 37 && v2 <= 38) || (v2 >= 42 && v2 <= 43) || v2 === 45 || v2 === 47 || v2 === 61 || v2 === 94 || v2 === 124)) {
      v4 = this.$assignOp(v1);
      if (v4 < 0) {
        if (v1 >= this.far) this.note(v1, 32);
        p = v3;
        break no2;
      }
      p = v4;
      v4 = p;
      v5 = text.charCodeAt(v4);
      if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
        v4 = this.skip(v4);
        v5 = text.charCodeAt(v4);
      }
      if (!this.Stmt(v4)) {
        p = v3;
        break no2;
      }
      p = this.pos;
      return true;
    }
    no3: if (v2 === 123) {
      if (!this.Thing(v1)) {
        break no3;
      }
      p = this.pos;
      return true;
    }
    no4: if (v2 === 123) {
      p = v1 + 1;
      v5 = p;
      v4 = text.charCodeAt(v5);
      if (((v4 >= 9 && v4 <= 13) || v4 === 32 || v4 === 47)) {
        v5 = this.skip(v5);
        v4 = text.charCodeAt(v5);
      }
      v6 = p;
      no5: if (((v4 >= 65 && v4 <= 90) || v4 === 95 || (v4 >= 97 && v4 <= 122))) {
        v7 = this.$name(v5);
        if (v7 < 0) {
          if (v5 >= this.far) this.note(v5, 31);
          p = v6;
          break no5;
        }
        p = v7;
        v7 = p;
        v8 = text.charCodeAt(v7);
        if (((v8 >= 9 && v8 <= 13) || v8 === 32 || v8 === 47)) {
          v7 = this.skip(v7);
          v8 = text.charCodeAt(v7);
        }
        if (v8 !== 125) {
          if (v7 >= this.far) this.note(v7, 34);
          p = v6;
          break no5;
        }
        p = v7 + 1;
        this.pos = p;
        return true;
      }
      no6: if (v4 === 124) {
        if (!this.Closure(v5)) {
          p = v6;
          break no6;
        }
        p = this.pos;
        v8 = p;
        v7 = text.charCodeAt(v8);
        if (((v7 >= 9 && v7 <= 13) || v7 === 32 || v7 === 47)) {
          v8 = this.skip(v8);
          v7 = text.charCodeAt(v8);
        }
        if (v7 !== 125) {
          if (v8 >= this.far) this.note(v8, 34);
          p = v6;
          break no6;
        }
        p = v8 + 1;
        this.pos = p;
        return true;
      }
      if (v5 >= this.far) this.note(v5, 38);
      p = v3;
      break no4;
    }
    no7: {
      this.pos = p;
      return true;
    }
  }

  Thing(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 === 123 && this.depth >= NESTING_MAX) throw nestedTooDeep(start);
    if (c0 !== 123) {
      if (start >= this.far) this.note(start, 39);
      return false;
    }
    p = start + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    rule1: {
      opt2: if (((v2 >= 65 && v2 <= 90) || v2 === 95 || (v2 >= 97 && v2 <= 122))) {
        if (!this.Entry(v1)) {
          break opt2;
        }
        p = this.pos;
        loop3: for (;;) {
          v4 = p;
          v5 = text.charCodeAt(v4);
          if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
            v4 = this.skip(v4);
            v5 = text.charCodeAt(v4);
          }
          if (!(v5 === 44)) {
            if (v4 >= this.far) this.note(v4, 23);
            break;
          }
          v6 = p;
          p = v4 + 1;
          v4 = p;
          v5 = text.charCodeAt(v4);
          if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
            v4 = this.skip(v4);
            v5 = text.charCodeAt(v4);
          }
          if (!this.Entry(v4)) {
            p = v6;
            break loop3;
          }
          p = this.pos;
        }
        v6 = p;
        v5 = text.charCodeAt(v6);
        if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
          v6 = this.skip(v6);
          v5 = text.charCodeAt(v6);
        }
        opt4: if (v5 === 44) {
          p = v6 + 1;
        } else {
          if (v6 >= this.far) this.note(v6, 23);
        }
      } else {
        if (v1 >= this.far) this.note(v1, 31);
      }
      break rule1;
    }
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v2 !== 125) {
      if (v1 >= this.far) this.note(v1, 34);
      return false;
    }
    p = v1 + 1;
    this.pos = p;
    return true;
  }

  List(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 === 91 && this.depth >= NESTING_MAX) throw nestedTooDeep(start);
    if (c0 !== 91) {
      if (start >= this.far) this.note(start, 40);
      return false;
    }
    p = start + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    rule1: {
      opt2: if (((v2 >= 33 && v2 <= 34) || (v2 >= 38 && v2 <= 40) || v2 === 43 || (v2 >= 45 && v2 <= 57) || (v2 >= 65 && v2 <= 91) || (v2 >= 95 && v2 <= 124) || v2 === 126)) {
        if (!this.Stmt(v1)) {
          break opt2;
        }
        p = this.pos;
        loop3: for (;;) {
          v4 = p;
          v5 = text.charCodeAt(v4);
          if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
            v4 = this.skip(v4);
            v5 = text.charCodeAt(v4);
          }
          if (!(v5 === 44)) {
            if (v4 >= this.far) this.note(v4, 23);
            break;
          }
          v6 = p;
          p = v4 + 1;
          v4 = p;
          v5 = text.charCodeAt(v4);
          if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
            v4 = this.skip(v4);
            v5 = text.charCodeAt(v4);
          }
          if (!this.Stmt(v4)) {
            p = v6;
            break loop3;
          }
          p = this.pos;
        }
        v6 = p;
        v5 = text.charCodeAt(v6);
        if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
          v6 = this.skip(v6);
          v5 = text.charCodeAt(v6);
        }
        opt4: if (v5 === 44) {
          p = v6 + 1;
        } else {
          if (v6 >= this.far) this.note(v6, 23);
        }
      } else {
        if (v1 >= this.far) this.note(v1, 0);
      }
      break rule1;
    }
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v2 !== 93) {
      if (v1 >= this.far) this.note(v1, 41);
      return false;
    }
    p = v1 + 1;
    this.pos = p;
    return true;
  }

  Paren(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 !== 40) {
      if (start >= this.far) this.note(start, 19);
      return false;
    }
    p = start + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (!this.Stmt(v1)) {
      return false;
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
      return false;
    }
    p = v1 + 1;
    this.pos = p;
    return true;
  }

  Block(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 !== 123) {
      if (start >= this.far) this.note(start, 39);
      return false;
    }
    p = start + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (!this.Stmts(v1)) {
      return false;
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
      return false;
    }
    p = v1 + 1;
    this.pos = p;
    return true;
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

  Arguments(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 !== 40) {
      if (start >= this.far) this.note(start, 19);
      return false;
    }
    p = start + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    rule1: {
      opt2: if (((v2 >= 33 && v2 <= 34) || (v2 >= 38 && v2 <= 40) || v2 === 43 || (v2 >= 45 && v2 <= 57) || (v2 >= 65 && v2 <= 91) || (v2 >= 95 && v2 <= 124) || v2 === 126)) {
        if (!this.Stmt(v1)) {
          break opt2;
        }
        p = this.pos;
        loop3: for (;;) {
          v4 = p;
          v5 = text.charCodeAt(v4);
          if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
            v4 = this.skip(v4);
            v5 = text.charCodeAt(v4);
          }
          if (!(v5 === 44)) {
            if (v4 >= this.far) this.note(v4, 23);
            break;
          }
          v6 = p;
          p = v4 + 1;
          v4 = p;
          v5 = text.charCodeAt(v4);
          if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
            v4 = this.skip(v4);
            v5 = text.charCodeAt(v4);
          }
          if (!this.Stmt(v4)) {
            p = v6;
            break loop3;
          }
          p = this.pos;
        }
        v6 = p;
        v5 = text.charCodeAt(v6);
        if (((v5 >= 9 && v5 <= 13) || v5 === 32 || v5 === 47)) {
          v6 = this.skip(v6);
          v5 = text.charCodeAt(v6);
        }
        opt4: if (v5 === 44) {
          p = v6 + 1;
        } else {
          if (v6 >= this.far) this.note(v6, 23);
        }
      } else {
        if (v1 >= this.far) this.note(v1, 0);
      }
      break rule1;
    }
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v2 !== 41) {
      if (v1 >= this.far) this.note(v1, 20);
      return false;
    }
    p = v1 + 1;
    this.pos = p;
    return true;
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

  Index(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    let v3 = 0;
    let v4 = 0;
    let v5 = 0;
    let v6 = 0;
    const text = this.text;
    let p = start;
    const c0 = text.charCodeAt(start);
    if (c0 !== 91) {
      if (start >= this.far) this.note(start, 40);
      return false;
    }
    p = start + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    opt1: if (((v2 >= 33 && v2 <= 34) || (v2 >= 38 && v2 <= 40) || v2 === 43 || (v2 >= 45 && v2 <= 57) || (v2 >= 65 && v2 <= 91) || (v2 >= 95 && v2 <= 124) || v2 === 126)) {
      if (!this.Stmt(v1)) {
        break opt1;
      }
      p = this.pos;
    } else {
      if (v1 >= this.far) this.note(v1, 0);
    }
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    opt2: if (v2 === 58) {
      p = v1 + 1;
      v3 = p;
      v4 = text.charCodeAt(v3);
      if (((v4 >= 9 && v4 <= 13) || v4 === 32 || v4 === 47)) {
        v3 = this.skip(v3);
        v4 = text.charCodeAt(v3);
      }
      opt3: if (((v4 >= 33 && v4 <= 34) || (v4 >= 38 && v4 <= 40) || v4 === 43 || (v4 >= 45 && v4 <= 57) || (v4 >= 65 && v4 <= 91) || (v4 >= 95 && v4 <= 124) || v4 === 126)) {
        if (!this.Stmt(v3)) {
          break opt3;
        }
        p = this.pos;
      } else {
        if (v3 >= this.far) this.note(v3, 0);
      }
      v3 = p;
      v4 = text.charCodeAt(v3);
      if (((v4 >= 9 && v4 <= 13) || v4 === 32 || v4 === 47)) {
        v3 = this.skip(v3);
        v4 = text.charCodeAt(v3);
      }
      opt4: if (v4 === 58) {
        p = v3 + 1;
        v5 = p;
        v6 = text.charCodeAt(v5);
        if (((v6 >= 9 && v6 <= 13) || v6 === 32 || v6 === 47)) {
          v5 = this.skip(v5);
          v6 = text.charCodeAt(v5);
        }
        opt5: if (((v6 >= 33 && v6 <= 34) || (v6 >= 38 && v6 <= 40) || v6 === 43 || (v6 >= 45 && v6 <= 57) || (v6 >= 65 && v6 <= 91) || (v6 >= 95 && v6 <= 124) || v6 === 126)) {
          if (!this.Stmt(v5)) {
            break opt5;
          }
          p = this.pos;
        } else {
          if (v5 >= this.far) this.note(v5, 0);
        }
      } else {
        if (v3 >= this.far) this.note(v3, 4);
      }
    } else {
      if (v1 >= this.far) this.note(v1, 4);
    }
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v2 !== 93) {
      if (v1 >= this.far) this.note(v1, 41);
      return false;
    }
    p = v1 + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    opt6: if (((v2 >= 37 && v2 <= 38) || (v2 >= 42 && v2 <= 43) || v2 === 45 || v2 === 47 || v2 === 61 || v2 === 94 || v2 === 124)) {
      v4 = p;
      v3 = this.$assignOp(v1);
      if (v3 < 0) {
        if (v1 >= this.far) this.note(v1, 32);
        p = v4;
        break opt6;
      }
      p = v3;
      v3 = p;
      v6 = text.charCodeAt(v3);
      if (((v6 >= 9 && v6 <= 13) || v6 === 32 || v6 === 47)) {
        v3 = this.skip(v3);
        v6 = text.charCodeAt(v3);
      }
      if (!this.Stmt(v3)) {
        p = v4;
        break opt6;
      }
      p = this.pos;
    } else {
      if (v1 >= this.far) this.note(v1, 32);
    }
    this.pos = p;
    return true;
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

  Entry(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    const text = this.text;
    let p = start;
    v1 = this.$name(start);
    if (v1 < 0) {
      if (start >= this.far) this.note(start, 31);
      return false;
    }
    p = v1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    if (v2 !== 58) {
      if (v1 >= this.far) this.note(v1, 4);
      return false;
    }
    p = v1 + 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    opt1: if (((v2 >= 33 && v2 <= 34) || (v2 >= 38 && v2 <= 40) || v2 === 43 || (v2 >= 45 && v2 <= 57) || (v2 >= 65 && v2 <= 91) || (v2 >= 95 && v2 <= 124) || v2 === 126)) {
      if (!this.Stmt(v1)) {
        break opt1;
      }
      p = this.pos;
    } else {
      if (v1 >= this.far) this.note(v1, 0);
    }
    this.pos = p;
    return true;
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

  hole(start: number): boolean {
    let v1 = 0;
    let v2 = 0;
    const text = this.text;
    let p = start;
    v2 = text.charCodeAt(p);
    if (v2 !== 123) {
      if (p >= this.far) this.note(p, 39);
      return false;
    }
    p += 1;
    v1 = p;
    v2 = text.charCodeAt(v1);
    if (((v2 >= 9 && v2 <= 13) || v2 === 32 || v2 === 47)) {
      v1 = this.skip(v1);
      v2 = text.charCodeAt(v1);
    }
    rule1: {
      if (!this.Stmt(v1)) {
        return false;
      }
      p = this.pos;
      break rule1;
    }
    p = this.skip(p);
    v2 = text.charCodeAt(p);
    if (v2 !== 125) {
      if (p >= this.far) this.note(p, 34);
      return false;
    }
    p += 1;
    this.pos = p;
    return true;
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
