// @ts-check
/**
 * The meaning of the rules of grammar.ohm: for each rule, or case of a rule, how its value is made from the values of its
 * parts. Both parsers work from this table: the generated one (emit.mjs writes each entry out as code) and the one
 * that ohm runs (ohm-parser.mjs), which the tests hold against it.
 *
 * A *shape* names the parts of the rule from left to right; `_` is a part whose value is not wanted. The value of a
 * text in quotes is that text, of `x?` null or the value, of `x*` a list, of a rule what this table says. A rule with a
 * capital letter that is not in the table has the value of its only part; one with a small letter has its text.
 *
 * @typedef {(args: string[]) => string} TypeOf   the TypeScript type of the value, given the types of the parameters
 *
 * @typedef {{ make: 'node', type: TypeOf, kind: string, shape: string[], constants: Record<string, string> }} NodeAction
 * @typedef {{ make: 'leaf', type: TypeOf, kind: string, convert: Record<string, string>, constants: Record<string, string> }} LeafAction
 * @typedef {{ make: 'token', type: TypeOf, convert: string, placed: boolean }} TokenAction
 * @typedef {{ make: 'call', type: TypeOf, function: string, shape: string[] }} CallAction
 * @typedef {{ make: 'list', type: TypeOf, item: TypeOf, shape: string[] }} ListAction
 * @typedef {{ make: 'pick', type: TypeOf, shape: string[] }} PickAction
 * @typedef {{ make: 'level', type: TypeOf, kind: 'or' | 'and' | 'operation' }} LevelAction
 * @typedef {NodeAction | LeafAction | TokenAction | CallAction | ListAction | PickAction | LevelAction} Action
 */

/** @param {string} text */
const shapeOf = (text) => text.split(' ');

/**
 * A node of the tree: `kind`, `start`, `end` and the fields that the shape names.
 *
 * @param {string} type
 * @param {string | null} kind  null: the type has no `kind`
 * @param {string} shape
 * @param {Record<string, string>} [constants]  further fields, as TypeScript
 * @returns {NodeAction}
 */
const node = (type, kind, shape, constants = {}) => ({
  make: 'node',
  type: () => type,
  kind: kind ?? '',
  shape: shapeOf(shape),
  constants,
});

/**
 * A node made from the text of one token: fields made from it by functions of src/literals.ts.
 *
 * @param {string} kind
 * @param {Record<string, string>} [convert]
 * @param {Record<string, string>} [constants]
 * @returns {LeafAction}
 */
const leaf = (kind, convert = {}, constants = {}) => ({
  make: 'leaf',
  type: () => 'Node',
  kind,
  convert,
  constants,
});

/**
 * A value made from the text of one token by a function of src/literals.ts.
 *
 * @param {string} type
 * @param {string} convert
 * @param {boolean} [placed]  the function also wants to know where the token begins
 * @returns {TokenAction}
 */
const token = (type, convert, placed = false) => ({ make: 'token', type: () => type, convert, placed });

/** A value made by a function of src/build.ts: (start, end, ...the parts named). @param {string} type @param {string} name @param {string} shape @returns {CallAction} */
const call = (type, name, shape) => ({
  make: 'call',
  type: () => type,
  function: name,
  shape: shapeOf(shape),
});

/** All the parts named, in one list. @param {string | TypeOf} item @param {string} shape @returns {ListAction} */
const list = (item, shape) => {
  const typeOfItem = typeof item === 'string' ? () => item : item;
  return {
    make: 'list',
    type: (args) => `${typeOfItem(args)}[]`,
    item: typeOfItem,
    shape: shapeOf(shape),
  };
};

/** The one part named. @param {string} type @param {string} shape @returns {PickAction} */
const pick = (type, shape) => ({ make: 'pick', type: () => type, shape: shapeOf(shape) });

/** The only part, under a wider type. @param {string} type @returns {PickAction} */
const only = (type) => pick(type, 'value');

/** A level of binary operators, `Next (op Next)*`. @param {'or' | 'and' | 'operation'} kind @returns {LevelAction} */
const level = (kind) => ({ make: 'level', type: () => 'Node', kind });

/** @type {Record<string, Action>} */
export const actions = {
  Query: call('readonly Node[]', 'orNone', 'statements _'),
  Stmts: list('Node', 'first _ rest _'),

  Stmt: call('Node', 'ternary', 'condition _ then _ otherwise'),
  Or: level('or'),
  And: level('and'),
  Cmp: level('operation'),
  BitOr: level('operation'),
  BitXor: level('operation'),
  BitAnd: level('operation'),
  Shift: level('operation'),
  Add: level('operation'),
  Mul: level('operation'),

  Operand: only('Node'),
  If: node('Node', 'if', '_ _ condition _ then _ otherwise'),
  For: node('Node', 'for', '_ _ names _ iterable _ body'),
  Names: list('string', 'first _ rest'),
  Return: node('Node', 'return', '_ value _ deep _ flags'),
  Break: node('Node', 'break', '_'),
  Continue: node('Node', 'continue', '_'),
  Closure: node('Closure', 'closure', '_ params _ body'),
  Param: node('Param', null, 'name _ definition'),
  Block: node('Node', 'block', '_ statements _'),
  CommaList: list((args) => args[0] ?? 'never', 'first _ rest _'),

  Expr: call('Node', 'prefixed', 'tildes signs operand'),
  Chain_root: call('Node', 'rootChain', 'first links'),
  Chain_headed: call('Node', 'headedChain', 'head links'),
  Link: only('Link'),
  Member_method: node('Link', 'method', 'optional name args'),
  Member_assign: node('Link', 'assign_property', 'optional name op value'),
  Member_property: node('Link', 'property', 'optional name'),
  dots: token('boolean', 'isOptional'),
  Index: call('Link', 'indexLink', '_ from colon to _ step _ op value'),
  Arguments: pick('readonly Node[]', '_ args _'),
  assignOp: token('AssignOp', 'toAssignOp'),

  Primary: only('Node'),
  Named_call: node('Node', 'call', 'name args'),
  Named_assign: node('Node', 'assign', 'name op value'),
  Named_instance: node('Node', 'instance', 'name thing'),
  Named_member: node('Node', 'enum', 'name _ member _', { closure: 'null' }),
  Named_pick: node('Node', 'enum', 'name _ closure _', { member: 'null' }),
  Named_variable: node('Node', 'variable', 'name'),
  Thing: node('ThingLiteral', 'thing', '_ entries _'),
  Anonymous: node('Node', 'anonymous', '_ entries _'),
  Entry: node('Entry', null, 'key _ value'),
  List: node('Node', 'list', '_ items _'),
  Paren: node('Node', 'paren', '_ body _'),

  template: node('Node', 'template', '_ parts _'),
  templateText: token('string', 'toTemplateText'),
  hole: pick('Node', '_ value _'),
  Code: only('Node'),

  name: token('string', 'toName', true),
  variable: token('string', 'toName', true),
  false: leaf('bool', {}, { value: 'false' }),
  true: leaf('bool', {}, { value: 'true' }),
  nil: leaf('nil'),
  float: leaf('float', { value: 'toFloat' }),
  int: leaf('int', { value: 'toInt' }),
  string: { ...leaf('str', { value: 'toStr' }), type: () => 'StrLiteral' },
  regex: leaf('regex', { body: 'toRegexBody', flags: 'toRegexFlags' }),
};
