/**
 * The one set of white space that `trim` and `split` share: the characters with the Unicode property White_Space
 * (Unicode 15.1, PropList.txt). JavaScript's own set lacks U+0085 and has U+FEFF. All of them are single units.
 */
export function isSpace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  return (
    unit === 0x85 ||
    unit === 0xa0 ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000
  );
}

/** Offset of the first unit that is no white space. */
export function textStart(text: string): number {
  let start = 0;
  while (start < text.length && isSpace(text.charCodeAt(start))) start++;
  return start;
}

/** Offset behind the last unit that is no white space. */
export function textEnd(text: string): number {
  let end = text.length;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
  return end;
}
