/**
 * Prometheus' text format (version 0.0.4):
 *
 *   family := "# HELP " name text "\n# TYPE " name type "\n" sample*
 *   sample := name ["{" label ("," label)* "}"] " " number "\n"
 */
import { FAMILIES, FAMILY_NAMES, type Family, labelsOf, seriesCount } from './families.js';
import type { Metrics } from './metrics.js';

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type Described = Pick<Family, 'name' | 'type' | 'help'>;

export class Page {
  private readonly lines: string[] = [];

  /**
   * Everything that both threads count.
   *
   * @param procedures names of those that have series of their own
   */
  addMetrics(metrics: Metrics, procedures: readonly string[] = []): void {
    for (const name of FAMILY_NAMES) {
      const family: Family = FAMILIES[name];
      this.begin(family);
      for (let series = 0; series < seriesCount(family); series++) {
        const labels = labelsOf(family, series, procedures);
        if (family.type === 'histogram') {
          this.histogram(family.name, labels, family.bounds, metrics.histogram(name, series));
        } else {
          const value = metrics.get(name, series);
          if (value !== 0 || !family.sparse) this.sample(family.name, labels, value);
        }
      }
    }
  }

  begin({ name, type, help }: Described): void {
    this.lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
  }

  /** A family with samples that were gathered now, by their labels. */
  family(described: Described, samples: Iterable<readonly [labels: string, value: number]>): void {
    this.begin(described);
    for (const [labels, value] of samples) this.sample(described.name, labels, value);
  }

  single(type: Described['type'], name: string, help: string, value: number): void {
    this.family({ name, type, help }, [['', value]]);
  }

  histogram(name: string, labels: string, bounds: readonly number[], cells: Float64Array): void {
    const before = labels === '' ? '' : `${labels},`;
    let count = 0;
    for (let i = 0; i < bounds.length; i++) {
      count += cells[i] ?? 0;
      this.sample(`${name}_bucket`, `${before}le="${bounds[i]}"`, count);
    }
    count += cells[bounds.length] ?? 0;
    this.sample(`${name}_bucket`, `${before}le="+Inf"`, count);
    this.sample(`${name}_sum`, labels, cells[bounds.length + 1] ?? 0);
    this.sample(`${name}_count`, labels, count);
  }

  get text(): string {
    return `${this.lines.join('\n')}\n`;
  }

  private sample(name: string, labels: string, value: number): void {
    this.lines.push(labels === '' ? `${name} ${numberOf(value)}` : `${name}{${labels}} ${numberOf(value)}`);
  }
}

export function label(name: string, value: string): string {
  return `${name}="${value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`;
}

function numberOf(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
