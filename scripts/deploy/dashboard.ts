/**
 * The dashboard for Grafana, made from the table of its panels (`dashboard-panels.ts`). `npm run build && node scripts/dist/deploy/write.js` writes
 * it; a test holds the written file current.
 */
import { type Panel, rows } from './dashboard-panels.js';

const WIDTH = 24;
const PANELS_PER_ROW = 3;
const HEIGHT = 8;
const STAT_HEIGHT = 4;

/** The expressions of all panels. */
export function dashboardExpressions(): string[] {
  return rows.flatMap(({ panels }) =>
    panels.flatMap(({ queries }) => queries.map(([, expression]) => expression)),
  );
}

/** The text of the dashboard's file. */
export function dashboardText(): string {
  const panels: object[] = [];
  let top = 0;
  for (const row of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y: top++, w: WIDTH, h: 1 },
      panels: [],
    });
    const isStats = row.panels.every(({ kind }) => kind === 'stat');
    const perRow = isStats ? row.panels.length : PANELS_PER_ROW;
    const height = isStats ? STAT_HEIGHT : HEIGHT;
    for (const [index, panel] of row.panels.entries()) {
      const gridPos = {
        x: (index % perRow) * (WIDTH / perRow),
        y: top + Math.floor(index / perRow) * height,
        w: WIDTH / perRow,
        h: height,
      };
      panels.push({ id: panels.length + 1, ...panelObject(panel), gridPos });
    }
    top += Math.ceil(row.panels.length / perRow) * height;
  }
  return `${JSON.stringify({ ...frame, panels }, null, 1)}\n`;
}

function panelObject({ title, description, unit, queries, kind = 'timeseries', warnAt }: Panel): object {
  const steps = [
    { color: 'green', value: null },
    ...(warnAt === undefined ? [] : [{ color: 'red', value: warnAt }]),
  ];
  return {
    type: kind,
    title,
    ...(description === undefined ? {} : { description }),
    datasource,
    fieldConfig: {
      defaults: {
        unit,
        ...(unit === 's' || unit === 'none' ? { min: 0 } : {}),
        thresholds: { mode: 'absolute', steps },
        ...(kind === 'stat'
          ? {}
          : { custom: { fillOpacity: 5, showPoints: 'never', thresholdsStyle: { mode: 'off' } } }),
      },
      overrides: [],
    },
    options:
      kind === 'stat'
        ? { colorMode: 'value', graphMode: 'area', reduceOptions: { calcs: ['lastNotNull'] } }
        : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(([legendFormat, expr], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      legendFormat,
    })),
  };
}

const datasource = { type: 'prometheus', uid: '$datasource' };

function labelValues(name: string, query: string): object {
  return {
    name,
    type: 'query',
    datasource,
    query: { query, refId: name },
    definition: query,
    refresh: 2,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
    sort: 3,
  };
}

const frame = {
  uid: 'althing',
  title: 'Althing',
  tags: ['althing'],
  schemaVersion: 39,
  version: 1,
  editable: true,
  refresh: '15s',
  time: { from: 'now-1h', to: 'now' },
  timezone: 'browser',
  templating: {
    list: [
      { name: 'datasource', type: 'datasource', query: 'prometheus', current: {} },
      labelValues('namespace', 'label_values(althing_info, namespace)'),
      labelValues('instance', 'label_values(althing_info{namespace=~"$namespace"}, instance)'),
      labelValues('group', 'label_values(althing_raft_term{namespace=~"$namespace"}, group)'),
    ],
  },
};
