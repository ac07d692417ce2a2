/**
 * The kinds of values that settings have: how each is read from text, checked, and written back.
 */
import { isIP } from 'node:net';
import { isHostName } from './address.js';

/** The value that a text was read as, or why it is none. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false };

/** A kind of value. `parse(format(value))` gives the value back. */
export interface Kind<T> {
  /** The condition of a value, to follow the words "must be". */
  readonly must: string;
  /** The word for a value in a usage line, such as `PORT`. */
  readonly placeholder: string;
  parse(text: string): Parsed<T>;
  format(value: T): string;
}

/** A whole number within bounds, both included. */
export function integer(min: number, max: number, placeholder = 'N'): Kind<number> {
  return {
    must: `a whole number from ${min} to ${max}`,
    placeholder,
    parse: (text) => (/^[+-]?\d{1,15}$/.test(text) ? within(Number(text), min, max) : bad),
    format: String,
  };
}

/** A TCP port; 0 disables the listener. */
export function port(): Kind<number> {
  return integer(0, 65535, 'PORT');
}

/**
 * An amount of bytes, kept in the unit that the key's name says. A bare number is in that unit; `KB`, `MB`
 * and `GB` (also `KiB`, ...; all of them powers of 1024) may follow.
 */
export function size(unit: 'bytes' | 'MB', min: number, max: number): Kind<number> {
  const bytesPerUnit = unit === 'bytes' ? 1 : 1024 ** 2;
  return {
    must: `a whole number of ${unit} from ${min} to ${max}, or a size such as "64MB" in that range`,
    placeholder: unit === 'bytes' ? 'BYTES' : 'MB',
    parse: (text) => scaled(text, sizeSuffixes, bytesPerUnit, min, max),
    format: String,
  };
}

/**
 * A time span, kept in milliseconds. A bare number is milliseconds; `ms`, `s`, `m`, `h` or `d` may follow.
 */
export function duration(min: number, max: number): Kind<number> {
  return {
    must: `a whole number of milliseconds from ${min} to ${max}, or a time such as "30s" in that range`,
    placeholder: 'MS',
    parse: (text) => scaled(text, durationSuffixes, 1, min, max),
    format: String,
  };
}

/** A time span as above, or 0. */
export function durationOrNone(min: number, max: number): Kind<number> {
  const some = duration(min, max);
  return {
    ...some,
    must: `${some.must}, or 0`,
    parse: (text) => (text === '0' ? good(0) : some.parse(text)),
  };
}

/** `true` or `false`, also written `yes`/`no`, `on`/`off`, `1`/`0`. */
export function flag(): Kind<boolean> {
  return {
    must: '"true" or "false"',
    placeholder: 'BOOL',
    parse: (text) => {
      const word = text.toLowerCase();
      if (['true', 'yes', 'on', '1'].includes(word)) return good(true);
      if (['false', 'no', 'off', '0'].includes(word)) return good(false);
      return bad;
    },
    format: String,
  };
}

/** One of some words, in upper or lower case. */
export function choice<const W extends string>(...words: readonly W[]): Kind<W> {
  return {
    must: `one of ${words.join(', ')}`,
    placeholder: 'WORD',
    parse: (text) => {
      const found = words.find((word) => word === text.toLowerCase());
      return found === undefined ? bad : good(found);
    },
    format: (value) => value,
  };
}

/** An IPv4 or IPv6 address to bind to. */
export function address(): Kind<string> {
  return {
    must: 'an IPv4 or IPv6 address ("0.0.0.0" or "::" for all interfaces)',
    placeholder: 'ADDRESS',
    parse: (text) => (isIP(text) === 0 ? bad : good(text)),
    format: (value) => value,
  };
}

/** A list of addresses, and of networks such as `10.0.0.0/8`, separated by commas or blanks. */
export function networks(max: number): Kind<readonly string[]> {
  const must = `a list of at most ${max} addresses or networks such as "10.0.0.0/8", separated by commas`;
  return list(must, max, (items) => (items.every(isNetwork) ? items : null));
}

/** A list of host names and addresses, without ports, separated by commas or blanks; `*` stands for all. */
export function hosts(max: number): Kind<readonly string[]> {
  const must = `a list of at most ${max} host names or addresses without ports, separated by commas, or "*"`;
  const isHost = (item: string): boolean => item === '*' || isHostName(item) || isIP(item) !== 0;
  return list(must, max, (items) => (items.every(isHost) ? items : null));
}

/** A list of procedures of collections, as `stuff.order`, separated by commas or blanks. */
export function procedures(max: number): Kind<readonly string[]> {
  const must = `a list of at most ${max} procedures such as "stuff.order", separated by commas`;
  const isName = (item: string): boolean => /^[A-Za-z_]\w{0,254}\.[A-Za-z_]\w{0,254}$/.test(item);
  return list(must, max, (items) => (items.every(isName) ? [...new Set(items)] : null));
}

/** A list of origins of web pages, as `https://app.example.com:8443`, separated by commas or blanks. */
export function origins(max: number): Kind<readonly string[]> {
  const must = `a list of at most ${max} origins such as "https://app.example.com", separated by commas`;
  const originOf = (item: string): string => new URL(item).origin;
  return list(must, max, (items) => (items.every(isOrigin) ? items.map(originOf) : null));
}

/** A host name or address by which others reach this machine; not a bare number. */
export function hostName(): Kind<string> {
  return {
    must: 'a host name or address that other nodes can reach, not a bare number',
    placeholder: 'NAME',
    parse: (text) => (!/^\d+$/.test(text) && (isHostName(text) || isIP(text) !== 0) ? good(text) : bad),
    format: (value) => value,
  };
}

/**
 * A list of `host` or `host:port` (IPv6 addresses in brackets), separated by commas or blanks; no entry
 * twice.
 */
export function peers(max: number): Kind<readonly string[]> {
  const must = `a list of at most ${max} different nodes, each "host" or "host:port", separated by commas`;
  const isGood = (items: readonly string[]): boolean =>
    new Set(items).size === items.length && items.every(isPeer);
  return list(must, max, (items) => (isGood(items) ? items : null));
}

/** The path of a file or folder. */
export function path(): Kind<string> {
  return { ...text(1, 4096), must: 'a path of at most 4096 bytes', placeholder: 'PATH' };
}

/** Any text on one line. */
export function text(minBytes: number, maxBytes: number): Kind<string> {
  return {
    must: `a text of ${minBytes} to ${maxBytes} bytes without control characters`,
    placeholder: 'TEXT',
    parse: (value) => {
      const length = Buffer.byteLength(value);
      return length < minBytes || length > maxBytes || hasControlCharacter(value) ? bad : good(value);
    },
    format: (value) => value,
  };
}

const bad = { ok: false } as const;

function good<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

function within(value: number, min: number, max: number): Parsed<number> {
  return value >= min && value <= max ? good(value === 0 ? 0 : value) : bad;
}

const sizeSuffixes: ReadonlyMap<string, number> = new Map([
  ['b', 1],
  ['k', 1024],
  ['kb', 1024],
  ['kib', 1024],
  ['m', 1024 ** 2],
  ['mb', 1024 ** 2],
  ['mib', 1024 ** 2],
  ['g', 1024 ** 3],
  ['gb', 1024 ** 3],
  ['gib', 1024 ** 3],
]);

const durationSuffixes: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** A number with an optional suffix, in units of `perUnit`; what is no whole number of units is refused. */
function scaled(
  value: string,
  suffixes: ReadonlyMap<string, number>,
  perUnit: number,
  min: number,
  max: number,
): Parsed<number> {
  const match = /^(\d{1,15}(?:\.\d{1,6})?)\s*([A-Za-z]*)$/.exec(value);
  if (match === null) return bad;
  const [, digits = '', suffix = ''] = match;
  const factor = suffix === '' ? perUnit : suffixes.get(suffix.toLowerCase());
  if (factor === undefined) return bad;
  const result = (Number(digits) * factor) / perUnit;
  return Number.isSafeInteger(result) ? within(result, min, max) : bad;
}

/**
 * A list of items that are separated by commas or blanks.
 *
 * @param read gives the items as they are kept; null if they may not stand there
 */
function list(
  must: string,
  max: number,
  read: (items: readonly string[]) => readonly string[] | null,
): Kind<readonly string[]> {
  return {
    must,
    placeholder: 'LIST',
    parse: (text) => {
      const items = text.split(/[\s,]+/).filter((item) => item !== '');
      const kept = items.length > max ? null : read(items);
      return kept === null ? bad : good(Object.freeze(kept));
    },
    format: (value) => value.join(','),
  };
}

function isNetwork(item: string): boolean {
  const match = /^([0-9A-Fa-f:.]+)(?:\/(\d{1,3}))?$/.exec(item);
  if (match === null) return false;
  const [, address = '', bits = '0'] = match;
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}

function isOrigin(item: string): boolean {
  return /^https?:\/\/[^/?#@\s]+$/i.test(item) && URL.canParse(item);
}

function isPeer(item: string): boolean {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(item);
  if (match === null) return false;
  const [, bracketed, name, portText] = match;
  if (portText !== undefined && (Number(portText) < 1 || Number(portText) > 65535)) return false;
  return bracketed !== undefined ? isIP(bracketed) === 6 : isHostName(name ?? '');
}

function hasControlCharacter(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    if (unit < 0x20 || unit === 0x7f) return true;
  }
  return false;
}
