import { expect, test } from '@jest/globals';
import { Launched } from './launch.js';
import { Secrets } from './secrets.js';

test('a secret is found wherever it is printed, and not shown', () => {
  const secrets = new Secrets({
    ALTHING_TOKEN: 'tok-12345',
    ALTHING_URL: 'http://1',
    SHORT_PASSWORD: 'pass',
  });
  secrets.add('pw-67890');
  expect(() => secrets.search('http://1 pass tok-1234')).not.toThrow();
  expect(() => secrets.search('connected with pw-67890!')).toThrow('behind "connected with "');
  expect(() => secrets.search('it is tok-12345', 1)).toThrow('behind "it is "');
  expect(() => secrets.search('tok-12345 was searched before this', 10)).not.toThrow();
});

test('the output of a process is searched for the secrets of its environment', async () => {
  const program = [process.execPath, '-e', "process.stdout.write('no secret: ' + process.env.SHOWN)"];
  const environment = { ADMIN_PASSWORD: 'never-shown', SHOWN: 'never-shown' };
  const failing = new Launched(program, { environment });
  await expect(failing.ended).rejects.toThrow('a secret was printed');
  const well = new Launched(program, { environment: { ...environment, SHOWN: 'nothing' } });
  expect((await well.ended).text).toBe('code 0');
});
