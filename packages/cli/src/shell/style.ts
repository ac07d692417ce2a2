/** Colours of a terminal: the sixteen that every theme of a terminal brings, so that they fit light and dark. */
export type Style =
  | 'plain'
  | 'dim'
  | 'bold'
  | 'reverse'
  | 'red'
  | 'green'
  | 'yellow'
  | 'blue'
  | 'magenta'
  | 'cyan';

export type Paint = (style: Style, text: string) => string;

const CODES: Readonly<Record<Style, string>> = {
  plain: '',
  dim: '2',
  bold: '1',
  reverse: '7',
  red: '31',
  green: '32',
  yellow: '33',
  blue: '34',
  magenta: '35',
  cyan: '36',
};

export const coloured: Paint = (style, text) =>
  style === 'plain' || text === '' ? text : `\u001b[${CODES[style]}m${text}\u001b[0m`;

export const colourless: Paint = (_, text) => text;
