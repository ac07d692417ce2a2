import type { Predicate } from './char-set.js';

/**
 * Characters with certain Unicode properties, by the runtime's own tables: those that a JavaScript character class
 * has. The answers are remembered in blocks that are filled when they are first asked for.
 */
export class PropertyTable implements Predicate {
  readonly #run: RegExp;
  readonly #blocks: (Uint8Array | undefined)[] = [];

  /** @param classBody inside of a JavaScript character class (flag v) */
  constructor(classBody: string) {
    this.#run = new RegExp(`[${classBody}]+`, 'gv');
  }

  test(code: number): boolean {
    const block = (this.#blocks[code >> BLOCK_BITS] ??= this.#fill(code >> BLOCK_BITS));
    return block[code & (BLOCK_SIZE - 1)] === 1;
  }

  #fill(index: number): Uint8Array {
    const first = index << BLOCK_BITS;
    let text = '';
    for (let i = 0; i < BLOCK_SIZE; i++) text += String.fromCodePoint(first + i);
    const block = new Uint8Array(BLOCK_SIZE);
    const units = first > 0xffff ? 2 : 1;
    for (const match of text.matchAll(this.#run)) {
      block.fill(1, match.index / units, (match.index + match[0].length) / units);
    }
    return block;
  }
}

/** The property tables of one pattern. Equal ones are made once. */
export class PropertyTables {
  readonly #tables = new Map<string, PropertyTable>();

  /**
   * The table of the characters that have one of the properties, each given by a body from propertyBody(). Null when
   * the pattern has too many different ones.
   */
  table(bodies: readonly string[]): PropertyTable | null {
    const key = [...new Set(bodies)].sort().join('');
    let table = this.#tables.get(key);
    if (table === undefined) {
      if (this.#tables.size >= TABLES_MAX) return null;
      table = new PropertyTable(key);
      this.#tables.set(key, table);
    }
    return table;
  }
}

/**
 * A property by the name that stands in `\p{..}`, as part of a JavaScript character class (flag v), or null when
 * there is none. Case, blanks, `_` and `-` in the name do not matter. A bare script name means its script extensions,
 * as `scx:` does; `sc:` means the script alone.
 */
export function propertyBody(name: string, negated: boolean): string | null {
  const body = classBody(name.toLowerCase().replaceAll(/[ \t\n\v\f\r_-]/g, ''));
  if (body === null) return null;
  return negated ? `[^${body}]` : body;
}

const BLOCK_BITS = 8;
const BLOCK_SIZE = 1 << BLOCK_BITS;
const TABLES_MAX = 32;

function classBody(loose: string): string | null {
  const [, prefix, value] = /^(sc|script|scx|scriptextensions)[:=](.*)$/.exec(loose) ?? [];
  if (prefix !== undefined && value !== undefined) {
    return scriptBody(value, prefix === 'sc' || prefix === 'script' ? 'sc' : 'scx');
  }
  const special = SPECIAL.get(loose);
  if (special !== undefined) return special;
  const category = CATEGORIES.get(loose);
  if (category !== undefined) return `\\p{${category}}`;
  const script = scriptBody(loose, 'scx');
  if (script !== null) return script;
  const binary = BINARY_PROPERTIES.get(loose);
  return binary === undefined ? null : `\\p{${binary}}`;
}

function scriptBody(loose: string, kind: 'sc' | 'scx'): string | null {
  if (loose === 'unknown' || loose === 'zzzz') return '\\p{Cn}\\p{Co}\\p{Cs}';
  const script = SCRIPTS.get(loose);
  return script === undefined ? null : `\\p{${kind}=${script}}`;
}

const CATEGORIES = byLooseName(
  'C Cc Cf Cn Co Cs L Ll Lm Lo Lt Lu LC M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs',
);

/** Names that Perl-compatible engines add to those of Unicode. */
const SPECIAL: ReadonlyMap<string, string> = new Map([
  ['any', '\\u{0}-\\u{10ffff}'],
  ['l&', '\\p{LC}'],
  ['xan', '\\p{L}\\p{N}'],
  ['xwd', '\\p{L}\\p{N}_'],
  ['xsp', '\\p{Z}\\t-\\r\\x85\\u180e'],
  ['xps', '\\p{Z}\\t-\\r\\x85\\u180e'],
  ['xuc', '\\x24\\x40\\x60\\xa0-\\ud7ff\\ue000-\\u{10ffff}'],
]);

const BINARY_PROPERTIES =
  byLooseName(`ASCII ASCII_Hex_Digit:AHex Alphabetic:Alpha Bidi_Control:Bidi_C Bidi_Mirrored:Bidi_M
Case_Ignorable:CI Cased Changes_When_Casefolded:CWCF Changes_When_Casemapped:CWCM Changes_When_Lowercased:CWL
Changes_When_Titlecased:CWT Changes_When_Uppercased:CWU Dash Default_Ignorable_Code_Point:DI Deprecated:Dep
Diacritic:Dia Emoji Emoji_Component:EComp Emoji_Modifier:EMod Emoji_Modifier_Base:EBase Emoji_Presentation:EPres
Extended_Pictographic:ExtPict Extender:Ext Grapheme_Base:GrBase Grapheme_Extend:GrExt Hex_Digit:Hex
IDS_Binary_Operator:IDSB IDS_Trinary_Operator:IDST ID_Continue:IDC ID_Start:IDS Ideographic:Ideo Join_Control:JoinC
Logical_Order_Exception:LOE Lowercase:Lower Math Noncharacter_Code_Point:NChar Pattern_Syntax:PatSyn
Pattern_White_Space:PatWS Quotation_Mark:QMark Radical Regional_Indicator:RI Sentence_Terminal:STerm Soft_Dotted:SD
Terminal_Punctuation:Term Unified_Ideograph:UIdeo Uppercase:Upper Variation_Selector:VS White_Space:space
XID_Continue:XIDC XID_Start:XIDS`);

const SCRIPTS =
  byLooseName(`Adlam:Adlm Ahom Anatolian_Hieroglyphs:Hluw Arabic:Arab Armenian:Armn Avestan:Avst Balinese:Bali
Bamum:Bamu Bassa_Vah:Bass Batak:Batk Bengali:Beng Bhaiksuki:Bhks Bopomofo:Bopo Brahmi:Brah Braille:Brai Buginese:Bugi
Buhid:Buhd Canadian_Aboriginal:Cans Carian:Cari Caucasian_Albanian:Aghb Chakma:Cakm Cham Cherokee:Cher Chorasmian:Chrs
Common:Zyyy Coptic:Copt:Qaac Cuneiform:Xsux Cypriot:Cprt Cypro_Minoan:Cpmn Cyrillic:Cyrl Deseret:Dsrt Devanagari:Deva
Dives_Akuru:Diak Dogra:Dogr Duployan:Dupl Egyptian_Hieroglyphs:Egyp Elbasan:Elba Elymaic:Elym Ethiopic:Ethi
Georgian:Geor Glagolitic:Glag Gothic:Goth Grantha:Gran Greek:Grek Gujarati:Gujr Gunjala_Gondi:Gong Gurmukhi:Guru
Han:Hani Hangul:Hang Hanifi_Rohingya:Rohg Hanunoo:Hano Hatran:Hatr Hebrew:Hebr Hiragana:Hira Imperial_Aramaic:Armi
Inherited:Zinh:Qaai Inscriptional_Pahlavi:Phli Inscriptional_Parthian:Prti Javanese:Java Kaithi:Kthi Kannada:Knda
Katakana:Kana Kawi Kayah_Li:Kali Kharoshthi:Khar Khitan_Small_Script:Kits Khmer:Khmr Khojki:Khoj Khudawadi:Sind
Lao:Laoo Latin:Latn Lepcha:Lepc Limbu:Limb Linear_A:Lina Linear_B:Linb Lisu Lycian:Lyci Lydian:Lydi Mahajani:Mahj
Makasar:Maka Malayalam:Mlym Mandaic:Mand Manichaean:Mani Marchen:Marc Masaram_Gondi:Gonm Medefaidrin:Medf
Meetei_Mayek:Mtei Mende_Kikakui:Mend Meroitic_Cursive:Merc Meroitic_Hieroglyphs:Mero Miao:Plrd Modi Mongolian:Mong
Mro:Mroo Multani:Mult Myanmar:Mymr Nabataean:Nbat Nag_Mundari:Nagm Nandinagari:Nand New_Tai_Lue:Talu Newa Nko:Nkoo
Nushu:Nshu Nyiakeng_Puachue_Hmong:Hmnp Ogham:Ogam Ol_Chiki:Olck Old_Hungarian:Hung Old_Italic:Ital
Old_North_Arabian:Narb Old_Permic:Perm Old_Persian:Xpeo Old_Sogdian:Sogo Old_South_Arabian:Sarb Old_Turkic:Orkh
Old_Uyghur:Ougr Oriya:Orya Osage:Osge Osmanya:Osma Pahawh_Hmong:Hmng Palmyrene:Palm Pau_Cin_Hau:Pauc Phags_Pa:Phag
Phoenician:Phnx Psalter_Pahlavi:Phlp Rejang:Rjng Runic:Runr Samaritan:Samr Saurashtra:Saur Sharada:Shrd Shavian:Shaw
Siddham:Sidd SignWriting:Sgnw Sinhala:Sinh Sogdian:Sogd Sora_Sompeng:Sora Soyombo:Soyo Sundanese:Sund Syloti_Nagri:Sylo
Syriac:Syrc Tagalog:Tglg Tagbanwa:Tagb Tai_Le:Tale Tai_Tham:Lana Tai_Viet:Tavt Takri:Takr Tamil:Taml Tangsa:Tnsa
Tangut:Tang Telugu:Telu Thaana:Thaa Thai Tibetan:Tibt Tifinagh:Tfng Tirhuta:Tirh Toto Ugaritic:Ugar Vai:Vaii
Vithkuqi:Vith Wancho:Wcho Warang_Citi:Wara Yezidi:Yezi Yi:Yiii Zanabazar_Square:Zanb`);

/** Full names by full and short name without case and underscores, from a list of `Full_Name:Short`. */
function byLooseName(list: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const entry of list.split(/\s+/)) {
    const all = entry.split(':');
    for (const name of all) names.set(name.toLowerCase().replaceAll('_', ''), all[0]!);
  }
  return names;
}
