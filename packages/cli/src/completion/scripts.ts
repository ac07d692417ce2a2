/** The scripts by which shells complete `althing`. They hold all words themselves: completing starts no process. */
import type { CommandNode, ValueOption, Word } from './command-tree.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type ShellName = (typeof SHELLS)[number];

export function completionScript(shell: ShellName, nodes: readonly CommandNode[]): string {
  return WRITERS[shell](nodes);
}

const WRITERS: Readonly<Record<ShellName, (nodes: readonly CommandNode[]) => string>> = {
  bash: (nodes) => `# bash completion for althing: source this, or put it into /etc/bash_completion.d
_althing() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" path=althing words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
      ${pathsOf(nodes, '|')}) path="$path \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path $before" in
${withValues(nodes, (patterns, choices) => `    ${patterns}) COMPREPLY=(${choices.length === 0 ? '' : `$(compgen -W ${quoted(choices.join(' '))} -- "$word")`}); return ;;`)}
  esac
  case "$path" in
${nodes.map(({ path, commands, options }) => `    ${quoted(path)}) words=${quoted([...commands, ...options].map(({ text }) => text).join(' '))} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _althing althing
`,
  zsh: (nodes) => `#compdef althing
# zsh completion for althing: source this, or put it as _althing into a folder of $fpath
_althing() {
  local path_so_far=althing word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$path_so_far $word" in
      ${pathsOf(nodes, '|')}) path_so_far="$path_so_far $word" ;;
    esac
  done
  case "$path_so_far \${words[CURRENT-1]}" in
${withValues(nodes, (patterns, choices) => `    ${patterns}) ${choices.length === 0 ? '_files' : `compadd -- ${choices.map(quoted).join(' ')}`}; return ;;`)}
  esac
  case "$path_so_far" in
${nodes.map(({ path, commands, options }) => `    ${quoted(path)}) found=(${[...commands, ...options].map(described).join(' ')}) ;;`).join('\n')}
  esac
  _describe althing found || _files
}
if [ "$funcstack[1]" = _althing ]; then _althing "$@"; else compdef _althing althing; fi
`,
  fish: (
    nodes,
  ) => `# fish completion for althing: source this, or put it as althing.fish into ~/.config/fish/completions
function __althing_path
  set -l path althing
  for word in (commandline -opc)[2..-1]
    switch "$path $word"
      case ${pathsOf(nodes, ' ')}
        set path "$path $word"
    end
  end
  echo $path
end
${nodes.flatMap(fishLines).join('\n')}
`,
};

/** Patterns for the paths of all commands below the first. */
function pathsOf([, ...nodes]: readonly CommandNode[], separator: string): string {
  return nodes.map(({ path }) => quoted(path)).join(separator);
}

/** A line for each option with a choice of values, and one for each command for those whose values may be any. */
function withValues(
  nodes: readonly CommandNode[],
  line: (patterns: string, choices: readonly string[]) => string,
): string {
  const lines = nodes.flatMap(({ path, valueOptions }) => {
    const patterns = (options: readonly ValueOption[]): string =>
      options.flatMap(({ flags }) => flags.map((flag) => quoted(`${path} ${flag}`))).join('|');
    const chosen = valueOptions.filter(({ choices }) => choices.length > 0);
    const free = valueOptions.filter(({ choices }) => choices.length === 0);
    return [
      ...chosen.map((option) => line(patterns([option]), option.choices)),
      ...(free.length === 0 ? [] : [line(patterns(free), [])]),
    ];
  });
  return lines.join('\n');
}

function described({ text, doc }: Word): string {
  return quoted(`${text.replaceAll(':', '\\:')}:${doc}`);
}

function fishLines({ path, commands, options, valueOptions }: CommandNode): string[] {
  const head = `complete -c althing -n ${fishQuoted(`test (__althing_path) = "${path}"`)}`;
  const valuesOf = (flag: string): ValueOption | undefined =>
    valueOptions.find(({ flags }) => flags.includes(flag));
  return [
    ...commands.map(({ text, doc }) => `${head} -f -a ${fishQuoted(text)} -d ${fishQuoted(doc)}`),
    ...options.map(({ text, doc }) => {
      const name = text.startsWith('--') ? `-l ${text.slice(2)}` : `-s ${text.slice(1)}`;
      const values = valuesOf(text);
      const choices = values?.choices ?? [];
      const value =
        values === undefined
          ? ''
          : choices.length === 0
            ? ' -r -F'
            : ` -x -a ${fishQuoted(choices.join(' '))}`;
      return `${head} ${name}${value} -d ${fishQuoted(doc)}`;
    }),
  ];
}

/** Quotes a text for bash and zsh. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
