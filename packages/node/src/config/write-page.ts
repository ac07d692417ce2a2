/** Writes the reference page of the settings; run by `npm run docs`. */
import { writeFileSync } from 'node:fs';
import { configurationPage } from './describe.js';

writeFileSync(new URL('../../../../docs/configuration.md', import.meta.url), configurationPage());
