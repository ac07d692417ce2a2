/**
 * Makes the secrets that a cluster needs, in the folder that is given, and keeps those that are there.
 *
 *   cluster_secret   what the nodes prove to each other
 *   admin_password   password of the user `admin`, for the first start
 */
import { randomBytes } from 'node:crypto';
import { accessSync, constants, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? '/secrets';
const SECRETS = { cluster_secret: 32, admin_password: 15 };

for (const [name, bytes] of Object.entries(SECRETS)) {
  const path = join(folder, name);
  try {
    // Fails when the file is there, so that two that start at once agree.
    writeFileSync(path, `${randomBytes(bytes).toString('base64url')}\n`, { flag: 'wx', mode: 0o440 });
    console.log(`${path}: made`);
  } catch (error) {
    if (!isReadable(path)) {
      console.error(`${path} can be neither made nor read: ${error.message}`);
      process.exit(1);
    }
    console.log(`${path}: kept`);
  }
}

function isReadable(path) {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
