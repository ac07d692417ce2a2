import { describe, expect, test } from '@jest/globals';
import { isRecord } from '../check-packages.js';
import { dashboardExpressions } from './dashboard.js';
import { firstOf, textOf, yamlOf } from './files.js';
import { generatedFiles } from './generated.js';

const page = textOf('docs/metrics.md');

/** Type and labels of each metric of the page. */
const documented = new Map(
  [...page.matchAll(/^\| `(\w+)` \| (\w+) \| (.*?) \|/gm)].map(([, name = '', type = '', labels = '']) => [
    name,
    { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label) },
  ]),
);

/** Labels that Prometheus adds to every series, and metrics it has by itself. */
const TARGET_LABELS = ['namespace', 'instance', 'job', 'le'];
const METRICS_OF_PROMETHEUS = ['up'];
/** Metrics of other exporters about a node: the metric, and the labels that we use. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  kube_pod_container_status_last_terminated_exitcode: ['container'],
};

/** For `promtool test rules`. */
const CASES = 'scripts/deploy/alerts.test.yaml';

const alerts = yamlOf('deploy/monitoring/alerts.yaml').flatMap(rulesOf);

describe('metrics', () => {
  test('are documented once each, with a type and a name by convention', () => {
    const names = [...page.matchAll(/^\| `(\w+)` \| (?:counter|gauge|histogram|summary) \|/gm)].map(
      ([, name]) => name,
    );
    expect(names.length).toBe(new Set(names).size);
    expect(documented.size).toBe(names.length);
    for (const [name, { type }] of documented) {
      expect(name).toMatch(/^(?:althing|process)_[a-z_]+$/);
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
    }
  });

  test.each([
    ['alerts', alerts.map(({ expr }) => expr)],
    ['dashboard', dashboardExpressions()],
  ])('and their labels, as the %s use them, are on the page', (_, expressions) => {
    for (const expression of expressions)
      expect([expression, unknownIn(expression)]).toEqual([expression, []]);
  });
});

describe('alerts', () => {
  test('each has a severity, a summary, and a paragraph that tells what to do', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(['page', 'ticket']).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\S/);
      expect(annotations.runbook).toBe(`docs/metrics.md#${alert.toLowerCase()}`);
      expect(page).toMatch(new RegExp(`^### ${alert}$`, 'm'));
    }
    expect(alerts.length).toBeGreaterThan(10);
  });

  test('alerts that wait do not begin again when one scrape is missed', () => {
    const waiting = alerts.filter((each) => each.for !== undefined);
    expect(waiting.length).toBeGreaterThan(10);
    for (const { alert, expr } of waiting) {
      // Somebody is always asked about who leads and who is ready; `up` is there of those who are not.
      if (['AlthingNoLeader', 'AlthingNotServing', 'AlthingNodeDown'].includes(alert)) continue;
      const bare = [...expr.matchAll(/\b(?:althing|kube)_\w+(?:\{[^}]*\})?(?!\w|\{|\[)/g)].map(
        ([name]) => name,
      );
      expect([alert, bare]).toEqual([alert, []]);
    }
  });

  test('are accepted by Prometheus', () => {
    const result = firstOf([['promtool', 'check', 'rules', 'deploy/monitoring/alerts.yaml']]);
    if (result !== undefined) expect([result.code, result.code === 0 ? '' : result.output]).toEqual([0, '']);
  });

  test('come when they should, say what they should, and do not come otherwise', () => {
    const result = firstOf([['promtool', 'test', 'rules', CASES]]);
    if (result !== undefined) expect([result.code, result.code === 0 ? '' : result.output]).toEqual([0, '']);
  });

  test('each comes once at least, and at other times does not, in these cases', () => {
    const text = textOf(CASES);
    const quiet = [...text.matchAll(/alertname: (\w+)(?!\n +exp_alerts)\b/g)].map(([, name]) => name);
    const loud = [...text.matchAll(/alertname: (\w+)\n +exp_alerts/g)].map(([, name]) => name);
    const names = alerts.map(({ alert }) => alert).sort();
    expect([...new Set(quiet)].sort()).toEqual(names);
    expect([...new Set(loud)].sort()).toEqual(names);
  });
});

describe('generated files', () => {
  test.each([...generatedFiles()])('%s is current (node scripts/dist/deploy/write.js)', (path, text) => {
    expect(textOf(path)).toBe(text);
  });
});

/** Metrics and labels of an expression that are not on the page. */
function unknownIn(expression: string): string[] {
  const unknown: string[] = [];
  const used: string[] = [];
  const bare = expression.replace(/"[^"]*"/g, '""');
  for (const [name] of bare.matchAll(/\b(?:althing|process|kube)_\w+|\bup\b/g)) {
    const family = name.replace(/_(?:bucket|sum|count)$/, '');
    const found = documented.get(name) ?? documented.get(family);
    const isHistogram = found?.type === 'histogram';
    if (METRICS_OF_PROMETHEUS.includes(name)) continue;
    const others = OTHERS[name];
    if (others !== undefined) {
      used.push(...others);
      continue;
    }
    if (found === undefined || isHistogram === documented.has(name)) unknown.push(name);
    used.push(...(found?.labels ?? []).map(String));
  }
  const allowed = [...used, ...TARGET_LABELS];
  const lists = [...bare.matchAll(/\b(?:by|without|on|ignoring) \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(/, ?/),
  );
  const matched = [...bare.matchAll(/(\w+)(?:=~|!~|!=|=)""/g)].map(([, label = '']) => label);
  return [...unknown, ...[...lists, ...matched].filter((label) => !allowed.includes(label))];
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string | undefined;
  readonly labels: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, unknown>>;
}

function rulesOf(document: unknown): Alert[] {
  if (!isRecord(document) || !Array.isArray(document.groups)) throw new Error('no groups');
  return document.groups.flatMap((group: unknown) => {
    if (!isRecord(group) || !Array.isArray(group.rules)) throw new Error('no rules');
    return group.rules.map((rule: unknown) => {
      if (!isRecord(rule) || !isRecord(rule.labels) || !isRecord(rule.annotations))
        throw new Error('no rule');
      const { alert, expr, labels, annotations } = rule;
      return {
        alert: String(alert),
        expr: String(expr),
        for: rule.for === undefined ? undefined : String(rule.for),
        labels,
        annotations,
      };
    });
  });
}
