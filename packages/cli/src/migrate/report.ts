/** The report of a migration, part by part: for people, and as lines of JSON for programs. */
import { type Io, write } from '../io.js';

/**
 * - `made`: it came over, or in a dry run would come
 * - `there`: the same is there already
 * - `kept`: something else is there under the name, and stays as it is
 * - `left out`: it can't come
 */
export type Outcome = 'made' | 'there' | 'kept' | 'left out';

export interface ReportLine {
  readonly kind: string;
  readonly name: string;
  readonly outcome: Outcome;
  readonly detail: string;
}

export class Report {
  private readonly lines: ReportLine[] = [];

  constructor(
    private readonly io: Io,
    private readonly isJson: boolean,
    private readonly isDryRun: boolean,
  ) {}

  /** True if something of another content was in the way. */
  get hasConflicts(): boolean {
    return this.lines.some(({ outcome }) => outcome === 'kept');
  }

  async add(kind: string, name: string, outcome: Outcome, detail = ''): Promise<void> {
    const line = { kind, name, outcome, detail };
    this.lines.push(line);
    if (this.isJson) await write(this.io.stdout, `${JSON.stringify(line)}\n`);
    else {
      const shown = outcome === 'made' && this.isDryRun ? 'would be made' : outcome;
      await write(this.io.stdout, `${kind} ${name}: ${shown}${detail === '' ? '' : `, ${detail}`}\n`);
    }
  }

  /** The whole in one line. */
  summary(): string {
    const count = (wanted: Outcome): number => this.lines.filter(({ outcome }) => outcome === wanted).length;
    const made = this.isDryRun ? 'would be made' : 'made';
    return `${count('made')} ${made}, ${count('there')} already there, ${count('kept')} in the way, ${count('left out')} left out`;
  }
}
