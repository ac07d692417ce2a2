#!/usr/bin/env node
// A node, started with the arguments, the file and the defaults that ThingsDB has.
import { loadPrograms } from './bundled.js';

const { thingsdb } = await loadPrograms();
process.exit(await thingsdb(process.argv.slice(2)));
