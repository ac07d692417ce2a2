import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { checkServerIdentity } from 'node:tls';
import { loadConfig } from '@althing/node';
import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { isRecord } from '../check-packages.js';
import { type Chart, mergeValues, renderChart } from './chart.js';
import { filesIn, firstOf, parseYaml, project, run, textOf, yamlOf } from './files.js';
import { objectProblems, parseApi, recordOf } from './kubernetes-api.js';

type Json = Readonly<Record<string, unknown>>;

const api = parseApi(textOf('scripts/deploy/kubernetes-api.txt'));
/** By folder: what kustomize made, since it takes half a second each time. */
const built = new Map<string, Json[]>();
const overlays = ['dev', 'production', 'production-5', 'production-tls', 'production-ingress'];

describe('the check of objects', () => {
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' } };

  test('finds what does not fit', () => {
    const found = (object: unknown): string[] => objectProblems(api, object);
    expect(found(service)).toEqual([]);
    expect(found({ ...service, spec: { port: [] } })).toEqual([
      '.spec.port: no such field in v1/ServiceSpec',
    ]);
    expect(found({ ...service, spec: { ports: [{ port: '80' }] } })).toEqual([
      '.spec.ports[0].port: must be a number, is "80"',
    ]);
    expect(found({ ...service, spec: { ports: [{ name: 'x' }] } })).toEqual([
      '.spec.ports[0].port: is missing',
    ]);
    expect(found({ ...service, spec: { type: 'clusterip' } })).toEqual([
      '.spec.type: must be ClusterIP or ExternalName or LoadBalancer or NodePort, is "clusterip"',
    ]);
    expect(found({ ...service, spec: { selector: { a: 1 } } })).toEqual([
      '.spec.selector.a: must be a string, is 1',
    ]);
    expect(found({ ...service, kind: 'Servise' })).toEqual([
      'v1/Servise is no kind that kubernetes-api.txt knows',
    ]);
  });
});

describe.each([['base', basePath('base')], ...overlays.map((name) => [name, basePath(`overlays/${name}`)])])(
  'kustomize: %s',
  (name, folder) => {
    const objects = kustomized(folder ?? '');

    test('fits the API', () => {
      for (const object of objects)
        expect([nameOf(object), objectProblems(api, object)]).toEqual([nameOf(object), []]);
    });

    test('hangs together', () => {
      expect(looseEnds(objects)).toEqual([]);
    });

    test('asks for nothing that the restricted level of Pod Security forbids', () => {
      for (const pod of objects.flatMap(podsOf)) expect([...unrestricted(pod), ...careless(pod)]).toEqual([]);
    });

    test('gives the nodes settings that exist and fit together, and time enough to drain', () => {
      for (const object of objects.filter(({ kind }) => kind === 'StatefulSet')) {
        const pod = at(object, 'spec', 'template', 'spec');
        const environment = environmentOf(containersOf(pod)[0]);
        const { config, warnings } = loadConfig({
          environment,
          readFile: () => 'a secret that is long enough',
        });
        expect(warnings).toEqual([]);
        expect(config.cluster).toHaveLength(name === 'dev' ? 1 : 3);
        expect(Number(at(pod, 'terminationGracePeriodSeconds')) * 1000).toBeGreaterThan(
          config.shutdownTimeoutMs,
        );
        expect(config.cluster).toContain(`althing-0.althing-headless:${config.listenNodePort}`);
        // Its volume is there again when a StatefulSet grows after it shrank.
        expect(config.rejoinWhenRemoved).toBe(true);
        // TLS for clients without TLS between the nodes would be half of what the component promises.
        const isSecure = name === 'production-tls' || name === 'production-ingress';
        expect([config.tlsCertFile, config.tlsClientCaFile]).toEqual(
          isSecure ? ['/tls/tls.crt', '/tls/ca.crt'] : [undefined, undefined],
        );
        const variables = listOf(containersOf(pod)[0]?.env);
        const variable = (wanted: string): unknown =>
          at(
            variables.find((each) => at(each, 'name') === wanted),
            'value',
          );
        // A command in a pod finds its node, under a name of the certificate.
        expect([variable('ALTHING_URL'), variable('ALTHING_TLS_CA_FILE')]).toEqual(
          isSecure ? ['https://$(POD_NAME).althing-headless:9210', '/tls/ca.crt'] : [undefined, undefined],
        );
      }
    });

    test('gives the nodes volumes for their data and their backups', () => {
      for (const object of objects.filter(({ kind }) => kind === 'StatefulSet')) {
        const [container] = containersOf(at(object, 'spec', 'template', 'spec'));
        const claims = listOf(at(object, 'spec', 'volumeClaimTemplates')).map((claim) =>
          at(claim, 'metadata', 'name'),
        );
        for (const path of [
          environmentOfImage('SERVICE_STORAGE_PATH'),
          environmentOfImage('SERVICE_BACKUP_PATH'),
        ]) {
          const mount = listOf(container?.volumeMounts).find((item) => at(item, 'mountPath') === path);
          expect([path, claims.includes(at(mount, 'name'))]).toEqual([path, true]);
        }
      }
    });
  },
);

describe('the order for pods to leave the cluster', () => {
  const objects = kustomized(basePath('base'));

  test('is a value that can be changed while they run, and says that none does', () => {
    for (const object of objects.filter(({ kind }) => kind === 'StatefulSet')) {
      const pod = at(object, 'spec', 'template', 'spec');
      const [container] = containersOf(pod);
      const path = environmentOf(container).SERVICE_LEAVE_FROM_ORDINAL_FILE ?? '';
      // A mount of a single file would stay as it was.
      const mount = listOf(container?.volumeMounts).find((item) => at(item, 'mountPath') === dirname(path));
      expect(at(mount, 'subPath')).toBeUndefined();
      const volume = listOf(at(pod, 'volumes')).find((item) => at(item, 'name') === at(mount, 'name'));
      const map = objects.find((each) => nameOf(each) === `ConfigMap/${at(volume, 'configMap', 'name')}`);
      expect(map?.data).toEqual({ [basename(path)]: '' });
    }
  });

  test('is a value of the chart, too', () => {
    const map = renderedChart({ leaveFromOrdinal: 3 }).find(
      (object) => nameOf(object) === 'ConfigMap/althing-scaling',
    );
    expect(map?.data).toEqual({ 'leave-from-ordinal': '3' });
  });
});

describe('faults that only an eye would notice', () => {
  const objects = kustomized(basePath('base'));

  test('all pods start at once, and are found before they are ready', () => {
    for (const object of objects) {
      if (object.kind === 'StatefulSet') expect(at(object, 'spec', 'podManagementPolicy')).toBe('Parallel');
      if (nameOf(object) === 'Service/althing-headless') {
        expect(at(object, 'spec', 'publishNotReadyAddresses')).toBe(true);
      }
    }
  });

  test('more replicas change no pod', () => {
    const template = (folder: string): unknown =>
      kustomized(basePath(folder))
        .filter(({ kind }) => kind === 'StatefulSet')
        .map((object) => at(object, 'spec', 'template'));
    expect(template('overlays/production-5')).toEqual(template('overlays/production'));
  });

  test('a pod that the page starts passes what its namespace insists on', () => {
    const commands = [
      ...textOf('docs/kubernetes.md').matchAll(/^kubectl -n (\S+) run [\s\S]*?[^\\]\n(?=kubectl|```)/gm),
    ];
    expect(commands.map(([, namespace]) => namespace)).toEqual(['default', 'althing']);
    for (const [command, namespace] of commands.filter(([, name]) => name !== 'default')) {
      expect([namespace, command]).toEqual(['althing', expect.stringContaining('--overrides=')]);
      const [, overrides = ''] = /--overrides='([^']*)'/.exec(command) ?? [];
      expect(unrestricted(recordOf(at(JSON.parse(overrides), 'spec')))).toEqual([]);
    }
  });

  test('the certificate of the page holds for every pod and the Service, and for both ends of a connection', () => {
    const [, block = ''] =
      /```yaml\n(apiVersion: cert-manager[\s\S]*?)```/.exec(textOf('docs/kubernetes.md')) ?? [];
    const [certificate] = parseYaml(block, 'docs/kubernetes.md');
    const names = listOf(at(certificate, 'spec', 'dnsNames')).map(String);
    const folder = mkdtempSync(join(tmpdir(), 'althing-deploy-'));
    run(process.execPath, ['deploy/docker/make-certs.mjs', folder, names.join(',')]);
    const made = new X509Certificate(readFileSync(join(folder, `${names[0]}.crt`))).toLegacyObject();
    rmSync(folder, { recursive: true });
    const pods = [0, 1, 2, 3, 4].map((number) => `althing-${number}.althing-headless`);
    for (const host of [...pods, 'althing', 'althing.althing.svc']) {
      expect([host, checkServerIdentity(host, made)]).toEqual([host, undefined]);
    }
    expect(at(certificate, 'spec', 'usages')).toEqual(expect.arrayContaining(['server auth', 'client auth']));
    expect(at(certificate, 'spec', 'secretName')).toBe('althing-tls');
  });

  test('an Ingress takes the bodies that a node takes, waits longer than it, and repeats nothing that may be done', () => {
    const { config } = loadConfig({ environment: {} });
    for (const object of kustomized(basePath('overlays/production-ingress'))) {
      if (object.kind !== 'Ingress') continue;
      const annotation = (name: string): string =>
        String(at(object, 'metadata', 'annotations', `nginx.ingress.kubernetes.io/${name}`));
      expect(annotation('proxy-body-size')).toBe(`${config.requestSizeLimit / 1024 ** 2}m`);
      expect(Number(annotation('proxy-read-timeout')) * 1000).toBeGreaterThan(config.requestTimeoutMs);
      expect(annotation('proxy-next-upstream')).not.toContain('non_idempotent');
    }
  });

  test("the priority of pods is a component for overlays of one's own, and a value of the chart", () => {
    const folder = mkdtempSync(join(tmpdir(), 'althing-deploy-'));
    const pathTo = (name: string): string => relative(folder, join(project, 'deploy/kubernetes', name));
    writeFileSync(
      join(folder, 'kustomization.yaml'),
      stringify({ resources: [pathTo('overlays/production')], components: [pathTo('components/priority')] }),
    );
    const expected = kustomized(folder).filter(({ kind }) => kind !== 'Namespace');
    rmSync(folder, { recursive: true });
    const [production] = yamlOf('deploy/helm/values-production.yaml');
    const rendered = renderedChart(production, { priorityClassName: 'althing' });
    expect(JSON.stringify(rendered)).toContain('"priorityClassName":"althing"');
    if (expected.length > 0) expect(comparable(rendered)).toEqual(comparable(expected));
  });

  test('large nodes are a component and values of the chart, and have the heap that goes with their memory', () => {
    const folder = mkdtempSync(join(tmpdir(), 'althing-deploy-'));
    const pathTo = (name: string): string => relative(folder, join(project, 'deploy/kubernetes', name));
    writeFileSync(
      join(folder, 'kustomization.yaml'),
      stringify({ resources: [pathTo('overlays/production')], components: [pathTo('components/large')] }),
    );
    const expected = kustomized(folder).filter(({ kind }) => kind !== 'Namespace');
    rmSync(folder, { recursive: true });
    const [[production], [large]] = ['production', 'large'].map((name) =>
      yamlOf(`deploy/helm/values-${name}.yaml`),
    ) as [unknown[], unknown[]];
    const rendered = renderedChart(production, large);
    if (expected.length > 0) expect(comparable(rendered)).toEqual(comparable(expected));
    for (const objects of [rendered, renderedChart(production)]) {
      const set = objects.find(({ kind }) => kind === 'StatefulSet');
      const [container] = containersOf(at(set, 'spec', 'template', 'spec'));
      const [, gigabytes = Number.NaN] =
        /^(\d+)Gi$/.exec(String(at(container, 'resources', 'limits', 'memory'))) ?? [];
      const options = listOf(container?.env).find((item) => at(item, 'name') === 'NODE_OPTIONS');
      // Up to 4 GB Node.js takes half of it by itself.
      const wanted = `--max-old-space-size=${Math.floor(Number(gigabytes) * 1024 * 0.6)}`;
      expect(at(options, 'value')).toBe(Number(gigabytes) > 4 ? wanted : undefined);
    }
  });

  test('no file of the deployment holds a secret', () => {
    for (const path of filesIn('deploy')) {
      if (!/\.(?:ya?ml)$/.test(path) || path.includes('/templates/')) continue;
      for (const object of yamlOf(path))
        expect([path, isRecord(object) && object.kind === 'Secret']).toEqual([path, false]);
    }
  });
});

/**
 * The chart with given values makes the objects that kustomize makes, apart from: the namespace and the object for it,
 * which Helm's user chooses; the labels that Helm wants on its objects; texts of ConfigMaps, which are compared parsed.
 */
describe.each([
  ['base', 'deploy/kubernetes/base', []],
  ['dev', 'deploy/kubernetes/overlays/dev', ['deploy/helm/values-dev.yaml']],
  ['production', 'deploy/kubernetes/overlays/production', ['deploy/helm/values-production.yaml']],
  [
    'production-5',
    'deploy/kubernetes/overlays/production-5',
    ['deploy/helm/values-production.yaml', { replicas: 5 }],
  ],
  [
    'production-tls',
    'deploy/kubernetes/overlays/production-tls',
    ['deploy/helm/values-production.yaml', { tls: { enabled: true } }],
  ],
  [
    'production-ingress',
    'deploy/kubernetes/overlays/production-ingress',
    ['deploy/helm/values-production.yaml', { tls: { enabled: true }, ingress: { enabled: true } }],
  ],
])('the chart as %s', (_, folder, layers) => {
  const values = layers.map((layer) => (typeof layer === 'string' ? yamlOf(layer)[0] : layer));
  const rendered = renderedChart(...values);

  test('makes objects that fit the API', () => {
    for (const object of rendered)
      expect([nameOf(object), objectProblems(api, object)]).toEqual([nameOf(object), []]);
  });

  test('makes what kustomize makes', () => {
    const expected = kustomized(folder).filter(({ kind }) => kind !== 'Namespace');
    // Without kustomize there is nothing to compare with.
    if (expected.length > 0) expect(comparable(rendered)).toEqual(comparable(expected));
  });

  test('comes out of Helm as it comes out here', () => {
    const overrides = mergeValues({ auth: { existingSecret: 'althing' } }, values.reduce(mergeValues, {}));
    const result = firstOf(
      [['helm', 'template', 'althing', 'deploy/helm/althing', '--namespace', 'althing', '--values', '-']],
      stringify(overrides),
    );
    if (result === undefined) return;
    expect([result.code, result.code === 0 ? '' : result.output]).toEqual([0, '']);
    expect(comparable(objectsIn(result.stdout, 'helm template'))).toEqual(comparable(rendered));
  });
});

describe('the chart', () => {
  test('refuses what it does not know', () => {
    const chart = (text: string): Chart => ({ ...readChart({}), templates: new Map([['a.yaml', text]]) });
    const rendering = (text: string) => () => renderChart(chart(text), 'x');
    expect(rendering('a: {{ .Values.nothing }}')).toThrow('a.yaml: .Values.nothing: there is no nothing');
    expect(rendering('{{ range .Values }}{{ end }}')).toThrow('not known here');
    expect(rendering('{{ lookup "a" }}')).toThrow('lookup');
    expect(rendering('{{ if true }}')).toThrow('else or end is missing');
    expect(
      renderChart(chart('a: {{ if eq 1 2 }}{{ lookup "a" }}{{ else }}{{ "b" | quote }}{{ end }}'), 'x'),
    ).toEqual(['a: "b"']);
  });

  test('names everything after the release', () => {
    const objects = objectsIn(
      renderChart(readChart({ auth: { existingSecret: 'mine' } }), 'other').join('\n---\n'),
      'chart',
    );
    for (const object of objects) expect(String(at(object, 'metadata', 'name'))).toMatch(/^other\b/);
    expect(looseEnds(objects)).toEqual([]);
    expect(JSON.stringify(objects)).not.toMatch(/althing-(?:headless|backup|tls|dashboard|\d:)/);
  });

  test('has the versions of the project', () => {
    const manifest: unknown = JSON.parse(textOf('package.json'));
    const { version } = isRecord(manifest) ? manifest : {};
    const [chart] = yamlOf('deploy/helm/althing/Chart.yaml');
    expect(chart).toMatchObject({ version, appVersion: version });
    expect(textOf('Dockerfile')).toContain(`ARG VERSION=${version}\n`);
    for (const folder of ['base', 'components/backup']) {
      expect(textOf(`deploy/kubernetes/${folder}/kustomization.yaml`)).toContain(`newTag: ${version}\n`);
    }
  });
});

function basePath(folder: string): string {
  return `deploy/kubernetes/${folder}`;
}

/** The output of kustomize for a folder; nothing, and a line that tells so, where it is not installed. */
function kustomized(folder: string): Json[] {
  const known = built.get(folder);
  if (known !== undefined) return known;
  const result = firstOf([
    ['kustomize', 'build', folder],
    ['kubectl', 'kustomize', folder],
  ]);
  if (result !== undefined && result.code !== 0) throw new Error(result.output);
  const objects = result === undefined ? [] : objectsIn(result.stdout, folder);
  built.set(folder, objects);
  return objects;
}

function readChart(values: unknown): Chart {
  const folder = 'deploy/helm/althing';
  const [about] = yamlOf(`${folder}/Chart.yaml`);
  const { name, version, appVersion } = recordOf(about);
  const templates = filesIn(`${folder}/templates`).map((path) => [basename(path), textOf(path)] as const);
  const files = filesIn(`${folder}/files`).map((path) => [`files/${basename(path)}`, textOf(path)] as const);
  return {
    name: String(name),
    version: String(version),
    appVersion: String(appVersion),
    values: mergeValues(yamlOf(`${folder}/values.yaml`)[0], values),
    templates: new Map(templates),
    files: new Map(files),
  };
}

/** The objects of the chart, with a Secret that is there already, since a new one would be random. */
function renderedChart(...layers: readonly unknown[]): Json[] {
  const values = mergeValues({ auth: { existingSecret: 'althing' } }, layers.reduce(mergeValues, {}));
  return objectsIn(renderChart(readChart(values), 'althing').join('\n---\n'), 'chart');
}

function comparable(objects: readonly Json[]): Record<string, unknown> {
  const helms = ['helm.sh/chart', 'app.kubernetes.io/managed-by', 'app.kubernetes.io/version'];
  const entries = objects.map((object) => {
    const { namespace: _, labels, ...metadata } = recordOf(object.metadata);
    const kept = Object.entries(recordOf(labels ?? {})).filter(([label]) => !helms.includes(label));
    return [
      nameOf(object),
      { ...object, metadata: { ...metadata, labels: Object.fromEntries(kept) } },
    ] as const;
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function objectsIn(text: string, name: string): Json[] {
  return parseYaml(text, name).map(recordOf);
}

function nameOf(object: Json): string {
  return `${object.kind}/${at(object, 'metadata', 'name')}`;
}

/** References of objects to nothing: pods that no selector finds, services, claims, ports, mounts. */
function looseEnds(objects: readonly Json[]): string[] {
  const problems: string[] = [];
  const names = new Set(objects.map(nameOf));
  const pods = objects.flatMap(podsOf);
  const podLabels = objects.flatMap(podLabelsOf);
  for (const object of objects) {
    const name = nameOf(object);
    const need = (what: string): void =>
      void (names.has(what) || problems.push(`${name}: ${what} is missing`));
    const spec = recordOf(object.spec ?? {});
    if (object.kind === 'StatefulSet') need(`Service/${spec.serviceName}`);
    const selector =
      object.kind === 'Service' ? spec.selector : at(spec.selector ?? spec.podSelector ?? {}, 'matchLabels');
    if (['Service', 'StatefulSet', 'PodDisruptionBudget', 'NetworkPolicy'].includes(String(object.kind))) {
      if (!podLabels.some((labels) => fits(labels, recordOf(selector))))
        problems.push(`${name}: selects no pod`);
    }
    if (object.kind === 'ServiceMonitor') {
      const services = objects.filter(({ kind }) => kind === 'Service');
      const found = services.filter((service) =>
        fits(recordOf(at(service, 'metadata', 'labels')), recordOf(selector)),
      );
      if (found.length !== 1) problems.push(`${name}: selects ${found.length} services`);
    }
    for (const path of listOf(spec.rules).flatMap((rule) => listOf(at(rule, 'http', 'paths')))) {
      need(`Service/${at(path, 'backend', 'service', 'name')}`);
    }
    for (const port of listOf(object.kind === 'Service' ? spec.ports : [])) {
      const ports = pods
        .flatMap((pod) => listOf(containersOf(pod)[0]?.ports))
        .map((item) => at(item, 'name'));
      if (!ports.includes(at(port, 'targetPort')))
        problems.push(`${name}: no port ${at(port, 'targetPort')}`);
    }
    for (const pod of podsOf(object)) {
      if (pod.serviceAccountName !== undefined) need(`ServiceAccount/${pod.serviceAccountName}`);
      const volumes = [
        ...listOf(pod.volumes),
        ...listOf(spec.volumeClaimTemplates).map((claim) => at(claim, 'metadata')),
      ];
      for (const volume of volumes) {
        const claim = at(volume, 'persistentVolumeClaim', 'claimName');
        if (claim !== undefined) need(`PersistentVolumeClaim/${claim}`);
        const map = at(volume, 'configMap', 'name');
        if (map !== undefined) need(`ConfigMap/${map}`);
      }
      const mounted = containersOf(pod)
        .flatMap((container) => listOf(container.volumeMounts))
        .map((item) => at(item, 'name'));
      const missing = mounted.filter((mount) => !volumes.some((volume) => at(volume, 'name') === mount));
      problems.push(...missing.map((mount) => `${name}: no volume ${mount}`));
    }
  }
  return problems;
}

function fits(labels: Json, selector: Json): boolean {
  const wanted = Object.entries(selector);
  return wanted.length > 0 && wanted.every(([label, value]) => labels[label] === value);
}

/** Settings that the restricted level of the Pod Security standards wants and a pod lacks. */
function unrestricted(pod: Json): string[] {
  const problems: string[] = [];
  const must = (holds: boolean, what: string): void => void (holds || problems.push(what));
  const ofPod = recordOf(pod.securityContext ?? {});
  must(ofPod.runAsNonRoot === true, 'runAsNonRoot');
  must(at(ofPod, 'seccompProfile', 'type') === 'RuntimeDefault', 'seccompProfile');
  must(
    pod.hostNetwork === undefined && pod.hostPID === undefined && pod.hostIPC === undefined,
    'host namespaces',
  );
  for (const volume of listOf(pod.volumes)) must(at(volume, 'hostPath') === undefined, 'hostPath');
  for (const container of containersOf(pod)) {
    const own = recordOf(container.securityContext ?? {});
    must(own.allowPrivilegeEscalation === false, 'allowPrivilegeEscalation');
    must(JSON.stringify(at(own, 'capabilities')) === '{"drop":["ALL"]}', 'capabilities');
  }
  return problems;
}

/** Settings beyond that which a pod of ours lacks. */
function careless(pod: Json): string[] {
  const problems: string[] = [];
  const must = (holds: boolean, what: string): void => void (holds || problems.push(what));
  must(pod.automountServiceAccountToken === false, 'automountServiceAccountToken');
  for (const container of containersOf(pod)) {
    must(at(container, 'securityContext', 'readOnlyRootFilesystem') === true, 'readOnlyRootFilesystem');
    must(at(container, 'resources', 'limits', 'memory') !== undefined, 'a limit of memory');
    must(at(container, 'resources', 'limits', 'cpu') === undefined, 'no limit of processor time');
  }
  return problems;
}

function podTemplatesOf(object: Json): unknown[] {
  if (object.kind === 'StatefulSet') return [at(object, 'spec', 'template')];
  if (object.kind === 'CronJob') return [at(object, 'spec', 'jobTemplate', 'spec', 'template')];
  return [];
}

function podsOf(object: Json): Json[] {
  return podTemplatesOf(object).map((template) => recordOf(at(template, 'spec')));
}

function podLabelsOf(object: Json): Json[] {
  return podTemplatesOf(object).map((template) => recordOf(at(template, 'metadata', 'labels')));
}

function containersOf(pod: unknown): Json[] {
  return listOf(at(pod, 'containers')).map(recordOf);
}

/** The value that the image gives a variable. */
function environmentOfImage(variable: string): string | undefined {
  return new RegExp(`\\b${variable}=(\\S+)`).exec(textOf('Dockerfile'))?.[1];
}

/** The SERVICE_ variables of a container, as the first pod has them. */
function environmentOf(container: Json | undefined): Record<string, string> {
  const entries = listOf(container?.env).map((item) => [
    String(at(item, 'name')),
    String(at(item, 'value')).replace('$(POD_NAME)', 'althing-0'),
  ]);
  return Object.fromEntries(entries.filter(([name]) => name?.startsWith('SERVICE_')));
}

/** The value at a path in another one; undefined where the path ends before. */
function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
