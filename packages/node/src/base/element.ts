/**
 * The element of a list at an index that the caller knows to be there.
 *
 * @throws Error when it is not: a defect, or a message whose lists do not fit together
 */
export function elementAt<T>(list: { readonly [index: number]: T }, index: number): T {
  const element = list[index];
  if (element === undefined) throw new Error(`there is no element ${index}`);
  return element;
}
