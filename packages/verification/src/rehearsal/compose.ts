/** The Dockerfile and docker-compose.yml, as far as a plain process can do what they say. */
import { parse } from 'yaml';
import { UsageError } from '../harness/usage.js';

export interface Image {
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds between two health checks. */
  readonly healthIntervalMs: number;
}

export interface Service {
  readonly name: string;
  /** Null: the containers are known by their ids. */
  readonly hostname: string | null;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** The environment of the image, with the settings of the service. */
  readonly environment: Readonly<Record<string, string>>;
  /** True if a container that ends is started again. */
  readonly restarts: boolean;
  readonly stopSignal: string;
  /** Milliseconds from the signal to SIGKILL. */
  readonly stopGraceMs: number;
  /** Milliseconds between two health checks, and from the start to the first one. */
  readonly healthIntervalMs: number;
  /** Names of the services that it depends on. */
  readonly dependsOn: readonly string[];
}

/** A file or machine that is not as the rehearsal expects it. */
export class DeploymentError extends UsageError {}

/** The last stage of a Dockerfile. */
export function readImage(dockerfile: string): Image {
  const lines = dockerfile
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n');
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
  const list = (instruction: string): string[] => {
    const line = last.findLast((each) => each.startsWith(`${instruction} [`));
    if (line === undefined) throw new DeploymentError(`the Dockerfile has no ${instruction} in exec form`);
    return textsOf(JSON.parse(line.slice(instruction.length)), instruction);
  };
  const variables = last
    .filter((line) => line.startsWith('ENV '))
    .flatMap((line) => [...line.matchAll(/(\w+)=(\S+)/g)])
    .map(([, name = '', value = '']) => [name, value]);
  return {
    entrypoint: list('ENTRYPOINT'),
    command: list('CMD'),
    environment: Object.fromEntries(variables),
    healthIntervalMs: intervalOf(last.findLast((line) => line.startsWith('HEALTHCHECK ')) ?? ''),
  };
}

/**
 * One service of a compose file. Variables have their defaults.
 *
 * @throws {DeploymentError}
 */
export function readService(compose: string, name: string, image: Image): Service {
  const services = recordOf(
    recordOf(parse(compose, { merge: true }), 'the compose file').services,
    'services',
  );
  const service = recordOf(services[name], `the service ${name}`);
  const own = (key: string, otherwise: readonly string[]): readonly string[] =>
    service[key] === undefined ? otherwise : textsOf(service[key], `${key} of ${name}`);
  const environment = Object.entries(recordOf(service.environment ?? {}, `environment of ${name}`));
  return {
    name,
    hostname: service.hostname === undefined ? null : String(service.hostname),
    entrypoint: own('entrypoint', image.entrypoint).map(filled),
    command: own('command', image.command).map(filled),
    environment: {
      ...image.environment,
      ...Object.fromEntries(environment.map(([key, value]) => [key, filled(String(value))])),
    },
    restarts: service.restart === 'unless-stopped',
    stopSignal: String(service.stop_signal ?? 'SIGTERM'),
    stopGraceMs: secondsOf(String(service.stop_grace_period ?? '10s')) * 1000,
    healthIntervalMs: healthOf(service, name) ?? image.healthIntervalMs,
    dependsOn: Object.keys(recordOf(service.depends_on ?? {}, `depends_on of ${name}`)),
  };
}

/** The time between the health checks of a service, in milliseconds. */
function healthOf(service: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const { interval } = recordOf(service.healthcheck ?? {}, `healthcheck of ${name}`);
  return interval === undefined ? undefined : secondsOf(String(interval)) * 1000;
}

/** Docker's own default is 30 s. */
function intervalOf(instruction: string): number {
  const [, interval = '30s'] = /--interval=(\S+)/.exec(instruction) ?? [];
  return secondsOf(interval) * 1000;
}

/** `${NAME:-default}` is the default; `$$` is a dollar sign. */
function filled(text: string): string {
  return text.replace(/\$\{\w+:-([^}]*)\}/g, '$1').replaceAll('$$', '$');
}

function secondsOf(text: string): number {
  const [, count, unit] = /^(\d+)([sh])$/.exec(text) ?? [];
  if (count === undefined) throw new DeploymentError(`${text} is no time in seconds or hours`);
  return Number(count) * (unit === 'h' ? 3600 : 1);
}

function textsOf(value: unknown, what: string): string[] {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw new DeploymentError(`${what} is no list of texts`);
}

function recordOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new DeploymentError(`${what} is missing, or no mapping`);
}
