import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';

/** The output of a logger in another process, since it writes to standard output. */
function logged(format: 'json' | 'text', fields: object, message = 'event'): string {
  const url = new URL('./logger.js', import.meta.url).href;
  const program = `
    const { createLogger } = await import(${JSON.stringify(url)});
    const log = createLogger({ level: 'info', format: '${format}', nodeName: 'n' });
    log.info(JSON.parse(process.env.FIELDS), process.env.MESSAGE);
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env: { FIELDS: JSON.stringify(fields), MESSAGE: message },
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout;
}

const EVIL = 'a\r\nb\n{"level":"fatal"}\u001b[31mred\u009b0m\u2028\u202eevil\u0000"\\';

describe('the log', () => {
  test.each(['json', 'text'] as const)(
    'an event is one line of the log as %s, whatever is in it',
    (format) => {
      const output = logged(format, { event: 'x', text: EVIL });
      expect(output.split('\n')).toHaveLength(2);
      expect(output).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202e]/);
    },
  );

  test('a field of the log as JSON can be read again, with what is unsafe written out', () => {
    const line = JSON.parse(logged('json', { event: 'x', text: EVIL }));
    expect(line).toMatchObject({ level: 'info', node: 'n', event: 'x', msg: 'event' });
    expect(line.text).toBe(
      EVIL.replace('\u009b', '\\u009b').replace('\u2028', '\\u2028').replace('\u202e', '\\u202e'),
    );
  });

  test('long fields are cut', () => {
    const line = JSON.parse(
      logged('json', { event: 'x', text: 'y'.repeat(1_000), long: 'z'.repeat(100_000) }),
    );
    expect(line.text).toBe('y'.repeat(1000));
    expect(line.long).toBe(`${'z'.repeat(1000)}...`);
  });
});
