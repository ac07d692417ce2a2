/**
 * The text format of scenario scripts:
 *
 *   script  = (comment | blank | block)*
 *   comment = "#" anything
 *   block   = command+ "----" output* blank
 *   command = word (word | key "=" value)*        a value may be a list in parentheses: voters=(1 2 3)
 *   output  = a line that is not blank            what the nodes said
 */

export interface Command {
  /** The line as it stands in the script. */
  readonly text: string;
  readonly name: string;
  readonly words: readonly string[];
  readonly options: ReadonlyMap<string, string>;
}

export interface Block {
  readonly commands: readonly Command[];
}

/** A script is a list of parts that are kept as they are, and blocks, whose output is replaced. */
export type Part =
  | { readonly kind: 'text'; readonly line: string }
  | { readonly kind: 'block'; readonly block: Block };

export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}

export function parseScript(text: string): Part[] {
  const parts: Part[] = [];
  const lines = text.split('\n');
  if (lines[lines.length - 1] === '') lines.pop();
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (line.trim() === '' || line.startsWith('#')) {
      parts.push({ kind: 'text', line });
      continue;
    }
    const commands: Command[] = [];
    for (; at < lines.length && lines[at] !== SEPARATOR; at += 1) {
      if (!lines[at]!.startsWith('#')) commands.push(parseCommand(lines[at]!));
    }
    if (at === lines.length) throw new ScriptError(`No ${SEPARATOR} after: ${line}`);
    while (at + 1 < lines.length && lines[at + 1]!.trim() !== '') at += 1;
    parts.push({ kind: 'block', block: { commands } });
  }
  return parts;
}

/** The script with the output that was produced now. */
export function printScript(parts: readonly Part[], outputs: readonly (readonly string[])[]): string {
  const lines: string[] = [];
  let blocks = 0;
  for (const part of parts) {
    if (part.kind === 'text') {
      lines.push(part.line);
      continue;
    }
    const output = outputs[blocks] ?? [];
    blocks += 1;
    lines.push(...part.block.commands.map((command) => command.text), SEPARATOR, ...output);
  }
  return `${lines.join('\n')}\n`;
}

const SEPARATOR = '----';

function parseCommand(text: string): Command {
  const words: string[] = [];
  const options = new Map<string, string>();
  for (const token of text.match(/[^\s=]+=\([^)]*\)|\S+/g) ?? []) {
    const equals = token.indexOf('=');
    if (equals > 0) options.set(token.slice(0, equals), token.slice(equals + 1).replace(/^\((.*)\)$/, '$1'));
    else words.push(token);
  }
  const name = words.shift();
  if (name === undefined) throw new ScriptError(`No command in: ${text}`);
  return { text, name, words, options };
}
