/**
 * The seed of all random tests unless another one is given, drawn from the tree that is checked out: the same tree gets the
 * same answer again, and each change a seed of its own. Prints it when it is run by itself.
 */
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';

/** fast-check takes 32 bits with their sign; up to this a seed is the same number everywhere. */
export const SEED_MAX = 2 ** 31 - 1;

/** Without git, as in an unpacked archive. */
const FIXED_TREE = '5eed0001';

/**
 * @param {string} folder of the checkout
 * @returns {number} from 1 to SEED_MAX
 */
export function treeSeed(folder) {
  const options = { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
  const { stdout } = spawnSync('git', ['rev-parse', '--verify', '--quiet', 'HEAD^{tree}'], options);
  const tree = /^[0-9a-f]{40}/.exec(stdout ?? '')?.[0] ?? FIXED_TREE;
  return (Number.parseInt(tree.slice(0, 8), 16) % SEED_MAX) + 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(treeSeed(new URL('..', import.meta.url)));
}
