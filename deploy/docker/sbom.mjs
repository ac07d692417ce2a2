/**
 * What is in an image, from the lock file: a CycloneDX document on the standard output. No network is asked, and the same lock
 * file gives the same document, so without the random number and the time that npm puts into it.
 *
 *   node sbom.mjs        in the folder of the project
 *
 * npm's own --omit=dev would leave out what the packages need if the tools of the project need it, too.
 */
import { execFileSync } from 'node:child_process';

const DEVELOPMENT = 'cdx:npm:package:development';

const text = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 ** 2,
});
const { serialNumber: _, metadata, components, dependencies, ...document } = JSON.parse(text);
const { timestamp: __, component, ...about } = metadata;
const kept = components.filter(
  ({ properties = [] }) => !properties.some(({ name, value }) => name === DEVELOPMENT && value === 'true'),
);
const refs = new Set([component, ...kept].map((each) => each['bom-ref']));
const sbom = {
  ...document,
  // npm calls it as the folder is called.
  metadata: { ...about, component: { ...component, name: 'althing' } },
  components: kept,
  dependencies: dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) })),
};
console.log(JSON.stringify(sbom, null, 2));
