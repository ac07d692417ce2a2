// @ts-check
/**
 * Collects lines of code with their indentation.
 *
 * It also hands out the variables of the function being written. A variable belongs to the scope in which it was taken
 * and is handed out again, for another purpose, when that scope has ended: V8 gives every `let` and `const` of a function
 * a slot of its own in the function's frame, and frames must be small for deeply nested texts to fit on the stack.
 */
export class Writer {
  /** @type {string[]} */
  #lines = [];
  #depth = 0;
  #functionStart = 0;
  #labels = 0;
  /** Variables of the function: name to declaration. @type {Map<string, string>} */
  #declared = new Map();
  /** Unused variables by type. @type {Map<string, string[]>} */
  #free = new Map();
  /** @type {{ taken: [string, string][], pair: { q: string, c: string } | null }[]} */
  #scopes = [];

  /** @param {string} text */
  line(text) {
    this.#lines.push(`${'  '.repeat(this.#depth)}${text}`);
  }

  /** A line that opens a block. @param {string} text */
  open(text) {
    this.line(text);
    this.#depth++;
  }

  /** A line that ends one block and opens another. @param {string} text */
  next(text) {
    this.#depth--;
    this.open(text);
  }

  /** @param {string} [text] */
  close(text = '}') {
    this.#depth--;
    this.line(text);
  }

  /** A name for a label, unique in the function. @param {string} stem */
  label(stem) {
    return `${stem}${++this.#labels}`;
  }

  /** A variable of a type that holds undefined (or null, if it ends so) until it is set. @param {string} type */
  variable(type) {
    const scope = this.#scope();
    const free = this.#free.get(type)?.pop();
    const name = free ?? `v${this.#declared.size + 1}`;
    if (free === undefined) {
      const initial = type.endsWith('| null') ? ' = null' : type === 'number' ? ' = 0' : '';
      this.#declared.set(name, initial === ' = 0' ? `${name} = 0` : `${name}: ${type}${initial}`);
    }
    scope.taken.push([name, type]);
    return name;
  }

  /** Lends a variable while `write` runs. @param {string} type @param {(name: string) => void} write */
  lent(type, write) {
    const name = this.variable(type);
    write(name);
    this.#scope().taken = this.#scope().taken.filter(([taken]) => taken !== name);
    this.#free.set(type, [...(this.#free.get(type) ?? []), name]);
  }

  /** The variables of this scope for the next token's start and first character. */
  pair() {
    const scope = this.#scope();
    scope.pair ??= { q: this.variable('number'), c: this.variable('number') };
    return scope.pair;
  }

  /** Runs `write` in a scope of its own. @param {() => void} write */
  scoped(write) {
    this.#scopes.push({ taken: [], pair: null });
    write();
    for (const [name, type] of this.#scopes.pop()?.taken ?? []) {
      this.#free.set(type, [...(this.#free.get(type) ?? []), name]);
    }
  }

  /** @param {string} head @param {() => void} write */
  function(head, write) {
    this.#labels = 0;
    this.#declared = new Map();
    this.#free = new Map();
    this.open(head);
    this.#functionStart = this.#lines.length;
    this.scoped(write);
    this.#drop();
    const declarations = [...this.#declared].filter(([name]) => this.#uses(name).length > 0);
    const indent = '  '.repeat(this.#depth);
    this.#lines.splice(this.#functionStart, 0, ...declarations.map(([, text]) => `${indent}let ${text};`));
    this.close();
    this.line('');
  }

  /** Drops lines that set a variable which nobody reads. */
  #drop() {
    for (const name of [...this.#declared.keys(), 'c0', 'p', 'text', 'length']) {
      const sets = new RegExp(`^\\s*(?:let |const )?${name} = [^=].*;$`);
      const uses = this.#uses(name);
      if (!uses.every((line) => sets.test(line) && !/this\.(?!pos|text|length)\w+/.test(line))) continue;
      for (let i = this.#lines.length - 1; i >= this.#functionStart; i--) {
        if (uses.includes(/** @type {string} */ (this.#lines[i]))) this.#lines.splice(i, 1);
      }
    }
  }

  /** Lines of the function in which the variable occurs. @param {string} name */
  #uses(name) {
    const pattern = new RegExp(`(?<![.\\w$])${name}\\b`);
    return this.#lines.slice(this.#functionStart).filter((line) => pattern.test(line));
  }

  #scope() {
    const scope = this.#scopes.at(-1);
    if (scope === undefined) throw new Error('no function is being written');
    return scope;
  }

  toString() {
    return `${this.#lines.map((line) => line.trimEnd()).join('\n')}\n`;
  }
}
