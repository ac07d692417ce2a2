/** Defaults of a scope for the depth of results and for dates. */
export interface ScopeDefaults {
  readonly deep: number;
  readonly timeZone: string;
}

/** The defaults of a cluster where nobody has set any. */
export const FIRST_DEFAULTS: Readonly<Record<'thingsdb' | 'node', ScopeDefaults>> = {
  thingsdb: { deep: 1, timeZone: 'UTC' },
  node: { deep: 127, timeZone: 'UTC' },
};
