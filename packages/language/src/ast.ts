/**
 * The syntax tree of the query language: plain data, discriminated by `kind`.
 *
 * Every node carries `start` and `end`, offsets into the source text in UTF-16 units (end exclusive). Things that
 * the grammar puts in sequence without a limit (operator chains, prefixes, chain links, statements) are arrays
 * here, so that no walk over a tree recurses deeper than the nesting limit of statements.
 */

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A whole source text: the statements of a query. */
export interface Program extends Span {
  readonly kind: 'program';
  readonly source: string;
  readonly statements: readonly Node[];
}

export interface NilLiteral extends Span {
  readonly kind: 'nil';
}

export interface BoolLiteral extends Span {
  readonly kind: 'bool';
  readonly value: boolean;
}

/** An int literal. `value` is a safe integer or else a bigint; null when the literal is outside int64. */
export interface IntLiteral extends Span {
  readonly kind: 'int';
  readonly value: number | bigint | null;
}

export interface FloatLiteral extends Span {
  readonly kind: 'float';
  readonly value: number;
}

export interface StrLiteral extends Span {
  readonly kind: 'str';
  readonly value: string;
}

/** `/body/flags` exactly as written. Whether it compiles is for the caller's `checkRegex` to say. */
export interface RegexLiteral extends Span {
  readonly kind: 'regex';
  readonly body: string;
  readonly flags: string;
}

/** Text parts have their escapes resolved. Parts alternate freely. */
export interface TemplateLiteral extends Span {
  readonly kind: 'template';
  readonly parts: readonly (string | Node)[];
}

/** `key: value`; `value` is null in the shorthand `{key:}`. */
export interface Entry extends Span {
  readonly key: string;
  readonly value: Node | null;
}

export interface ThingLiteral extends Span {
  readonly kind: 'thing';
  readonly entries: readonly Entry[];
}

/** `&{...}` */
export interface AnonymousType extends Span {
  readonly kind: 'anonymous';
  readonly entries: readonly Entry[];
}

export interface ListLiteral extends Span {
  readonly kind: 'list';
  readonly items: readonly Node[];
}

export interface Paren extends Span {
  readonly kind: 'paren';
  readonly body: Node;
}

export interface Variable extends Span {
  readonly kind: 'variable';
  readonly name: string;
}

export type AssignOp = '=' | '+=' | '-=' | '*=' | '/=' | '%=' | '&=' | '^=' | '|=';

/** `name op value` on a variable. */
export interface Assign extends Span {
  readonly kind: 'assign';
  readonly name: string;
  readonly op: AssignOp;
  readonly value: Node;
}

/** `name(args)` without a receiver. */
export interface Call extends Span {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly Node[];
}

/** `Type{key: value}` */
export interface Instance extends Span {
  readonly kind: 'instance';
  readonly name: string;
  readonly thing: ThingLiteral;
}

/** `Enum{MEMBER}` (member is set) or `Enum{|| ...}` (closure is set). */
export interface EnumGet extends Span {
  readonly kind: 'enum';
  readonly name: string;
  readonly member: string | null;
  readonly closure: Closure | null;
}

/** A head with at least one link behind it. `head` is null for a chain that starts at the collection root (`.x`). */
export interface Chain extends Span {
  readonly kind: 'chain';
  readonly head: Node | null;
  readonly links: readonly Link[];
}

/**
 * One step of a chain. `optional` marks `..` before a name. An assignment takes everything to its right as its value, so
 * it is the last link, unless that value ends with a block or a jump: in `.a = {b; c}[0]` the index is a link behind the
 * assignment and applies to what was assigned.
 */
export type Link =
  | PropertyLink
  | MethodLink
  | IndexLink
  | SliceLink
  | AssignPropertyLink
  | AssignIndexLink
  | AssignSliceLink;

export interface PropertyLink extends Span {
  readonly kind: 'property';
  readonly optional: boolean;
  readonly name: string;
}

export interface MethodLink extends Span {
  readonly kind: 'method';
  readonly optional: boolean;
  readonly name: string;
  readonly args: readonly Node[];
}

export interface AssignPropertyLink extends Span {
  readonly kind: 'assign_property';
  readonly optional: boolean;
  readonly name: string;
  readonly op: AssignOp;
  readonly value: Node;
}

/** `[index]` */
export interface IndexLink extends Span {
  readonly kind: 'index';
  readonly index: Node;
}

/** `[start:stop:step]`; `[]` is `[:]`. */
export interface SliceLink extends Span {
  readonly kind: 'slice';
  readonly from: Node | null;
  readonly to: Node | null;
  readonly step: Node | null;
}

export interface AssignIndexLink extends Span {
  readonly kind: 'assign_index';
  readonly index: Node;
  readonly op: AssignOp;
  readonly value: Node;
}

export interface AssignSliceLink extends Span {
  readonly kind: 'assign_slice';
  readonly from: Node | null;
  readonly to: Node | null;
  readonly step: Node | null;
  readonly op: AssignOp;
  readonly value: Node;
}

/** Prefix operators in source order: `-!x` is `ops: '-!'`. They apply from right to left. */
export interface Prefix extends Span {
  readonly kind: 'prefix';
  readonly ops: string;
  readonly operand: Node;
}

export type BinaryOp =
  | '=='
  | '!='
  | '<='
  | '>='
  | '<'
  | '>'
  | '|'
  | '^'
  | '&'
  | '<<'
  | '>>'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%';

/** One precedence level, grouped to the left: `operands[0] ops[0] operands[1] ops[1] operands[2] ...`. */
export interface Operation extends Span {
  readonly kind: 'operation';
  readonly operands: readonly Node[];
  readonly ops: readonly BinaryOp[];
}

/** `a && b && c` */
export interface And extends Span {
  readonly kind: 'and';
  readonly operands: readonly Node[];
}

/** `a || b || c` */
export interface Or extends Span {
  readonly kind: 'or';
  readonly operands: readonly Node[];
}

export interface Ternary extends Span {
  readonly kind: 'ternary';
  readonly condition: Node;
  readonly then: Node;
  readonly otherwise: Node;
}

export interface If extends Span {
  readonly kind: 'if';
  readonly condition: Node;
  readonly then: Node;
  readonly otherwise: Node | null;
}

export interface For extends Span {
  readonly kind: 'for';
  readonly names: readonly string[];
  readonly iterable: Node;
  readonly body: Node;
}

export interface Return extends Span {
  readonly kind: 'return';
  readonly value: Node | null;
  readonly deep: Node | null;
  readonly flags: Node | null;
}

export interface Break extends Span {
  readonly kind: 'break';
}

export interface Continue extends Span {
  readonly kind: 'continue';
}

/** A parameter of a closure: `name`, or `name: 'definition'`, in the notation of the definitions of types. */
export interface Param extends Span {
  readonly name: string;
  readonly definition: StrLiteral | null;
}

/** `|params| body`; the source text of the closure is `source.slice(start, end)`. */
export interface Closure extends Span {
  readonly kind: 'closure';
  readonly params: readonly Param[];
  readonly body: Node;
}

export interface Block extends Span {
  readonly kind: 'block';
  readonly statements: readonly Node[];
}

export type Node =
  | NilLiteral
  | BoolLiteral
  | IntLiteral
  | FloatLiteral
  | StrLiteral
  | RegexLiteral
  | TemplateLiteral
  | ThingLiteral
  | AnonymousType
  | ListLiteral
  | Paren
  | Variable
  | Assign
  | Call
  | Instance
  | EnumGet
  | Chain
  | Prefix
  | Operation
  | And
  | Or
  | Ternary
  | If
  | For
  | Return
  | Break
  | Continue
  | Closure
  | Block;

/**
 * Something for each kind of node, as of `Node` or `Link`: one that is missing does not compile. What takes one kind may stand where any
 * is given, since the kind decided before.
 */
export type NodeColumn<N extends { readonly kind: string }, Result> = {
  readonly [K in N['kind']]: Result | { of(node: Extract<N, { readonly kind: K }>): Result }['of'];
};

/** A column, for picking by the kind of a node. */
export type AnyNodeColumn<N extends { readonly kind: string }, Result> = Readonly<
  Record<N['kind'], Result | { of(node: N): Result }['of']>
>;
