/**
 * The static checks that come after parsing, and the classification of what a text may change. One pass over the tree,
 * without recursion, in the order of the text.
 */
import type { Analysis, ChangeScopes, Changes, ClosureChanges, Rules } from './analysis.js';
import type { Closure, Link, MethodLink, Node, Program } from './ast.js';
import { pushChildren, unknownNode } from './children.js';
import { LanguageError, placed } from './error.js';
import { NODES_PER_LOOK } from './limits.js';

/**
 * Analyses a program, or a closure that was parsed on its own (`source` is then its text).
 *
 * @throws {LanguageError} `syntax_err` for a `break` or `continue` outside of a loop of the same closure; else, for the
 *   first literal in the text that can't be, `overflow_err` (an int outside int64) or `value_err` (a regex)
 */
export function analyse(root: Program, rules: Rules): Analysis;
export function analyse(root: Closure, rules: Rules, source: string): Analysis;
export function analyse(root: Program | Closure, rules: Rules, source?: string): Analysis {
  try {
    return new Walk(rules).run(root);
  } catch (error) {
    if (!(error instanceof LanguageError)) throw error;
    throw placed(error, root.kind === 'program' ? root.source : (source ?? ''));
  }
}

const NO_CLOSURES: ReadonlyMap<Closure, ClosureChanges> = new Map();

/** Nodes that take as long as to check a regular expression. */
const NODES_PER_REGEX = 64;

const COLLECTION = 1;
const THINGSDB = 2;

/** All the values of `Changes`, by bits. */
const CHANGES: readonly Changes[] = [
  { collection: false, thingsdb: false },
  { collection: true, thingsdb: false },
  { collection: false, thingsdb: true },
  { collection: true, thingsdb: true },
];

const BITS: Readonly<Record<ChangeScopes, number>> = { none: 0, collection: 1, thingsdb: 2, both: 3 };

/**
 * The body of the program or of a closure, while the walk is in it.
 *
 * The rows that `nse` suppresses are decided late, since a closure can be asked about alone or where it stands: for each
 * scope `least…` is the smallest, over all such constructs in the body, of the position of the last `nse` before the
 * construct (-1 for none, Infinity if there is no such construct). The body as seen from a position has an unsuppressed
 * change exactly if `least…` lies before the position.
 */
interface Frame {
  readonly closure: Closure | null;
  readonly start: number;
  /** Start of what the closure is a part of: the program, or a closure that is classified for itself. */
  readonly root: number;
  /** Not counted for what is around it. */
  readonly excluded: boolean;
  /** The last `nse` when the frame was entered. */
  readonly nseBefore: number;
  /** Loops of this body around the current place. */
  loops: number;
  /** Bits of the scopes with a change that `nse` does not suppress. */
  sure: number;
  leastCollection: number;
  leastThingsdb: number;
  /** Variables that certainly exist in this frame at the current place. */
  bound: Set<string> | undefined;
}

/** The step of the walk at a place between two parts of the tree. */
type Step =
  | { readonly kind: 'assigned' }
  | { readonly kind: 'direct_method'; readonly link: MethodLink }
  | { readonly kind: 'excluded_closure'; readonly closure: Closure }
  | { readonly kind: 'leave_closure' }
  | { readonly kind: 'enter_loop'; readonly names: readonly string[] }
  | { readonly kind: 'leave_loop'; readonly names: readonly string[] }
  | { readonly kind: 'bind'; readonly names: readonly string[] }
  | { readonly kind: 'unbind'; readonly names: readonly string[] };

const ASSIGNED: Step = { kind: 'assigned' };
const LEAVE_CLOSURE: Step = { kind: 'leave_closure' };

class Walk {
  /** The places that are still to be visited; the last comes next. */
  private readonly work: (Node | Link | Step)[] = [];
  private readonly frames: Frame[] = [];
  private closures: Map<Closure, ClosureChanges> | null = null;
  private frame: Frame = frameOf(null, 0, 0, false, -1);
  private lastNse = -1;
  private usesState = false;
  private isLocal = false;
  private badLiteral: LanguageError | undefined;

  constructor(readonly rules: Rules) {}

  run(root: Program | Closure): Analysis {
    if (root.kind === 'program') this.sequence(root.statements);
    else this.work.push(root);
    let left = NODES_PER_LOOK;
    for (let next = this.work.pop(); next !== undefined; next = this.work.pop()) {
      left -= next.kind === 'regex' ? NODES_PER_REGEX : 1;
      if (left < 0) {
        left = NODES_PER_LOOK;
        this.rules.watch?.();
      }
      this.visit(next);
    }
    if (this.badLiteral !== undefined) throw this.badLiteral;
    return {
      changes: changesOf(this.frame, this.frame.root),
      closures: this.closures ?? NO_CLOSURES,
      usesState: this.usesState,
      isLocal: this.isLocal,
    };
  }

  private visit(node: Node | Link | Step): void {
    const work = this.work;
    switch (node.kind) {
      case 'int':
        if (node.value === null && this.badLiteral === undefined) {
          this.badLiteral = new LanguageError('overflow_err', 'the int is outside of int64', node.start);
        }
        return;
      case 'regex':
        this.regex(node.body, node.flags, node.start);
        return;
      case 'variable':
        this.read(node.name);
        return;
      case 'anonymous':
      case 'thing':
        if (node.kind === 'anonymous') this.usesState = true;
        for (let i = node.entries.length - 1; i >= 0; i--) {
          const { key, value } = node.entries[i]!;
          if (value !== null) work.push(value);
          else this.read(key);
        }
        return;
      case 'call':
        this.call(node.name, node.args, node.start);
        return;
      case 'instance':
      case 'enum':
        this.usesState = true;
        pushChildren(work, node);
        return;
      case 'chain':
        this.chain(node.head, node.links);
        return;
      case 'for': {
        const names = this.unbound(node.names);
        work.push({ kind: 'leave_loop', names }, node.body, { kind: 'enter_loop', names }, node.iterable);
        return;
      }
      case 'break':
      case 'continue':
        if (this.frame.loops === 0) {
          const reason = `${node.kind} must stand inside the body of a for, in the same closure`;
          throw new LanguageError('syntax_err', reason, node.start);
        }
        return;
      case 'closure':
        this.enter(node, false);
        return;
      case 'block':
        this.block(node.statements);
        return;

      case 'method':
        this.method(node, false);
        return;
      case 'assign_property':
        this.effect(COLLECTION, true);
        work.push(node.value);
        return;
      case 'assign_index':
        work.push(node.value, ASSIGNED, node.index);
        return;
      case 'assign_slice':
        work.push(node.value, ASSIGNED);
        this.parts(node.from, node.to, node.step);
        return;

      case 'assigned':
        this.effect(COLLECTION, true);
        return;
      case 'direct_method':
        this.method(node.link, true);
        return;
      case 'excluded_closure':
        this.enter(node.closure, true);
        return;
      case 'leave_closure':
        this.leave();
        return;
      case 'enter_loop':
        this.frame.loops++;
        this.bind(node.names);
        return;
      case 'leave_loop':
        this.frame.loops--;
        this.unbind(node.names);
        return;
      case 'bind':
        this.bind(node.names);
        return;
      case 'unbind':
        this.unbind(node.names);
        return;
      // Expressions that mean nothing by themselves.
      case 'nil':
      case 'bool':
      case 'float':
      case 'str':
      case 'template':
      case 'list':
      case 'paren':
      case 'assign':
      case 'prefix':
      case 'operation':
      case 'and':
      case 'or':
      case 'ternary':
      case 'if':
      case 'return':
      case 'property':
      case 'index':
      case 'slice':
        pushChildren(work, node);
        return;
      default:
        return unknownNode(node);
    }
  }

  private inOrder(nodes: readonly Node[]): void {
    for (let i = nodes.length - 1; i >= 0; i--) this.work.push(nodes[i]!);
  }

  private parts(first: Node | null, second: Node | null, third: Node | null): void {
    if (third !== null) this.work.push(third);
    if (second !== null) this.work.push(second);
    if (first !== null) this.work.push(first);
  }

  /** Statements; what a plain assignment among them sets certainly exists in those behind it. */
  private sequence(statements: readonly Node[]): void {
    for (let i = statements.length - 1; i >= 0; i--) {
      const statement = statements[i]!;
      if (isAssignment(statement)) {
        this.work.push({ kind: 'bind', names: assignedBy(statement) });
      }
      this.work.push(statement);
    }
  }

  /** A block may be skipped as a whole, so behind it its variables are uncertain again. */
  private block(statements: readonly Node[]): void {
    if (statements.some(isAssignment)) {
      const names = this.unbound(statements.flatMap(assignedBy));
      if (names.length > 0) this.work.push({ kind: 'unbind', names });
    }
    this.sequence(statements);
  }

  private regex(body: string, flags: string, start: number): void {
    if (this.badLiteral !== undefined) return;
    const reason = this.rules.checkRegex(body, flags);
    if (reason !== null) this.badLiteral = new LanguageError('value_err', reason, start);
  }

  private call(name: string, args: readonly Node[], start: number): void {
    const rule = this.rules.func(name);
    if (rule?.role === 'nse') this.lastNse = start;
    else if (rule?.role === 'local') this.isLocal = true;
    if (rule === undefined || !rule.pure) this.usesState = true;
    if (rule !== undefined && rule.changes !== 'none') this.effect(BITS[rule.changes], rule.nse);
    this.args(args, rule?.role === 'later');
  }

  private method({ name, args }: MethodLink, direct: boolean): void {
    const rule = this.rules.method(name);
    if (rule === undefined || !rule.pure) this.usesState = true;
    if (rule !== undefined && rule.changes !== 'none' && !(direct && rule.unlessDirect)) {
      this.effect(BITS[rule.changes], rule.nse);
    }
    this.args(args, rule?.role === 'later');
  }

  private args(args: readonly Node[], excludesFirst: boolean): void {
    const [first] = args;
    if (!excludesFirst || first?.kind !== 'closure') {
      this.inOrder(args);
      return;
    }
    // Code that runs later runs with whatever is stored then.
    this.usesState = true;
    this.inOrder(args.slice(1));
    this.work.push({ kind: 'excluded_closure', closure: first });
  }

  private chain(head: Node | null, links: readonly Link[]): void {
    if (head === null) this.usesState = true;
    for (let i = links.length - 1; i > 0; i--) this.work.push(links[i]!);
    const first = links[0]!;
    if (first.kind === 'method' && head !== null && this.isDirect(head)) {
      this.work.push({ kind: 'direct_method', link: first });
    } else {
      this.work.push(first);
    }
    if (head !== null) this.work.push(head);
  }

  /** True if a method on it can't reach stored values, as far as the text tells. */
  private isDirect(receiver: Node): boolean {
    let node = receiver;
    while (node.kind === 'paren') node = node.body;
    if (node.kind === 'chain') return false;
    return node.kind !== 'call' || this.rules.func(node.name) !== undefined;
  }

  private effect(scopes: number, suppressible: boolean): void {
    const frame = this.frame;
    if (!suppressible) {
      frame.sure |= scopes;
      return;
    }
    if ((scopes & COLLECTION) !== 0) frame.leastCollection = Math.min(frame.leastCollection, this.lastNse);
    if ((scopes & THINGSDB) !== 0) frame.leastThingsdb = Math.min(frame.leastThingsdb, this.lastNse);
  }

  private read(name: string): void {
    // A closure sees its own variables and those of the query; of those between, only if its callers happen to have them.
    const query = this.frames[0];
    if (this.frame.bound?.has(name) !== true && query?.bound?.has(name) !== true) this.usesState = true;
  }

  private unbound(names: readonly string[]): readonly string[] {
    return names.filter((name) => this.frame.bound?.has(name) !== true);
  }

  private bind(names: readonly string[]): void {
    const frame = this.frame;
    if (frame.bound === undefined) frame.bound = new Set();
    for (const name of names) frame.bound.add(name);
  }

  private unbind(names: readonly string[]): void {
    for (const name of names) this.frame.bound?.delete(name);
  }

  private enter(closure: Closure, excluded: boolean): void {
    const parent = this.frame;
    this.frames.push(parent);
    const root = excluded ? closure.start : parent.root;
    this.frame = frameOf(closure, closure.start, root, excluded, this.lastNse);
    if (closure.params.length > 0) this.bind(closure.params.map(({ name }) => name));
    this.work.push(LEAVE_CLOSURE, closure.body);
  }

  private leave(): void {
    const frame = this.frame;
    const parent = this.frames.pop();
    if (parent === undefined || frame.closure === null)
      throw new Error('left a closure that was not entered');
    this.closures ??= new Map();
    this.closures.set(frame.closure, {
      changes: changesOf(frame, frame.root),
      alone: changesOf(frame, frame.start),
    });
    this.frame = parent;
    if (frame.excluded) {
      this.lastNse = frame.nseBefore;
      return;
    }
    parent.sure |= frame.sure;
    parent.leastCollection = Math.min(parent.leastCollection, frame.leastCollection);
    parent.leastThingsdb = Math.min(parent.leastThingsdb, frame.leastThingsdb);
  }
}

function frameOf(
  closure: Closure | null,
  start: number,
  root: number,
  excluded: boolean,
  nseBefore: number,
): Frame {
  return {
    closure,
    start,
    root,
    excluded,
    nseBefore,
    loops: 0,
    sure: 0,
    leastCollection: Number.POSITIVE_INFINITY,
    leastThingsdb: Number.POSITIVE_INFINITY,
    bound: undefined,
  };
}

/** The changes of the body, given that the text begins at `from`. */
function changesOf(frame: Frame, from: number): Changes {
  const collection = frame.leastCollection < from ? COLLECTION : 0;
  const thingsdb = frame.leastThingsdb < from ? THINGSDB : 0;
  return CHANGES[frame.sure | collection | thingsdb]!;
}

function isAssignment(statement: Node): boolean {
  return statement.kind === 'assign' && statement.op === '=';
}

/** The variables of `x = y = value`. */
function assignedBy(statement: Node): string[] {
  const names: string[] = [];
  for (let node = statement; node.kind === 'assign' && node.op === '='; node = node.value)
    names.push(node.name);
  return names;
}
