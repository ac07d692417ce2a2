import { describe, expect, test } from '@jest/globals';
import { Budget, compileRegex, Subject } from './regex.js';
import { Random } from './testing.js';
import { isEmail, isTel, isUrl } from './text-forms.js';

describe('email', () => {
  test.each(['bo@home', '.@-', 'a..b@c', 'a@b.c-d.e', 'o\u2019neil@home', '`{|}~!#$%&*+/=?^_-.@x', 'a@1'])(
    '%s',
    (text) => {
      expect(isEmail(text)).toBe(true);
    },
  );

  test.each([
    ...['', 'bo', '@home', 'bo@', 'bo@home.', 'bo@.home', 'bo@ho..me', 'bo li@home', 'bo@ho_me', 'bo@@home'],
    ...['bo,li@home', 'zoë@home', 'bo@hömе', '"bo"@home', "o'neil@home", 'bo@home\n', 'bo@home\nx', 'a@b\0'],
  ])('not %j', (text) => {
    expect(isEmail(text)).toBe(false);
  });
});

describe('url', () => {
  const host = 'h'.repeat(256);

  test.each([
    ...[
      'http://h',
      'https://example.org',
      'ftp://files.example.org/pub/x.tgz',
      'http://h:8080/p/q?r=s&t=u#v',
    ],
    ...[
      'http://me:pw@h/',
      'http://h/%7Ehome/~me',
      'http://a_b',
      'https://h?x',
      'http://#a',
      'https://h//',
      `http://${host}`,
    ],
    `http://${host}/`,
  ])('%s', (text) => {
    expect(isUrl(text)).toBe(true);
  });

  test.each([
    ...[
      '',
      'http://',
      'http:/h',
      'HTTP://h',
      'gopher://h',
      'h',
      'http://-',
      'http://..',
      'http://?h',
      'http:///h',
    ],
    ...[
      `http://${host}a`,
      'http://h(1)',
      'http://h,x',
      "http://h'",
      'http://h h',
      'http://hé',
      'http://h\n',
      'http://é',
    ],
  ])('not %j', (text) => {
    expect(isUrl(text)).toBe(false);
  });
});

describe('tel', () => {
  test.each([
    ...[
      '123',
      '1 2 3',
      '+1 555 1234',
      '+1234',
      '(020)123',
      '(1)-(2).345',
      '(1) (2)\t345',
      '12345678901234567890',
    ],
    ...['123-', '1234-5678-9012-3456-7890', '(1234)-1-2-3', '1\n2\v3'],
  ])('%j', (text) => {
    expect(isTel(text)).toBe(true);
  });

  test.each([
    ...[
      '',
      '12',
      '+',
      '++123',
      '1  2 3',
      '123456789012345678901',
      '1 2 3 4 5 6',
      '123.456.789',
      '+1 (555) 123 4567',
    ],
    ...['()123', '(12345)678', '(1)(2)(3)456', '123x', ' 123', '123/456', '(123', '(12)', '٣٣٣'],
  ])('not %j', (text) => {
    expect(isTel(text)).toBe(false);
  });
});

describe('the same languages as patterns', () => {
  const seed = Number(process.env.ALTHING_TEST_SEED);
  test.each([
    [
      'email',
      isEmail,
      '^[A-Za-z0-9.!#$%&*+/=?^_`{|}~\u2019-]+@[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*$',
      'a1.-@_!\u2019é ',
    ],
    ['url', isUrl, '^(?:https?|ftp)://(?=[-\\w@:%.+~#=?&/]+$)[^?&/]{1,256}?\\b', 'a_-.:/?&#@ é'],
    ['tel', isTel, '^\\+?(?:\\(\\d{1,4}\\)[-\\s.]?){0,2}(?:\\d{1,4}[-\\s]?){3,5}$', '1234()+- .'],
  ])(`%s (seed ${seed})`, (name, isForm, pattern, alphabet) => {
    const random = new Random(seed);
    const regex = compileRegex(pattern, '');
    let accepted = 0;
    for (let i = 0; i < 20_000; i++) {
      let text = name === 'url' ? 'http://' : name === 'email' && random.below(2) === 0 ? 'a@' : '';
      for (let n = random.below(8); n > 0; n--) text += alphabet[random.below(alphabet.length)];
      const expected = regex.exec(new Subject(text), 0, new Budget()) !== null;
      if (isForm(text) !== expected)
        throw new Error(`${JSON.stringify(text)} (seed ${seed}): should be ${expected}`);
      if (expected) accepted++;
    }
    expect(accepted).toBeGreaterThan(100);
  });

  test('take time in proportion to the text', () => {
    for (const isForm of [isEmail, isUrl, isTel]) {
      for (const text of [
        '1'.repeat(1_000_000),
        `a@${'b.'.repeat(500_000)}`,
        `http://${'-'.repeat(1_000_000)}`,
      ]) {
        expect(isForm(text)).toBe(false);
      }
    }
  });
});
