/**
 * JSON for people: four spaces for each level, each item on a line of its own, a newline at the end. An empty array or
 * object has an empty line between its brackets.
 */
import { JsonWriter, quote } from './json-writer.js';

const INDENT = '    ';

export class PrettyJsonWriter extends JsonWriter {
  private level = 0;
  /** True if something stands in the innermost array or object already. */
  private hasItems = false;
  /** True if a key was just written, so that its value follows on the same line. */
  private afterKey = false;

  /** The text, with the newline at its end. */
  override take(): string {
    return `${super.take()}\n`;
  }

  override beginArray(): void {
    this.open('[');
  }

  override endArray(): void {
    this.close(']');
  }

  override beginMap(): void {
    this.open('{');
  }

  override key(key: string): void {
    this.startItem();
    this.text += `${quote(key)}: `;
    this.afterKey = true;
  }

  override longKey(key: string, check: (units: number) => void): void {
    this.startItem();
    this.text += '"';
    this.pieces(key, check);
    this.text += '": ';
    this.afterKey = true;
  }

  override endMap(): void {
    this.close('}');
  }

  protected override raw(text: string): void {
    this.startItem();
    this.text += text;
    this.unload();
  }

  private open(bracket: string): void {
    this.raw(bracket);
    this.level += 1;
    this.hasItems = false;
  }

  private close(bracket: string): void {
    this.level -= 1;
    if (!this.hasItems) this.text += '\n';
    this.newLine();
    this.text += bracket;
    this.hasItems = true;
  }

  /** Goes to the place of the next item. */
  private startItem(): void {
    if (this.afterKey) {
      this.afterKey = false;
    } else if (this.level > 0) {
      if (this.hasItems) this.text += ',';
      this.newLine();
    }
    this.hasItems = true;
  }

  private newLine(): void {
    this.text += `\n${INDENT.repeat(this.level)}`;
  }
}
