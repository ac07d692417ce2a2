#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { BUNDLE, isBundleCurrent } from './bundled.js';

const entry = new URL('../dist/index.js', import.meta.url);
const server = new URL('../../node/dist/index.js', import.meta.url);
const usesBundle = isBundleCurrent();

if (!usesBundle && !(existsSync(entry) && existsSync(server))) {
  console.error('althing: not built yet; run "npm run build" in the folder of the project');
  process.exit(1);
}
const { main } = await import(usesBundle ? BUNDLE.href : entry.href);
process.exit(await main(process.argv.slice(2)));
