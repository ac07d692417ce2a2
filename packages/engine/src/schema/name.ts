/** Names of collections, procedures, types, enums and their parts. */
export const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;
