/** A built-in function or method, as `functions_info()` gives it. */
export interface FunctionInfo {
  readonly name: string;
  /** Types of its receiver; null for a function. */
  readonly on: readonly string[] | null;
  readonly params: readonly { readonly name: string; readonly type: string; readonly optional: boolean }[];
  /** Any number of further arguments. */
  readonly rest: { readonly name: string; readonly type: string } | null;
  readonly doc: string;
  /** `collection`, `thingsdb`, `node`. */
  readonly scopes: readonly string[];
  /** The way in which a call makes the query a change: `yes`, `modifies`, `modifies stored`, or null. */
  readonly changes: string | null;
}

/** Reads a row of `functions_info()`; of a part that a node leaves out, or gives in another form, nothing is known. */
export function functionInfoOf(row: unknown): FunctionInfo {
  const on = at(row, 'on');
  const rest = at(row, 'rest');
  const changes = at(row, 'changes');
  return {
    name: textAt(row, 'name'),
    on: Array.isArray(on) ? on.map(String) : null,
    params: listAt(row, 'params').map((param) => ({
      name: textAt(param, 'name'),
      type: textAt(param, 'type'),
      optional: at(param, 'optional') === true,
    })),
    rest: rest instanceof Map ? { name: textAt(rest, 'name'), type: textAt(rest, 'type') } : null,
    doc: textAt(row, 'doc'),
    scopes: listAt(row, 'scopes').map(String),
    changes: typeof changes === 'string' ? changes : null,
  };
}

function at(row: unknown, key: string): unknown {
  return row instanceof Map ? row.get(key) : undefined;
}

function textAt(row: unknown, key: string): string {
  const value = at(row, key);
  return typeof value === 'string' ? value : '';
}

function listAt(row: unknown, key: string): readonly unknown[] {
  const value = at(row, key);
  return Array.isArray(value) ? value : [];
}
