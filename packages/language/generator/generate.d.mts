export const GRAMMAR: string;
export function generate(grammarText: string): { path: string; text: string }[];
