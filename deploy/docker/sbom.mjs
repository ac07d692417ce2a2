/**
 * What is in an image, from the lock file: a CycloneDX document on the standard output. No network is asked, and the same lock
 * file gives the same document, so without the random number and the time that npm puts into it, and without what depends on
 * npm's own version: its number, the order, and where a package lies.
 *
 *   node sbom.mjs        in the folder of the project
 *
 * npm's own --omit=dev would leave out what the packages need if the tools of the project need it, too.
 */
import { execFileSync } from 'node:child_process';

const DEVELOPMENT = 'cdx:npm:package:development';
const PATH = 'cdx:npm:package:path';

const text = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 ** 2,
});
const { serialNumber: _, metadata, components, dependencies, ...document } = JSON.parse(text);
const { timestamp: __, component, tools, ...about } = metadata;
const kept = components.filter(
  ({ properties = [] }) => !properties.some(({ name, value }) => name === DEVELOPMENT && value === 'true'),
);
const refs = new Set([component, ...kept].map((each) => each['bom-ref']));
const sbom = {
  ...document,
  // npm calls it as the folder is called.
  metadata: {
    ...about,
    tools: tools.map(({ version: ___, ...tool }) => tool),
    component: { ...withoutPath(component), name: 'althing' },
  },
  components: kept.map(withoutPath).sort((a, b) => compare(a['bom-ref'], b['bom-ref'])),
  dependencies: dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)).sort() }))
    .sort((a, b) => compare(a.ref, b.ref)),
};
console.log(JSON.stringify(sbom, null, 2));

function withoutPath(component) {
  const { properties = [], ...rest } = component;
  return { ...rest, properties: properties.filter(({ name }) => name !== PATH) };
}

function compare(a, b) {
  return a < b ? -1 : Number(a > b);
}
