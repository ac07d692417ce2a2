/**
 * Sees to it that the processes of modules end with this one, however it ends. While there are any, a small process of a shell
 * waits for the end of what this one tells it; when that comes without a word, this process was killed, and it ends theirs.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { MARK_VARIABLE } from './strays.js';

/** Groups of processes that are to end with this one, with the marks of those that left them. */
const groups = new Map<number, string>();
let guardian: ChildProcess | null = null;
let isWatched = false;

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

/**
 * A group of processes is to end with this process.
 *
 * @param mark of those of its processes that may leave it
 */
export function guard(group: number, mark: string): void {
  if (!isWatched) {
    isWatched = true;
    process.on('exit', () => {
      for (const one of groups.keys()) signalGroup(one, 'SIGKILL');
    });
  }
  groups.set(group, mark);
  if (guardian === null) begin();
  else tell(`+ ${group}:${mark}`);
}

/** A group of processes is gone. */
export function release(group: number): void {
  const mark = groups.get(group);
  if (groups.delete(group)) tell(`- ${group}:${mark}`);
}

/** Signals all processes of a group that are still there. */
export function signalGroup(group: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-group, signal);
  } catch {
    // Nobody of it is there any more.
  }
}

function begin(): void {
  const child = spawn('/bin/sh', ['-c', SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    cwd: '/',
    // A signal to the group of this process is none to it.
    detached: true,
  });
  guardian = child;
  const gone = (): void => {
    if (guardian === child) guardian = null;
  };
  child.on('error', gone);
  child.on('exit', gone);
  child.stdin.on('error', () => {});
  // It keeps this process from ending no more than the modules do.
  child.unref();
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  for (const [group, mark] of groups) tell(`+ ${group}:${mark}`);
}

function tell(line: string): void {
  guardian?.stdin?.write(`${line}\n`);
}
