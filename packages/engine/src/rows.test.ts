/** Tables that the compiler completes: made-up rows in copies of them, each without one column, are refused. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Where a table of rows is: a row of it that its copies leave a column out of, and its columns. */
const TABLES = {
  effect: {
    path: 'state/parts/procedures.ts',
    row: 'RENAME: effect<',
    columns: ['code', 'write', 'read', 'apply', 'inverse', 'cost', 'counts'],
  },
  kind: {
    path: 'value/kinds.ts',
    row: '[Tag.ROOM]: {',
    columns: ['name', 'nameOf', 'isTruthy', 'equals', 'compare', 'text', 'bytes', 'eachReference'],
  },
  operator: {
    path: 'run/operators.ts',
    row: "'%': {",
    columns: ['ints', 'sets', 'members', 'others'],
  },
  privilege: {
    path: 'admin/privileges.ts',
    row: 'RUN: {',
    columns: ['bit', 'isOfUsers', 'brings', 'isKept'],
  },
} as const;

const MISSING = Object.entries(TABLES).flatMap(([table, { path, row, columns }]) =>
  columns.map((column) => ({ table, path, row, column })),
);

/** Declarations of one more name, for which there is no row. */
const DECLARED = {
  kind: ['value/tag.ts', 'ROOM: 22,', 'ROOM: 22,\n  MADE_UP: 23,'],
  operator: [
    'run/operators.ts',
    "import type { AssignOp, BinaryOp } from '@althing/language';",
    "import type { AssignOp, BinaryOp as Known } from '@althing/language';\ntype BinaryOp = Known | 'made_up';",
  ],
  privilege: ['admin/privileges.ts', "type PrivilegeName = '", "type PrivilegeName = 'made_up' | '"],
} as const;

/** Files where each node of the tree has a row, of heights and of code, and the compiler's error for one that is missing. */
const NODES = [
  { path: 'run/limits.ts', problem: /made_up.* is missing/ },
  { path: 'run/compile/compiler.ts', problem: /lacks ending return statement/ },
];

/** Files with a column of the table of kinds. */
const KIND_COLUMNS = [
  'pack/walk.ts',
  'schema/mapping.ts',
  'state/value-codec.ts',
  'thingsdb/value-writer.ts',
  'value/convert.ts',
  'value/kinds.ts',
  'value/scalar-compare.ts',
  'value/value-index.ts',
];

let folder = '';
/** The compiler's errors in the copies, file by file. */
let errors: readonly string[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rows-'));
  cpSync(join(ROOT, 'packages/engine/src'), join(folder, 'src'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const config = {
    extends: join(ROOT, 'tsconfig.base.json'),
    compilerOptions: { noEmit: true, composite: false, declarationMap: false, declaration: false },
    include: ['src'],
    exclude: ['src/**/*.test.ts', 'src/testing'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  for (const { table, path, row, column } of MISSING) {
    write(copyOf(path, `${table}-${column}`), without(read(path), row, column));
  }
  const [tags, tag, tagsMore] = DECLARED.kind;
  write(tags, replaced(read(tags), tag, tagsMore));
  for (const table of ['operator', 'privilege'] as const) {
    const [path, declared, more] = DECLARED[table];
    write(copyOf(path, table), replaced(read(path), declared, more));
  }
  // The tree is declared in another package: its name means one kind more in the copies.
  for (const { path } of NODES) {
    const known = replaced(read(path), ' Node,', ' Node as Known,');
    const more = "} from '@althing/language';\ntype Node = Known | { readonly kind: 'made_up' };";
    write(copyOf(path, 'node'), replaced(known, "} from '@althing/language';", more));
  }
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], {
    encoding: 'utf8',
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  });
  errors = stdout.split(/\n(?=src\/)/);
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(MISSING)(
  'a row of the table of $table rows without $column does not compile',
  ({ table, path, column }) => {
    expect(errorsIn(copyOf(path, `${table}-${column}`))).toContain(`'${column}' is missing`);
  },
);

test.each(KIND_COLUMNS)('a kind of values that is declared and not in %s does not compile', (path) => {
  expect(errorsIn(path)).toMatch(/23/);
});

test.each(['operator', 'privilege'] as const)('a declared %s without a row does not compile', (table) => {
  expect(errorsIn(copyOf(DECLARED[table][0], table))).toMatch(/made_up.* is missing/);
});

test.each(NODES)(
  'a node of the tree that is declared and not in $path does not compile',
  ({ path, problem }) => {
    expect(errorsIn(copyOf(path, 'node'))).toMatch(problem);
  },
);

test('nothing else is wrong with the copies', () => {
  const isKnown = (error: string): boolean =>
    error.includes('made-up-') || KIND_COLUMNS.some((path) => error.startsWith(`src/${path}(`));
  expect(errors.filter((error) => error.trim() !== '' && !isKnown(error))).toEqual([]);
});

function errorsIn(path: string): string {
  return errors.filter((error) => error.startsWith(`src/${path}(`)).join('\n');
}

/** The path of a copy that lies beside a file. */
function copyOf(path: string, name: string): string {
  return path.replace(/[^/]+\.ts$/, `made-up-${name}.ts`);
}

function read(path: string): string {
  return readFileSync(join(folder, 'src', path), 'utf8');
}

function write(path: string, text: string): void {
  writeFileSync(join(folder, 'src', path), text);
}

/** The text of a table of which one row has lost a column. */
function without(text: string, row: string, column: string): string {
  const start = text.indexOf(row);
  const [before, after] = [text.slice(0, start), text.slice(start)];
  const lost = after.startsWith('RUN')
    ? after.replace(new RegExp(` ${column}: [^,}]+,?`), '')
    : after.replace(new RegExp(`\\n    ${column}:[\\s\\S]*?(?=\\n    \\w+[:,]|\\n  \\})`), '');
  if (start === -1 || lost === after) throw new Error(`no column ${column} in the row ${row}`);
  return before + lost;
}

function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`no ${from}`);
  return text.replace(from, to);
}
