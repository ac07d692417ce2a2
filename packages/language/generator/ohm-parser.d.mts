export type OhmResult =
  | { readonly accepted: true; readonly statements: unknown }
  | { readonly accepted: false; readonly position: number; readonly message: string };

export function createOhmParser(
  grammarText: string,
  makers: Record<string, unknown>,
): (source: string) => OhmResult;
