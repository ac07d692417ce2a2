/**
 * The files of the deployment that are made from others.
 */
import { dashboardText } from './dashboard.js';
import { textOf } from './files.js';

/** Their texts, by path in the project. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const alerts = textOf('deploy/monitoring/alerts.yaml');
  const rules = alerts.slice(alerts.indexOf('groups:'));
  const dashboard = dashboardText();
  return new Map([
    ['deploy/monitoring/althing.json', dashboard],
    ['deploy/monitoring/prometheus-rule.yaml', prometheusRule(rules)],
    ['deploy/helm/althing/files/althing.json', dashboard],
    ['deploy/helm/althing/files/alerts.yaml', rules],
  ]);
}

function prometheusRule(rules: string): string {
  return `# Made from alerts.yaml: the same rules as an object of the Prometheus operator.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: althing
  labels:
    app.kubernetes.io/name: althing
    app.kubernetes.io/instance: althing
spec:
${rules.replace(/^(?=.)/gm, '  ')}`;
}
