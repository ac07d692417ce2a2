/**
 * Exact numbers for msgpackr. In JavaScript the float 1.0 and the int 1 are one number, and msgpackr writes both as the int;
 * what it reads as a float comes back like an int. Two of its seams, which its own types of values use, too, tell them
 * apart: the view through which it reads numbers, and extensions that write bytes of their own. Neither is in its
 * documentation: the tests of this package hold each byte, and msgpackr's version is pinned.
 */
import { addExtension, Packr, Unpackr } from 'msgpackr';

/** A float, as it was read. What was read as a number is an int. */
export class ReadFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A value that msgpackr would write in another form: it is written as these bytes. */
export class Verbatim {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** The form that msgpackr writes: a number that is no integer is a float. */
export type Writable =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | Verbatim
  | readonly Writable[]
  | ReadonlyMap<string, Writable>;

/** Writes one value. */
export function pack(value: Writable): Buffer {
  return packr.pack(value);
}

/**
 * Reads one value, which has to take all of the bytes. Ints are numbers or bigints, floats are {@link ReadFloat}, maps are
 * `Map`s; of extension types msgpackr knows some.
 *
 * @throws {Error} of msgpackr's, when the bytes are cut off or more than a value
 */
export function unpack(bytes: Uint8Array): unknown {
  // A view of its own, since a property is put on it.
  const source = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return unpackr.unpack(Object.assign(source, { dataView: new TellingView(source) }));
}

/** The numbers of a buffer, as msgpackr asks for them: lengths and ints as they are, floats as floats. */
class TellingView {
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  getInt8 = (at: number): number => this.#view.getInt8(at);
  getInt16 = (at: number): number => this.#view.getInt16(at);
  getInt32 = (at: number): number => this.#view.getInt32(at);
  getBigInt64 = (at: number): bigint => this.#view.getBigInt64(at);
  getUint8 = (at: number): number => this.#view.getUint8(at);
  getUint16 = (at: number): number => this.#view.getUint16(at);
  getUint32 = (at: number): number => this.#view.getUint32(at);
  getBigUint64 = (at: number): bigint => this.#view.getBigUint64(at);
  getFloat32 = (at: number): ReadFloat => new ReadFloat(this.#view.getFloat32(at));
  getFloat64 = (at: number): ReadFloat => new ReadFloat(this.#view.getFloat64(at));
}

/** Gives an extension room for so many bytes. */
type Allocate = (size: number) => { readonly target: Uint8Array; readonly position: number };

declare module 'msgpackr' {
  function addExtension(extension: {
    Class: typeof Verbatim;
    type: number;
    pack(value: Verbatim, allocate: Allocate): void;
  }): void;
}

addExtension({
  Class: Verbatim,
  // Has to be given; without a value to return, nothing of this type is written.
  type: 1,
  pack({ bytes }, allocate) {
    const { target, position } = allocate(bytes.length);
    target.set(bytes, position);
  },
});

const packr = new Packr({ useRecords: false, variableMapSize: true });
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: false, copyBuffers: true });
