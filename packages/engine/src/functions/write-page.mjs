/** Writes the reference page of the functions; run by `npm run docs` after a build. */
import { writeFileSync } from 'node:fs';
import { functionsPage } from '../../dist/functions/describe.js';
import { builtIns } from '../../dist/functions/index.js';

writeFileSync(new URL('../../../../docs/functions.md', import.meta.url), functionsPage(builtIns()));
