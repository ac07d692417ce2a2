/** The panels of the dashboard for Grafana, with their queries for Prometheus. */

export interface Panel {
  readonly title: string;
  readonly description?: string;
  /** Unit of Grafana: `s`, `bytes`, `reqps`, ... */
  readonly unit: string;
  readonly queries: readonly (readonly [legend: string, expression: string])[];
  readonly kind?: 'timeseries' | 'stat';
  /** Values from which on it is coloured. */
  readonly warnAt?: number;
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Selection by namespace and instance, in every expression. */
const S = 'namespace=~"$namespace", instance=~"$instance"';

const rate = (name: string, labels = ''): string =>
  `rate(${name}{${S}${labels === '' ? '' : `, ${labels}`}}[$__rate_interval])`;
const quantile = (q: number, name: string, by = ''): string =>
  `histogram_quantile(${q}, sum by (le${by === '' ? '' : `, ${by}`}) (${rate(`${name}_bucket`)}))`;
const gauge = (name: string, labels = ''): string => `${name}{${S}${labels === '' ? '' : `, ${labels}`}}`;

export const rows: readonly Row[] = [
  {
    title: 'At a glance',
    panels: [
      { title: 'Nodes ready', unit: 'none', kind: 'stat', queries: [['', `sum(${gauge('althing_ready')})`]] },
      {
        title: 'Groups without a leader',
        unit: 'none',
        kind: 'stat',
        warnAt: 1,
        queries: [['', `sum(max by (group) (${gauge('althing_raft_is_leader')}) == bool 0)`]],
      },
      {
        title: 'Requests',
        unit: 'reqps',
        kind: 'stat',
        queries: [['', `sum(${rate('althing_requests_total')})`]],
      },
      {
        title: 'Requests that fail',
        description: "For the cluster's own reasons",
        unit: 'percentunit',
        kind: 'stat',
        warnAt: 0.01,
        queries: [
          [
            '',
            `sum(${rate('althing_requests_total', 'outcome=~"unavailable|timeout|internal"')}) / sum(${rate('althing_requests_total')})`,
          ],
        ],
      },
      {
        title: 'Fullest disk',
        unit: 'percentunit',
        kind: 'stat',
        warnAt: 0.8,
        queries: [['', `max(1 - ${gauge('althing_disk_free_bytes')} / ${gauge('althing_disk_size_bytes')})`]],
      },
      {
        title: 'Age of the newest backup',
        unit: 's',
        kind: 'stat',
        warnAt: 93_600,
        queries: [['', `time() - max(${gauge('althing_backup_last_success_timestamp_seconds')})`]],
      },
    ],
  },
  {
    title: 'Requests',
    panels: [
      {
        title: 'Requests by kind and scope',
        unit: 'reqps',
        queries: [['{{kind}} {{scope}}', `sum by (kind, scope) (${rate('althing_requests_total')})`]],
      },
      {
        title: 'Requests by outcome',
        unit: 'reqps',
        queries: [['{{outcome}}', `sum by (outcome) (${rate('althing_requests_total')})`]],
      },
      {
        title: 'Duration of requests',
        unit: 's',
        queries: [
          ['p50', quantile(0.5, 'althing_request_duration_seconds')],
          ['p99', quantile(0.99, 'althing_request_duration_seconds')],
          ['p99.9', quantile(0.999, 'althing_request_duration_seconds')],
        ],
      },
      {
        title: 'In flight and waiting',
        unit: 'none',
        queries: [
          ['{{instance}} in flight', gauge('althing_requests_in_flight')],
          ['{{instance}} {{queue}}', gauge('althing_request_queue_length')],
        ],
      },
      {
        title: 'Refused for load',
        unit: 'reqps',
        queries: [['{{reason}}', `sum by (reason) (${rate('althing_requests_rejected_total')})`]],
      },
      {
        title: 'Forwarded and repeated',
        unit: 'reqps',
        queries: [
          ['forwarded, {{outcome}}', `sum by (outcome) (${rate('althing_requests_forwarded_total')})`],
          ['repeated', `sum(${rate('althing_requests_repeated_total')})`],
        ],
      },
      {
        title: 'Connections',
        unit: 'none',
        queries: [['{{instance}}', gauge('althing_connections')]],
      },
      {
        title: 'Connections of the native protocol',
        unit: 'none',
        queries: [
          ['{{transport}} {{state}}', `sum by (transport, state) (${gauge('althing_native_connections')})`],
          [
            'ended each second, {{reason}}',
            `sum by (reason) (${rate('althing_native_connections_ended_total')})`,
          ],
        ],
      },
      {
        title: 'Packages and events of the native protocol',
        unit: 'reqps',
        queries: [
          ['{{type}}', `sum by (type) (${rate('althing_native_packages_total')})`],
          ['told: {{type}}', `sum by (type) (${rate('althing_native_events_total')})`],
        ],
      },
      {
        title: 'Bytes of the native protocol',
        unit: 'Bps',
        queries: [['{{direction}}', `sum by (direction) (${rate('althing_native_bytes_total')})`]],
      },
      {
        title: 'Logins',
        unit: 'reqps',
        queries: [['{{method}} {{outcome}}', `sum by (method, outcome) (${rate('althing_logins_total')})`]],
      },
      {
        title: 'Execution of queries',
        description: 'Without waiting',
        unit: 's',
        queries: [
          ['p50', quantile(0.5, 'althing_query_duration_seconds')],
          ['p99', quantile(0.99, 'althing_query_duration_seconds')],
          ['stopped: {{reason}} per s', `sum by (reason) (${rate('althing_queries_stopped_total')})`],
        ],
      },
      {
        title: 'Tasks',
        description:
          'Runs each second, how late the last tenth began, and how late the one is that waits for longest',
        unit: 'none',
        queries: [
          ['runs: {{outcome}} per s', `sum by (outcome) (${rate('althing_tasks_total')})`],
          ['late, p90, s', quantile(0.9, 'althing_task_lateness_seconds')],
          ['{{instance}} overdue, s', gauge('althing_tasks_overdue_seconds')],
        ],
      },
    ],
  },
  {
    title: 'Consensus',
    panels: [
      {
        title: 'Leaderships',
        unit: 'none',
        queries: [['{{instance}}', `sum by (instance) (${gauge('althing_raft_is_leader')})`]],
      },
      {
        title: 'Changes of leader',
        description: 'In 5 minutes',
        unit: 'none',
        queries: [
          [
            'group {{group}}',
            `max by (group) (increase(althing_raft_leader_changes_total{${S}, group=~"$group"}[5m]))`,
          ],
        ],
      },
      {
        title: 'Term',
        unit: 'none',
        queries: [['group {{group}}', `max by (group) (${gauge('althing_raft_term', 'group=~"$group"')})`]],
      },
      {
        title: 'From proposal to commit',
        unit: 's',
        queries: [
          ['p50', quantile(0.5, 'althing_raft_commit_latency_seconds')],
          ['p99', quantile(0.99, 'althing_raft_commit_latency_seconds')],
        ],
      },
      {
        title: 'Commits',
        unit: 'ops',
        queries: [
          ['group {{group}}', `max by (group) (${rate('althing_raft_commit_index', 'group=~"$group"')})`],
        ],
      },
      {
        title: 'Entries behind',
        unit: 'none',
        queries: [
          [
            '{{instance}} group {{group}}',
            `max by (namespace, group) (${gauge('althing_raft_commit_index', 'group=~"$group"')}) - on (namespace, group) group_right () ${gauge('althing_raft_applied_index', 'group=~"$group"')}`,
          ],
        ],
      },
      {
        title: 'Voters and those reachable',
        unit: 'none',
        queries: [
          ['voters, group {{group}}', `max by (group) (${gauge('althing_raft_voters', 'group=~"$group"')})`],
          [
            'reachable, group {{group}}',
            `max by (group) (${gauge('althing_raft_voters_reachable', 'group=~"$group"')})`,
          ],
        ],
      },
      {
        title: 'Read index',
        unit: 's',
        queries: [
          ['p50', quantile(0.5, 'althing_raft_read_index_duration_seconds')],
          ['p99', quantile(0.99, 'althing_raft_read_index_duration_seconds')],
        ],
      },
      {
        title: 'Round trips between nodes',
        unit: 's',
        queries: [['{{instance}} to {{peer}}', gauge('althing_peer_round_trip_seconds')]],
      },
    ],
  },
  {
    title: 'Storage',
    panels: [
      {
        title: 'Syncs of the log',
        unit: 's',
        warnAt: 0.1,
        queries: [
          ['{{instance}} p50', quantile(0.5, 'althing_log_sync_duration_seconds', 'instance')],
          ['{{instance}} p99', quantile(0.99, 'althing_log_sync_duration_seconds', 'instance')],
        ],
      },
      {
        title: 'Checkpoints',
        unit: 's',
        queries: [
          ['{{instance}} p99', quantile(0.99, 'althing_checkpoint_duration_seconds', 'instance')],
          ['{{instance}} age', gauge('althing_checkpoint_age_seconds')],
        ],
      },
      {
        title: 'Written',
        unit: 'Bps',
        queries: [
          ['{{instance}} log', rate('althing_log_appended_bytes_total')],
          ['{{instance}} checkpoints', rate('althing_checkpoint_bytes_total')],
        ],
      },
      {
        title: 'Disk',
        unit: 'bytes',
        queries: [
          ['{{instance}} free', gauge('althing_disk_free_bytes')],
          ['{{instance}} log', gauge('althing_log_bytes')],
        ],
      },
      {
        title: 'Things found in memory',
        unit: 'percentunit',
        queries: [
          [
            '{{instance}} things',
            `${rate('althing_cache_hits_total')} / (${rate('althing_cache_hits_total')} + ${rate('althing_cache_misses_total')})`,
          ],
          [
            '{{instance}} parsed queries',
            `${rate('althing_program_cache_hits_total')} / (${rate('althing_program_cache_hits_total')} + ${rate('althing_program_cache_misses_total')})`,
          ],
        ],
      },
      {
        title: 'Memory of loaded things',
        unit: 'bytes',
        queries: [
          ['{{instance}}', gauge('althing_cache_bytes')],
          ['{{instance}} limit', gauge('althing_cache_limit_bytes')],
        ],
      },
    ],
  },
  {
    title: 'Processes',
    panels: [
      {
        title: 'Delay of the event loops, p99',
        unit: 's',
        warnAt: 0.25,
        queries: [['{{instance}} {{thread}}', gauge('althing_event_loop_delay_seconds', 'quantile="0.99"')]],
      },
      {
        title: 'Processor time',
        unit: 'percentunit',
        queries: [['{{instance}}', rate('process_cpu_seconds_total', 'job="althing"')]],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: [
          ['{{instance}} resident', gauge('process_resident_memory_bytes', 'job="althing"')],
          ['{{instance}} {{thread}} heap', gauge('althing_heap_used_bytes')],
        ],
      },
      {
        title: 'Garbage collection',
        description: 'Seconds of pause each second',
        unit: 'percentunit',
        queries: [['{{instance}} {{thread}} {{kind}}', rate('althing_gc_duration_seconds_sum')]],
      },
      {
        title: 'Open files',
        unit: 'none',
        queries: [['{{instance}}', gauge('process_open_fds', 'job="althing"')]],
      },
      {
        title: 'Lines in the log',
        unit: 'ops',
        queries: [
          ['{{instance}} {{level}}', rate('althing_log_messages_total', 'level=~"warning|error|critical"')],
        ],
      },
    ],
  },
];
