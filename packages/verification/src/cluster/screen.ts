/** Lines that stay, and below them some that are written again and again where the output is a terminal. */
export class Screen {
  private shown: readonly string[] = [];

  constructor(private readonly out: NodeJS.WriteStream) {}

  say(line: string): void {
    this.out.write(`${line}\n`);
  }

  /** Shows the present state; elsewhere than on a terminal only what is new. */
  show(lines: readonly string[]): void {
    if (this.out.isTTY) {
      if (this.shown.length > 0) this.out.write(`\x1b[${this.shown.length}A`);
      for (const line of lines) this.out.write(`\x1b[2K${line}\n`);
    } else {
      lines.forEach((line, i) => {
        if (line !== this.shown[i]) this.out.write(`${line}\n`);
      });
    }
    this.shown = lines;
  }
}
