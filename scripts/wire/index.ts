/** The exact form of values on the wire, as the tools here need it: ints, floats, text and bytes never mix. */
export {
  decodeMessagePack,
  encodeMessagePack,
  isWireBytes,
  isWireList,
  isWireMap,
  parseJson,
  showValue,
  stringifyJson,
  WireError,
  type WireValue,
  wireMap,
} from '@althing/cli';
