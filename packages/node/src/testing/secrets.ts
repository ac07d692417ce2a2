/** Secrets that no program may print: tests search for them in all that programs print. */

/** Shorter ones may be part of other words. */
const LENGTH_MIN = 6;
const NAME = /(?:TOKEN|PASSWORD|SECRET)$/;

export class Secrets {
  private readonly all = new Set<string>();

  /** @param environment of the program: its variables that hold secrets, by their names */
  constructor(environment: Readonly<Record<string, string | undefined>> = {}) {
    for (const [name, value] of Object.entries(environment)) if (NAME.test(name)) this.add(value ?? '');
  }

  add(secret: string): void {
    if (secret.length >= LENGTH_MIN) this.all.add(secret);
  }

  /**
   * Looks at what was printed.
   *
   * @param text all of it
   * @param added how much of it is new
   * @throws {Error} which names the place, and not the secret
   */
  search(text: string, added = text.length): void {
    for (const secret of this.all) {
      const at = text.indexOf(secret, Math.max(0, text.length - added - secret.length));
      if (at >= 0)
        throw new Error(
          `a secret was printed, behind ${JSON.stringify(text.slice(Math.max(0, at - 200), at))}`,
        );
    }
  }
}
