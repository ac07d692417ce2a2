/**
 * The processes of modules end with this one, however it ends. While there are any, a small process of a shell
 * waits for the end of what this one tells it; when that comes without a word, this process was killed, and it ends theirs.
 */
import type { ChildProcess } from 'node:child_process';
import { startProgram } from './start-program.js';
import { MARK_VARIABLE } from './strays.js';

/**
 * Lines `+ GROUP:MARK` and `- GROUP:MARK`; at the end all groups are asked to end, and after five seconds they are ended, with all
 * processes that have one of the marks.
 */
const SCRIPT = `
groups=
while read -r what group; do
  case $what in
    +) groups="$groups $group" ;;
    -) left=; for one in $groups; do [ "$one" = "$group" ] || left="$left $one"; done; groups=$left ;;
  esac
done
[ -n "$groups" ] || exit 0
for one in $groups; do kill -TERM "-\${one%:*}"; done
sleep 5
for one in $groups; do
  kill -KILL "-\${one%:*}"
  for file in /proc/[0-9]*/environ; do
    if grep -qs "${MARK_VARIABLE}=\${one#*:}" "$file"; then
      pid=\${file#/proc/}
      kill -KILL "\${pid%/environ}"
    fi
  done
done
`;

export class Guardian {
  /** The beginning of the marks of all modules of this node. */
  marks = '';
  /** Groups of processes that are to end with this one, with the marks of those that left them. */
  private readonly groups = new Map<number, string>();
  private shell: ChildProcess | null = null;
  private readonly killAll = (): void => {
    for (const group of this.groups.keys()) signalGroup(group, 'SIGKILL');
  };

  /**
   * A group of processes is to end with this process.
   *
   * @param mark of those of its processes that may leave it
   */
  guard(group: number, mark: string): void {
    if (this.groups.size === 0) process.on('exit', this.killAll);
    this.groups.set(group, mark);
    if (this.shell === null) this.begin();
    else this.tell(`+ ${group}:${mark}`);
  }

  /** A group of processes is gone. */
  release(group: number): void {
    const mark = this.groups.get(group);
    if (!this.groups.delete(group)) return;
    this.tell(`- ${group}:${mark}`);
    if (this.groups.size === 0) process.off('exit', this.killAll);
  }

  private begin(): void {
    const shell = startProgram('/bin/sh', ['-c', SCRIPT], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
      cwd: '/',
      // A signal to the group of this process is none to it.
      detached: true,
    });
    this.shell = shell;
    const gone = (): void => {
      if (this.shell === shell) this.shell = null;
    };
    shell.on('error', gone);
    shell.on('exit', gone);
    shell.stdin?.on('error', () => {});
    // It keeps this process from ending no more than the modules do.
    shell.unref();
    if (shell.stdin !== null && 'unref' in shell.stdin && typeof shell.stdin.unref === 'function')
      shell.stdin.unref();
    for (const [group, mark] of this.groups) this.tell(`+ ${group}:${mark}`);
  }

  private tell(line: string): void {
    this.shell?.stdin?.write(`${line}\n`);
  }
}

/** Signals all processes of a group that are still there. */
export function signalGroup(group: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-group, signal);
  } catch {
    // None of it is there any more.
  }
}
