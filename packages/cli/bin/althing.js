#!/usr/bin/env node
import { loadPrograms } from './bundled.js';

const { main } = await loadPrograms();
process.exit(await main(process.argv.slice(2)));
