/** Writes the files of the deployment that are made from others: `node scripts/dist/deploy/write.js`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { project } from './files.js';
import { generatedFiles } from './generated.js';

for (const [path, text] of generatedFiles()) writeFileSync(join(project, path), text);
