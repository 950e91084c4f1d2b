import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from '../../scripts/chromium.mjs';
import { ROOT } from '../tidy/repository';

const SITE = join(ROOT, 'dist', 'site');
const SCREENSHOTS = join(ROOT, 'out', 'ui');

/** A page of the built site, opened without a server. */
function fileOf(name: string): string {
  return pathToFileURL(join(SITE, name)).href;
}

describe('the guide, opened from its files', () => {
  let browser: Browser;
  let page: Page;
  const errors: string[] = [];

  beforeAll(async () => {
    mkdirSync(SCREENSHOTS, { recursive: true });
    if (!existsSync(SITE)) throw new Error('The guide is not built. Run npm run docs:site.');
    browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] });
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.on('pageerror', (error) => errors.push(error.message));
  });
  afterAll(async () => {
    await browser.close();
    expect(errors).toEqual([]);
  });

  it('has its styles, and links that lead to other pages', async () => {
    await page.goto(fileOf('index.html'));
    const { width } = (await page.locator('.VPSidebar').boundingBox())!;
    expect(width).toBeLessThan(400);
    await page.locator('.VPSidebar').getByText('Test a gateway or router').click();
    expect(page.url()).toBe(fileOf('tutorials/gateway.html'));
    await page.locator('.VPNavBarTitle a').click();
    expect(page.url()).toBe(fileOf('index.html'));
  });

  it('draws its pictures', async () => {
    await page.goto(fileOf('concepts.html'));
    await page.locator('pre.mermaid svg').first().waitFor();
    await page.screenshot({ path: join(SCREENSHOTS, 'guide.png') });
  });

  it.each([
    ['configuration', 'baton.schema.json'],
    ['validation', 'validation-serving.csv'],
  ])('holds the file that %s links to', async (name, file) => {
    await page.goto(fileOf(`${name}.html`));
    const href = await page.locator(`a[href$="${file}"]`).getAttribute('href');
    expect(new URL(href!, page.url()).href).toBe(fileOf(file));
    expect(existsSync(join(SITE, file))).toBe(true);
  });

  it('finds a section by a word', async () => {
    await page.goto(fileOf('tutorials/gateway.html'));
    await page.keyboard.press('Control+k');
    await page.keyboard.type('glossary');
    await page.locator('.search-from-file').getByText('Glossary', { exact: true }).click();
    expect(page.url()).toContain(fileOf('GLOSSARY.html'));
  });

  it('opens a folded group of the list, and folds it again', async () => {
    await page.goto(fileOf('index.html'));
    const group = page.locator('.VPSidebarItem', { hasText: 'Decisions' }).last();
    const entry = page.locator('.VPSidebar a[href*="decisions/"]').first();
    expect(await entry.isVisible()).toBe(false);
    await group.getByText('Decisions', { exact: true }).click();
    expect(await entry.isVisible()).toBe(true);
    await group.getByText('Decisions', { exact: true }).click();
    expect(await entry.isVisible()).toBe(false);
  });

  it.each(['.VPNavBarHamburger', '.VPLocalNav .menu'])(
    'opens the list of pages with %s in a narrow window',
    async (button) => {
      await page.setViewportSize({ width: 390, height: 800 });
      await page.goto(fileOf('replay.html'));
      const pages = page.locator('.VPSidebar');
      expect((await pages.boundingBox())!.x).toBeLessThan(0);
      await page.locator(button).click();
      await pages.getByText('Test a gateway or router').click();
      expect(page.url()).toBe(fileOf('tutorials/gateway.html'));
    },
  );
});
