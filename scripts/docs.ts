/** Writes the pages of docs/ that are made from tables in the code. */
import { writeFileSync } from 'node:fs';
import { configurationPage } from '../packages/node/dist/config/index.js';

writeFileSync(new URL('../../docs/configuration.md', import.meta.url), configurationPage());
