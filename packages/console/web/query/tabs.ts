/** Tabs of the query page, and their history. They are kept in the browser within a second, so that no text is ever lost. */
import { effect, type Signal, signal } from '@preact/signals';
import { isShared, keepText, keptText } from '../state/settings.js';
import { VARIABLE_TYPES, type Variable } from './variables.js';

export interface Tab {
  readonly id: string;
  readonly scope: string;
  readonly code: string;
  readonly variables: readonly Variable[];
}

export interface Past {
  readonly scope: string;
  readonly code: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The name that it was saved under; null for what is history only. */
  readonly name: string | null;
}

const TABS = 'tabs';
const HISTORY = 'history';
const SAVED = 'saved';
const HISTORY_MAX = 1000;
/** Longer texts are no history: the browser keeps some megabytes for everything. */
const KEPT_CODE_MAX = 20_000;
/** Delay of a save: with the time until the page hears of what is typed less than a second, also when somebody types without a pause. */
const KEEP_MS = 400;

export const tabs = signal<readonly Tab[]>(keptTabs());
export const currentTab = signal(tabs.value[0]?.id ?? '');
export const past = signal<readonly Past[]>(keptPast(HISTORY));
export const saved = signal<readonly Past[]>(keptPast(SAVED));

keepLater(TABS, tabs);
keepLater(HISTORY, past);
keepLater(SAVED, saved);

/** A tab with a text, beside the others or in the place of an empty one; it becomes the current one. */
export function openTab(scope: string, code: string): void {
  const tab: Tab = { id: newId(), scope, code, variables: [] };
  const isUnused = (each: Tab): boolean => each.code.trim() === '' && each.variables.length === 0;
  tabs.value = [...tabs.value.filter((each) => !isUnused(each)), tab];
  currentTab.value = tab.id;
}

export function changeTab(id: string, change: Partial<Omit<Tab, 'id'>>): void {
  tabs.value = tabs.value.map((tab) => (tab.id === id ? { ...tab, ...change } : tab));
}

export function closeTab(id: string): void {
  const index = tabs.value.findIndex((tab) => tab.id === id);
  const left = tabs.value.filter((tab) => tab.id !== id);
  tabs.value =
    left.length > 0
      ? left
      : [{ id: newId(), scope: tabs.value[index]?.scope ?? '', code: '', variables: [] }];
  if (currentTab.value === id) currentTab.value = tabs.value[Math.max(0, index - 1)]?.id ?? '';
}

/** Notes that a query was run. */
export function remember(scope: string, code: string): void {
  if (code.length > KEPT_CODE_MAX) return;
  const others = past.value.filter((each) => each.scope !== scope || each.code !== code);
  past.value = [{ scope, code, at: Date.now(), name: null }, ...others].slice(0, HISTORY_MAX);
}

export function save(name: string, scope: string, code: string): void {
  const others = saved.value.filter((each) => each.name !== name);
  saved.value = [{ scope, code, at: Date.now(), name }, ...others];
}

export function unsave(name: string | null): void {
  saved.value = saved.value.filter((each) => each.name !== name);
}

function keepLater(name: string, value: Signal<unknown>): void {
  let isFirst = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    timer = undefined;
    keepText(name, JSON.stringify(value.peek()));
  };
  effect(() => {
    void value.value;
    void isShared.value;
    // Whoever types without a pause loses nothing, either.
    if (!isFirst && timer === undefined) timer = setTimeout(flush, KEEP_MS);
    isFirst = false;
  });
  addEventListener('pagehide', flush);
}

/** Without a secure context there is no `randomUUID`. */
function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(8))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

function keptTabs(): readonly Tab[] {
  const found = keptList(TABS).filter(isTab);
  return found.length > 0 ? found : [{ id: newId(), scope: '', code: '', variables: [] }];
}

function keptPast(name: string): readonly Past[] {
  return keptList(name).filter(isPast);
}

function keptList(name: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(keptText(name) ?? '[]');
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

function isTab(value: unknown): value is Tab {
  return (
    hasTexts(value, ['id', 'scope', 'code']) &&
    'variables' in value &&
    Array.isArray(value.variables) &&
    value.variables.every(isVariable)
  );
}

function isVariable(value: unknown): value is Variable {
  return (
    hasTexts(value, ['name', 'type', 'text']) &&
    VARIABLE_TYPES.some((type) => 'type' in value && value.type === type)
  );
}

function isPast(value: unknown): value is Past {
  return (
    hasTexts(value, ['scope', 'code']) && 'at' in value && typeof value.at === 'number' && 'name' in value
  );
}

function hasTexts(value: unknown, names: readonly string[]): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof Reflect.get(value, name) === 'string')
  );
}
