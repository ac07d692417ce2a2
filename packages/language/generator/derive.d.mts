export function createDeriver(grammarText: string): (random: () => number, size: number) => string;
