import { valueError } from '../error.js';

/** Names of collections, procedures, modules, types, enums and their parts. */
export const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;

/** Throws value_err for what breaks the naming rules. */
export function assertName(name: string): void {
  if (NAME.test(name)) return;
  throw valueError(
    'a name begins with a letter or _, goes on with letters, digits and _, and has at most 255',
  );
}
