#!/usr/bin/env node
// A node, started with the arguments that ThingsDB takes: options may be shortened as long as it is clear which is
// meant, and what is wrong with them ends with code 1.
const OPTIONS = [
  '--help',
  '--version',
  '--config',
  '--log-level',
  '--log-colorized',
  '--init',
  '--secret',
  '--force',
  '--rebuild',
  '--auto-rebuild',
  '--forget-nodes',
  '--deploy',
  '--yes',
];

function inFull(arg) {
  const meant = OPTIONS.includes(arg) ? [] : OPTIONS.filter((option) => option.startsWith(arg));
  return arg.length > 2 && arg.startsWith('--') && meant.length === 1 ? meant[0] : arg;
}

const WITH_VALUE = new Set(['--config', '-c', '--log-level', '-l', '--secret']);
const args = [];
for (const arg of process.argv.slice(2)) {
  args.push(WITH_VALUE.has(args.at(-1)) ? arg : inFull(arg));
}
const asksForVersion = args.includes('-v') || args.includes('--version');
process.argv = [...process.argv.slice(0, 2), ...(asksForVersion ? ['--version'] : ['serve', ...args])];
const CONFIGURATION = 2;
process.on('exit', (code) => {
  if (code === CONFIGURATION) process.exitCode = 1;
});
await import('./althing.js');
