/**
 * Builds after an installation, so that `npx althing` works at once. An installation without development dependencies
 * (`npm ci --omit=dev`) has no compiler: it brings a build of its own, or goes on without.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

if (hasCompiler()) {
  const { status } = spawnSync('npm', ['run', 'build'], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 1;
} else {
  console.log('not built: this installation has no TypeScript compiler');
}

function hasCompiler() {
  try {
    createRequire(import.meta.url).resolve('typescript/package.json');
    return true;
  } catch {
    return false;
  }
}
