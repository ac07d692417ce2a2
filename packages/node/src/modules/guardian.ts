/**
 * Sees to it that the processes of modules end with this one, however it ends. While there are any, a small process of a shell
 * waits for the end of what this one tells it; when that comes without a word, this process was killed, and it ends theirs.
 */
import { type ChildProcess, spawn } from 'node:child_process';

/** Groups of processes that are to end with this one. */
const groups = new Set<number>();
let guardian: ChildProcess | null = null;
let isWatched = false;

/** Lines `+ GROUP` and `- GROUP`; at the end all groups are asked to end, and after five seconds ended. */
const SCRIPT = `
groups=
while read -r what group; do
  case $what in
    +) groups="$groups $group" ;;
    -) left=; for one in $groups; do [ "$one" = "$group" ] || left="$left $one"; done; groups=$left ;;
  esac
done
[ -n "$groups" ] || exit 0
for one in $groups; do kill -TERM "-$one"; done
sleep 5
for one in $groups; do kill -KILL "-$one"; done
`;

/** A group of processes is to end with this process. */
export function guard(group: number): void {
  if (!isWatched) {
    isWatched = true;
    process.on('exit', () => {
      for (const one of groups) signalGroup(one, 'SIGKILL');
    });
  }
  groups.add(group);
  if (guardian === null) begin();
  else tell(`+ ${group}`);
}

/** A group of processes is gone. */
export function release(group: number): void {
  if (groups.delete(group)) tell(`- ${group}`);
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
  for (const group of groups) tell(`+ ${group}`);
}

function tell(line: string): void {
  guardian?.stdin?.write(`${line}\n`);
}
