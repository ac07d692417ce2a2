/**
 * Whoever uses the library reads what it exports: everything has a comment, and so has every call of a node.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

const FOLDER = new URL('./', import.meta.url);
const door = readFileSync(new URL('index.d.ts', FOLDER), 'utf8');

/** Names that the door exports, with the file that declares them. */
const exported = [...door.matchAll(/export (?:type )?\{([^}]*)\} from '\.\/(\w+)\.js'/g)].flatMap(
  ([, names = '', file = '']) =>
    names.split(',').flatMap((part) => {
      const name = part.trim().replace(/^type /, '');
      return name === '' ? [] : [{ name, file }];
    }),
);

describe('the documentation of types', () => {
  test('covers all that the door exports', () => {
    expect(exported.length).toBeGreaterThan(80);
    const bare = exported.filter(({ name, file }) => {
      const text = readFileSync(new URL(`${file}.d.ts`, FOLDER), 'utf8');
      return !new RegExp(
        `\\*/\\s*export (?:declare )?(?:const|function|class|interface|type) ${name}\\b`,
      ).test(text);
    });
    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  test.each([
    ['node', 'RaftNode'],
    ['memorylog', 'MemoryLog'],
    ['hostlog', 'LogView'],
    ['config', 'RaftConfig'],
    ['config', 'RaftOptions'],
    ['readying', 'Ready'],
    ['readying', 'SoftState'],
    ['status', 'Status'],
    ['status', 'PeerStatus'],
    ['writes', 'Write'],
    ['types', 'Entry'],
    ['types', 'HardState'],
    ['types', 'SnapshotMeta'],
    ['types', 'Membership'],
  ])('covers the members of %s: %s', (file, name) => {
    const text = readFileSync(new URL(`${file}.d.ts`, FOLDER), 'utf8');
    const body =
      new RegExp(`(?:class|interface) ${name}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(text)?.[1] ?? '';
    const lines = body.split('\n');
    const bare = lines.filter((line, at) => {
      const member = /^ {4}(?!private|\/|\*|\}|constructor)[\w]/.test(line);
      return member && !/\*\/\s*$/.test(lines[at - 1] ?? '');
    });
    expect(body).not.toBe('');
    expect(bare).toEqual([]);
  });
});
