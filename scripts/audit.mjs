/**
 * Asks if there are known vulnerabilities of the packages that Althing runs with: `npm run audit`. It says plainly when nobody
 * answered, since not every registry has that service.
 *
 * Exit code 0: none; 1: there are some; 2: nothing was checked.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const { stdout, error } = spawnSync('npm', ['audit', '--json', '--omit=dev', ...process.argv.slice(2)], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  encoding: 'utf8',
  shell: process.platform === 'win32',
  maxBuffer: 64 * 1024 * 1024,
});
const report = reportOf(stdout);
const counts = report?.metadata?.vulnerabilities;
if (counts === undefined) {
  const why = error?.message ?? report?.message ?? report?.error?.summary ?? 'npm gave no report';
  console.error(
    `NOT CHECKED: no registry answered (${why}).\nAsk one that does: npm run audit -- --registry ADDRESS`,
  );
  process.exit(2);
}
for (const { name, severity, via } of Object.values(report.vulnerabilities ?? {})) {
  const told = via.map((one) => (typeof one === 'string' ? `by ${one}` : `${one.title} ${one.url}`));
  console.error(`${severity}: ${name}: ${told.join('; ')}`);
}
const { dependencies } = report.metadata;
console.log(
  `${counts.total} known vulnerabilities in ${dependencies?.prod ?? 'all'} packages that Althing runs with`,
);
process.exit(counts.total === 0 ? 0 : 1);

function reportOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
