import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ConfigurationError,
  configurationPage,
  flagOf,
  isLoopback,
  loadConfig,
  portInUse,
  printConfig,
  sections,
  settingKeys,
  settings,
  variableOf,
} from './index.js';
import type { LoadedConfig } from './load.js';

interface Given {
  readonly file?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly flags?: ReadonlyMap<'http_api_port' | 'storage_path', string>;
}

function load(given: Given): LoadedConfig {
  const files: Record<string, string> = { ...given.files };
  if (given.file !== undefined) files['althing.conf'] = given.file;
  return loadConfig({
    ...(given.file === undefined ? {} : { path: 'althing.conf' }),
    ...(given.flags === undefined ? {} : { flags: given.flags }),
    environment: given.environment ?? {},
    hostName: 'ting1',
    readFile: (path) => {
      const content = files[path];
      if (content === undefined) throw Object.assign(new Error('no'), { code: 'ENOENT' });
      return content;
    },
  });
}

function messages(given: Given): string[] {
  try {
    load(given);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems.map((problem) => problem.message);
    throw error;
  }
  throw new Error('the configuration was accepted');
}

describe('the source of a value', () => {
  test('the defaults hold where nothing is set', () => {
    const { config, warnings } = load({});

    expect(config).toMatchObject({
      listenClientPort: 9200,
      httpApiPort: 9210,
      httpStatusPort: 9230,
      listenNodePort: 9220,
      logFormat: 'auto',
      bindClientAddr: '127.0.0.1',
      bindNodeAddr: '127.0.0.1',
      storagePath: './data',
      nodeName: 'ting1',
      adminPassword: undefined,
      resultSizeLimit: 20971520,
      requestSizeLimit: 16 * 1024 * 1024,
      queryDurationLimitMs: 1000,
      cluster: [],
      drainDelayMs: 0,
    });
    expect(warnings).toEqual([]);
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('a flag wins over the environment, that over the file, that over the default', () => {
    const file = 'http_api_port = 1\nhttp_status_port = 2\nlisten_node_port = 3\n';
    const environment = { SERVICE_HTTP_API_PORT: '11', SERVICE_HTTP_STATUS_PORT: '12' };
    const { config, sources } = load({ file, environment, flags: new Map([['http_api_port', '21']]) });

    expect([config.httpApiPort, config.httpStatusPort, config.listenNodePort]).toEqual([21, 12, 3]);
    expect(sources.get('http_api_port')).toBe('--http-api-port');
    expect(sources.get('http_status_port')).toBe('SERVICE_HTTP_STATUS_PORT');
    expect(sources.get('listen_node_port')).toBe('althing.conf line 3');
    expect(sources.get('bind_node_addr')).toBe('default');
  });

  test('an empty value is no value, in the file and in the environment', () => {
    const file = 'http_api_port = 8080\nstorage_path =\n';
    const { config } = load({ file, environment: { SERVICE_HTTP_API_PORT: '' } });

    expect(config.httpApiPort).toBe(8080);
    expect(config.storagePath).toBe('./data');
  });

  test('the drain is delayed in a cluster', () => {
    const file = `cluster = a, b, c\ncluster_secret = ${'s'.repeat(16)}`;
    expect(load({ file }).config.drainDelayMs).toBe(3000);
  });

  test('a host name that is no usable name does not stop a node', () => {
    for (const hostName of ['123456789012', 'bad name', '']) {
      expect(loadConfig({ environment: {}, hostName }).config.nodeName).toBe('localhost');
    }
  });
});

describe('the file', () => {
  test('sections, comments, blank lines, CRLF and a byte order mark are skipped; inner blanks are kept', () => {
    const file =
      '\uFEFF# a\r\n; b\r\n\r\n[thingsdb]\r\n  storage_path = /a b/c # d  \r\n[x]\r\nlog_level=Debug\r\n';
    const { config, warnings } = load({ file });

    expect(config.storagePath).toBe('/a b/c # d');
    expect(config.logLevel).toBe('debug');
    expect(warnings).toEqual([]);
  });

  test('a key that only ThingsDB needs is a warning', () => {
    const { warnings } = load({
      file: '[thingsdb]\nshutdown_period = 6\nhttp_api_port = 9211\ngcloud_key_file = x\n',
    });

    expect(warnings).toEqual([
      'shutdown_period (althing.conf line 2) is ignored: see drain_delay_ms and shutdown_timeout_ms',
      'gcloud_key_file (althing.conf line 4) is ignored: there are no cloud backups',
    ]);
  });

  test('all problems are reported at once, each with its line', () => {
    const file = [
      'http_api_port = ninety',
      'no equals sign',
      'http_api_prt = 1',
      'completely_different = 1',
      'log_level = loud',
      'log_level = info',
      '= 3',
    ].join('\n');

    expect(messages({ file })).toEqual([
      'althing.conf line 2: "no equals sign" is not of the form "key = value"',
      'althing.conf line 6: "log_level" was set in line 5 already; remove one of the two',
      'althing.conf line 7: "= 3" is not of the form "key = value"',
      'althing.conf line 3: unknown key "http_api_prt"; did you mean http_api_port?',
      'althing.conf line 4: unknown key "completely_different"; "althing serve --help" lists the keys',
      'http_api_port = "ninety" (from althing.conf line 1): must be a whole number from 0 to 65535',
      'log_level = "loud" (from althing.conf line 5): must be one of debug, info, warning, error, critical',
    ]);
  });

  test('a bad value is an error also where another source wins', () => {
    const environment = { SERVICE_HTTP_API_PORT: '9211' };
    expect(messages({ file: 'http_api_port = x', environment })).toHaveLength(1);
  });

  test('a file that is not there is an error', () => {
    expect(() => loadConfig({ path: '/nowhere/althing.conf', environment: {} })).toThrow(
      'can\'t read the file "/nowhere/althing.conf": there is no such file',
    );
  });
});

describe('the environment', () => {
  test('a bad value names its variable', () => {
    expect(messages({ environment: { SERVICE_HTTP_API_PORT: 'ninety' } })).toEqual([
      'http_api_port = "ninety" (from SERVICE_HTTP_API_PORT): must be a whole number from 0 to 65535',
    ]);
  });

  test('the whole text of the error says where it belongs', () => {
    expect(() => load({ environment: { SERVICE_HTTP_API_PORT: 'ninety' } })).toThrow(
      'configuration: http_api_port = "ninety" (from SERVICE_HTTP_API_PORT): must be a whole number from 0 to 65535',
    );
  });

  test.each([
    ['SERVICE_HTTP_API_PROT', 'SERVICE_HTTP_API_PORT'],
    ['SERVICE_HTTPAPI_PORT', 'SERVICE_HTTP_API_PORT'],
    ['SERVICE_STORAGEPATH', 'SERVICE_STORAGE_PATH'],
    ['SERVICE_ADMIN_PASSWORD_FLE', 'SERVICE_ADMIN_PASSWORD_FILE'],
    ['SERVICE_storage_path', 'SERVICE_STORAGE_PATH'],
  ])('%s looks like a slip of the pen', (variable, meant) => {
    expect(messages({ environment: { [variable]: '1' } })).toEqual([
      `${variable} is no setting; did you mean ${meant}?`,
    ]);
  });

  test('a variable that begins with SERVICE_ and is no setting is a warning; one that an orchestrator injects for our own service is none', () => {
    const environment = {
      SERVICE_PORT: 'tcp://10.0.0.1:80',
      SERVICE_PORT_80_TCP_ADDR: '10.0.0.1',
      SERVICE_HOST: '10.0.0.1',
      SERVICE_GCLOUD_KEY_FILE: 'x',
      ALTHING_SERVICE_HOST: '10.0.0.2',
      ALTHING_PORT: 'tcp://10.0.0.2:9210',
    };

    expect(load({ environment }).warnings).toEqual([
      'the variable SERVICE_PORT is ignored: there is no such setting',
      'the variable SERVICE_PORT_80_TCP_ADDR is ignored: there is no such setting',
      'the variable SERVICE_HOST is ignored: there is no such setting',
      'the variable SERVICE_GCLOUD_KEY_FILE is ignored: there are no cloud backups',
    ]);
  });

  test('variables of ThingsDB count where it has the same setting, below our own; others are told of', () => {
    const environment = {
      THINGSDB_HTTP_API_PORT: '1',
      THINGSDB_LISTEN_CLIENT_PORT: '2',
      SERVICE_LISTEN_CLIENT_PORT: '3',
      THINGSDB_IP_SUPPORT: 'IPV4ONLY',
      THINGSDB_LOG_LEVEL: 'debug',
      THINGSDB_ZONE: '3',
      THINGSDB_BACKUP_PATH: 'b',
      THINGSDB_SHUTDOWN_PERIOD: '6',
      THINGSDB_START: '1',
      // A flag of the command line.
      THINGSDB_INIT: '1',
    };
    const { config, sources, warnings } = load({ environment });

    expect([config.httpApiPort, config.listenClientPort, config.ipSupport]).toEqual([1, 3, 'ipv4only']);
    expect([config.logLevel, config.zone]).toEqual(['debug', 3]);
    expect(sources.get('http_api_port')).toBe('THINGSDB_HTTP_API_PORT');
    expect(warnings).toEqual([
      'the variable THINGSDB_BACKUP_PATH is ignored: write SERVICE_BACKUP_PATH',
      'the variable THINGSDB_SHUTDOWN_PERIOD is ignored: see drain_delay_ms and shutdown_timeout_ms',
      'the variable THINGSDB_START is ignored: there is no such setting',
    ]);
    expect(() => load({ environment: { THINGSDB_WS_PORT: '70000' } })).toThrow('THINGSDB_WS_PORT');
  });
});

describe('secrets', () => {
  const password = 'correct horse';

  test('come from a variable, a key, or a file that either names; one final line break is not part of them', () => {
    const files = { '/run/secret': `${password}\n` };
    const sources: Given[] = [
      { environment: { SERVICE_ADMIN_PASSWORD: password } },
      { file: `admin_password = ${password}` },
      { environment: { SERVICE_ADMIN_PASSWORD_FILE: '/run/secret' }, files },
      { file: 'admin_password_file = /run/secret', files },
      { file: 'admin_password = other', environment: { SERVICE_ADMIN_PASSWORD_FILE: '/run/secret' }, files },
    ];
    expect(sources.map((given) => load(given).config.adminPassword)).toEqual(sources.map(() => password));
  });

  test('both spellings in one source, and a file that is not there, are errors', () => {
    const both = { SERVICE_ADMIN_PASSWORD: 'x', SERVICE_ADMIN_PASSWORD_FILE: '/run/secret' };
    expect(messages({ environment: both })).toEqual([
      'admin_password (from SERVICE_ADMIN_PASSWORD) and admin_password_file (from SERVICE_ADMIN_PASSWORD_FILE) are both set; remove one of the two',
    ]);
    expect(messages({ environment: { SERVICE_ADMIN_PASSWORD_FILE: '/run/secret' } })).toEqual([
      'admin_password (from SERVICE_ADMIN_PASSWORD_FILE, file "/run/secret"): can\'t be read: there is no such file',
    ]);
  });

  test('are never shown: not in errors, not in the printed configuration', () => {
    const tooShort = messages({ environment: { SERVICE_CLUSTER_SECRET: 'abcdef' } });
    const printed = printConfig(load({ environment: { SERVICE_ADMIN_PASSWORD: password } }));

    expect(tooShort).toHaveLength(1);
    expect(tooShort[0]).not.toContain('abcdef');
    expect(printed).not.toContain(password);
    expect(printed).toContain('admin_password = ********');
  });

  test('have no flag', () => {
    expect([flagOf('admin_password'), flagOf('cluster_secret')]).toEqual([undefined, undefined]);
    expect(flagOf('http_api_port')).toBe('--http-api-port');
  });
});

describe('kinds of values', () => {
  test.each([
    ['request_size_limit', '16777216', 16777216],
    ['request_size_limit', '2 MB', 2097152],
    ['request_size_limit', '2MiB', 2097152],
    ['result_size_limit', '0.25g', 268435456],
    ['cache_size_mb', '64', 64],
    ['cache_size_mb', '64MB', 64],
    ['cache_size_mb', '1GB', 1024],
    ['cache_size_mb', '16384 kb', 16],
    ['query_duration_limit_ms', '250', 250],
    ['query_duration_limit_ms', '2s', 2000],
    ['query_duration_limit_ms', '0.5s', 500],
    ['checkpoint_interval_ms', '5m', 300_000],
    ['checkpoint_interval_ms', '1h', 3_600_000],
    ['cluster', 'a, b:9221,[::1]:9222 10.0.0.1', ['a', 'b:9221', '[::1]:9222', '10.0.0.1']],
    ['bind_client_addr', '::', '::'],
    ['max_connection_age_ms', '0', 0],
    ['max_connection_age_ms', '10m', 600_000],
    ['trusted_proxies', '10.0.0.0/8, fd00::/8 192.0.2.1', ['10.0.0.0/8', 'fd00::/8', '192.0.2.1']],
  ])('%s = %s', (key, text, expected) => {
    // A cluster is refused without a secret.
    const environment = { SERVICE_CLUSTER_SECRET: 's'.repeat(16) };
    const { config } = load({ file: `${key} = ${text}`, environment });
    const fields = new Map<string, unknown>(Object.entries(config));
    const field = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    expect(fields.get(field)).toEqual(expected);
  });

  test.each([
    ['http_api_port', '65536'],
    ['http_api_port', '-1'],
    ['http_api_port', '9210.0'],
    ['http_api_port', '0x10'],
    ['http_api_port', '"9210"'],
    ['cache_size_mb', '100KB'],
    ['cache_size_mb', '64 parsecs'],
    ['query_duration_limit_ms', '0.1ms'],
    ['query_duration_limit_ms', '1e3'],
    ['bind_client_addr', 'localhost'],
    ['bind_client_addr', '300.0.0.1'],
    ['node_name', '46'],
    ['node_name', 'a b'],
    ['node_name', 'x'.repeat(300)],
    ['cluster', 'a,a'],
    ['cluster', 'a:0'],
    ['cluster', '::1'],
    ['max_connection_age_ms', '999'],
    ['trusted_proxies', '10.0.0.0/33'],
    ['trusted_proxies', '10.0.0/8'],
    ['trusted_proxies', 'fe80::1%eth0'],
    ['trusted_proxies', 'lb'],
    ['storage_path', 'a\u0000b'],
    ['storage_path', 'x'.repeat(5000)],
  ])('refused: %s (%#)', (key, text) => {
    const [message, ...more] = messages({ file: `${key} = ${text}` });
    expect(message).toMatch(new RegExp(`^${key} = ".*" \\(from althing.conf line 1\\): must be `));
    expect(more).toEqual([]);
  });

  test('every default is a value of its kind and reads back from what is printed', () => {
    const printed = printConfig(load({}));
    expect(load({ file: printed }).config).toEqual(load({}).config);
  });

  test('no text whatever is anything but accepted or refused', () => {
    const keys = fc.constantFrom(...settingKeys);
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.double().map(String), fc.bigInt().map(String));
    fc.assert(
      fc.property(keys, texts, (key, text) => {
        const parsed = settings[key].kind.parse(text);
        expect(typeof parsed.ok).toBe('boolean');
      }),
    );
  });
});

describe('relations between settings', () => {
  test.each([
    ['heartbeat_ms = 500', 'heartbeat_ms must be at most a third of election_timeout_ms'],
    ['tls_cert_file = a.pem', 'tls_cert_file and tls_key_file must be set together'],
    ['request_memory_limit_mb = 18', 'result_size_limit must not exceed request_memory_limit_mb'],
    ['tls_client_ca_file = a.pem', 'tls_client_ca_file needs'],
    ['tls_api_client_ca_file = a.pem', 'tls_api_client_ca_file needs'],
    ['cluster = a, b', 'cluster needs cluster_secret'],
    ['wait_for_invitation = true', 'wait_for_invitation needs a cluster_secret'],
    ['login_backoff_limit_ms = 5', 'login_backoff_ms must not exceed'],
    ['code_size_limit = 32MB', 'code_size_limit must not exceed'],
    ['drain_delay_ms = 50s', 'drain_delay_ms must be below'],
    ['http_api_port = 9230', 'must be different'],
  ])('%s is refused', (file, message) => {
    const found = messages({ file });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(message);
    expect(found[0]).toContain('(althing.conf line 1)');
  });

  test('several listeners may be disabled', () => {
    const { config } = load({ file: 'http_api_port = 0\nhttp_status_port = 0' });
    expect([config.httpApiPort, config.httpStatusPort]).toEqual([0, 0]);
  });
});

describe('addresses', () => {
  test.each(['127.0.0.1', '127.1.2.3', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', 'localhost'])(
    '%s is loopback',
    (address) => expect(isLoopback(address)).toBe(true),
  );

  test.each(['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '::ffff:10.0.0.1', 'fe80::1', 'example.org', ''])(
    '%s is not',
    (address) => expect(isLoopback(address)).toBe(false),
  );
});

describe('the table', () => {
  test('every setting stands in exactly one section', () => {
    const keys = sections.flatMap((section) => section.keys);
    expect(new Set(keys).size).toBe(keys.length);
    expect([...keys].sort()).toEqual(Object.keys(settings).sort());
  });

  test('the reference page is current: run "npm run docs"', () => {
    const page = new URL('../../../../docs/configuration.md', import.meta.url);
    expect(readFileSync(page, 'utf8')).toBe(configurationPage());
  });

  test('spellings', () => {
    expect(variableOf('http_api_port')).toBe('SERVICE_HTTP_API_PORT');
    expect(portInUse('http_api_port', '127.0.0.1', 9210).message).toBe(
      'configuration: http_api_port = 9210: the port is in use on 127.0.0.1; stop the process that listens there or choose another port',
    );
  });
});
