import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { DeploymentError, readImage, readService } from './compose.js';

const textOf = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../${name}`, import.meta.url)), 'utf8');

describe('the image', () => {
  test('is read from the last stage of the Dockerfile', () => {
    const image = readImage(textOf('Dockerfile'));
    expect(image.entrypoint.slice(-2)).toEqual(['node', '/app/packages/cli/bin/althing.js']);
    expect(image.command).toEqual(['serve']);
    expect(image.healthIntervalMs).toBe(5000);
    expect(image.environment).toMatchObject({ SERVICE_STORAGE_PATH: '/data', TZ: 'UTC' });
  });

  test('must have an entry point in exec form', () => {
    expect(() => readImage('FROM a\nENTRYPOINT ["a"]\nFROM b\nENTRYPOINT b\n')).toThrow(DeploymentError);
  });
});

describe('a service', () => {
  const image = {
    entrypoint: ['program'],
    command: ['serve'],
    environment: { A: '1', B: '2' },
    healthIntervalMs: 5000,
  };

  test('a service of the compose file is as it is there, with the defaults of variables', () => {
    const service = readService(textOf('docker-compose.yml'), 'node1', readImage(textOf('Dockerfile')));
    expect(service).toMatchObject({
      hostname: 'node1',
      command: ['serve'],
      restarts: true,
      stopSignal: 'SIGTERM',
      stopGraceMs: 60_000,
      healthIntervalMs: 2000,
      dependsOn: ['secrets', 'guard'],
      environment: {
        SERVICE_CLUSTER: 'node0:9220,node1:9220,node2:9220',
        SERVICE_CLUSTER_SECRET_FILE: '/secrets/cluster_secret',
        SERVICE_LOG_LEVEL: 'info',
        SERVICE_STORAGE_PATH: '/data',
      },
    });
  });

  test('has what the image has, unless it says something else', () => {
    const text = 'services: {a: {environment: {B: "$${B}"}}, b: {entrypoint: [sh], restart: unless-stopped}}';
    expect(readService(text, 'a', image)).toEqual({
      name: 'a',
      hostname: null,
      entrypoint: ['program'],
      command: ['serve'],
      // A dollar sign that is written twice is one.
      environment: { A: '1', B: `${'$'}{B}` },
      restarts: false,
      stopSignal: 'SIGTERM',
      stopGraceMs: 10_000,
      healthIntervalMs: 5000,
      dependsOn: [],
    });
    expect(readService(text, 'b', image)).toMatchObject({ entrypoint: ['sh'], restarts: true });
  });

  test.each([
    ['that is missing', 'services: {}'],
    ['with a command that is no list', 'services: {a: {command: serve}}'],
    ['with a time in another unit', 'services: {a: {stop_grace_period: 1m}}'],
  ])('%s is refused', (_what, text) => {
    expect(() => readService(text, 'a', image)).toThrow(DeploymentError);
  });
});
