import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const MODULE = new URL('../../packages/cli/generator/check-uws.mjs', import.meta.url).href;
const INSTALLED = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** The error that the check throws; nothing when it finds nothing. */
function problem(expression: string): string {
  const code = `import { checkUws, checkUwsHere } from '${MODULE}'; ${expression};`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  return stderr;
}

test('the binaries of uWebSockets.js that are installed are the known ones', () => {
  expect(problem(`checkUws(${JSON.stringify(join(INSTALLED, 'uWebSockets.js/dist/bin'))}, () => true)`)).toBe(
    '',
  );
});

test('a binary of uWebSockets.js with another content ends the build, and so does an unknown one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'althing-uws-'));
  const binaries = join(folder, 'uWebSockets.js/dist/bin');
  try {
    mkdirSync(binaries, { recursive: true });
    const here = `checkUwsHere(${JSON.stringify(folder)})`;
    expect(problem(here)).toBe('');
    for (const modules of [process.versions.modules, '999']) {
      const file = join(binaries, `uws_${process.platform}_${process.arch}_${modules}.node`);
      writeFileSync(file, 'something else');
      expect(problem(here)).toContain(`_${modules}.node is not the binary of uWebSockets.js`);
      rmSync(file);
    }
    writeFileSync(join(binaries, 'uws_other_arch_115.node'), 'of no use here');
    expect(problem(here)).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
