#!/usr/bin/env node
// A node, started with the arguments that ThingsDB takes.
const [, , ...args] = process.argv;
const asksForVersion = args.length === 1 && (args[0] === '-v' || args[0] === '--version');
process.argv = [...process.argv.slice(0, 2), ...(asksForVersion ? [] : ['serve']), ...args];
await import('./althing.js');
