/** The web console of a node in a real browser, and everything that goes wrong in it. */
import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core';

/** Debian's browser; the variable names another one. */
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Why no browser can be started; null when one can. */
export const browserLack: string | null = existsSync(CHROMIUM) ? null : 'chromium is not installed';

/** A text in the place of the problems that a page reports by itself. */
const REPORTED = 'althing-test:';

/** Two frames: answers are drawn by then, and the requests that they lead to are sent. */
const TWO_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

/** @param args for the browser, besides what it needs to run as root */
export function startBrowser(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', ...args] });
}

export interface Window {
  readonly width: number;
  readonly height: number;
}

export const WIDE: Window = { width: 1280, height: 800 };
export const NARROW: Window = { width: 360, height: 740 };

export class OpenedConsole {
  /** Problems that no page may have: errors, violations of the policy, requests to others. */
  readonly problems: string[] = [];
  /** Requests that are not answered. */
  private readonly pending = new Set<Request>();

  static async open(browser: Browser, url: string, window = WIDE): Promise<OpenedConsole> {
    const context = await browser.newContext({ viewport: window });
    const opened = new OpenedConsole(context, await context.newPage(), url);
    await opened.watch();
    return opened;
  }

  /** Opens a page of the console as somebody who is logged in already. */
  static async openAs(
    browser: Browser,
    url: string,
    authorization: string,
    path: string,
    window = WIDE,
  ): Promise<OpenedConsole> {
    const answer = await fetch(`${url}/@session`, { method: 'POST', headers: { authorization } });
    const { token }: { readonly token: string } = JSON.parse(await answer.text());
    const opened = await OpenedConsole.open(browser, url, window);
    await opened.context.addInitScript(`sessionStorage.setItem('althing.console.session', '${token}')`);
    await opened.visit(`/@console/${path}`);
    await opened.page.getByRole('main', { name: 'Page' }).waitFor();
    return opened;
  }

  private constructor(
    private readonly context: BrowserContext,
    readonly page: Page,
    private readonly url: string,
  ) {
    page.setDefaultTimeout(60_000);
  }

  /** Opens the login. */
  async visit(path = '/'): Promise<void> {
    await this.page.goto(this.url + path);
  }

  async logIn(
    credentials: { readonly user: string; readonly password: string } | { readonly token: string },
  ): Promise<void> {
    const { page } = this;
    if ('token' in credentials) {
      await page.getByRole('button', { name: 'Token' }).click();
      await page.getByLabel('Token', { exact: true }).fill(credentials.token);
    } else {
      await page.getByLabel('User', { exact: true }).fill(credentials.user);
      await page.getByLabel('Password').fill(credentials.password);
    }
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('main', { name: 'Page' }).waitFor();
  }

  /** Goes to a place of the console without loading it again. */
  async go(hash: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  }

  /** Waits until the page has nothing to ask any more. */
  async settled(): Promise<void> {
    // Twice in a row: a part of the console that has come may ask in its turn.
    for (let quiet = 0; quiet < 2; quiet = this.pending.size > 0 ? 0 : quiet + 1)
      await this.page.evaluate(TWO_FRAMES);
  }

  /** Puts code into the editor, in the place of what is there. */
  async write(code: string): Promise<void> {
    const editor = this.page.locator('.cm-content').first();
    await editor.click();
    await this.page.keyboard.press('ControlOrMeta+a');
    await this.page.keyboard.insertText(code);
  }

  async run(code: string): Promise<void> {
    await this.write(code);
    await this.page.getByRole('button', { name: 'Run', exact: true }).click();
  }

  /** Waits until what a read gives is shown. A node that has just come back may refuse it, and says so: then it runs once more. */
  async gives(text: string): Promise<void> {
    const { page } = this;
    const result = page.getByLabel('Result as a tree').getByText(text);
    try {
      await result.waitFor({ timeout: 20_000 });
    } catch {
      console.info(`${text} is not shown: ${await page.getByRole('tabpanel').textContent()}`);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await result.waitFor();
    }
  }

  /**
   * The findings of axe in light and in dark, one line each. In dark it looks at contrasts alone: nothing else differs.
   */
  async barriers(): Promise<string[]> {
    await this.page.evaluate(`window.axe === undefined && (() => { ${axe.source} })()`);
    const found: string[] = [];
    for (const [colorScheme, rules] of [
      ['light', ''],
      ['dark', ", runOnly: ['color-contrast']"],
    ] as const) {
      await this.page.emulateMedia({ colorScheme });
      for (const each of await this.violations(rules)) found.push(`${colorScheme} ${each}`);
    }
    return found;
  }

  private async violations(rules: string): Promise<string[]> {
    const found: string =
      await this.page.evaluate(`axe.run(document, { resultTypes: ['violations']${rules} }).then(({ violations }) =>
      JSON.stringify(violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, any }) => html.slice(0, 160) + ' ' + any.map(({ message }) => message).join()).join(' | '))))`);
    const list: unknown = JSON.parse(found);
    return Array.isArray(list) ? list.map(String) : [found];
  }

  close(): Promise<void> {
    return this.context.close();
  }

  private async watch(): Promise<void> {
    const { page, problems, url } = this;
    await this.context.addInitScript(`document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.warn('${REPORTED} ' + violatedDirective + ' ' + blockedURI))`);
    page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if (message.text().startsWith(REPORTED)) problems.push(message.text());
    });
    page.on('requestfinished', (request) => this.pending.delete(request));
    page.on('requestfailed', (request) => this.pending.delete(request));
    page.on('request', (request) => {
      this.pending.add(request);
      const to = request.url();
      if (!to.startsWith(url) && !to.startsWith('data:') && !to.startsWith('blob:'))
        problems.push(`asked ${to}`);
    });
  }
}
