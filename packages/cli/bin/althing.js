#!/usr/bin/env node
import { existsSync } from 'node:fs';

const entry = new URL('../dist/index.js', import.meta.url);
const server = new URL('../../node/dist/index.js', import.meta.url);

if (!existsSync(entry) || !existsSync(server)) {
  console.error('althing: not built yet; run "npm run build" in the folder of the project');
  process.exit(1);
}
const { main } = await import(entry.href);
process.exit(await main(process.argv.slice(2)));
