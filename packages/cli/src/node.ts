/** The one place where the command line meets the package of the server. */
export * from '@althing/node';
