import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from '../../scripts/chromium.mjs';
import { ROOT } from '../tidy/repository';

const SCREENSHOTS = join(ROOT, 'out', 'ui');
const WORKLOAD = ['--dataset', 'random', '--num-prompts', '300', '--request-rate', '30'];
const PATIENT = { timeout: 60_000 };

describe('the page of a recorded run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-page-'));
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    mkdirSync(SCREENSHOTS, { recursive: true });
    const flags = ['--topology', '2P2D', '--page', '--out', folder];
    execFileSync(join(ROOT, 'bin', 'baton'), ['replay', ...WORKLOAD, ...flags], {
      stdio: 'ignore',
    });
    browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] });
    page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(pathToFileURL(join(folder, 'page.html')).href);
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
    expect(complaints).toEqual([]);
  });

  const clock = (): Promise<string> => page.locator('.player .clock').innerText();
  const inFlight = (): Promise<string> => page.locator('.tiles dd').first().innerText();

  it('plays the run from its beginning, and pauses', async () => {
    await page.getByText('a recorded run').waitFor();
    await expect.poll(clock, PATIENT).not.toMatch(/^0\.0 s/);
    await page.getByRole('button', { name: 'Pause' }).press('Enter');
    const paused = await clock();
    await page.locator('.request-name:visible').first().waitFor();
    await page.screenshot({ path: join(SCREENSHOTS, 'player.png') });
    expect(await clock()).toBe(paused);
  });

  it('goes to any position by keyboard, and shows the same state there each time', async () => {
    const seek = page.getByLabel('Position in the run');
    await seek.press('End');
    const [end] = (await clock()).split(' s of ');
    expect((await clock()).split(' s of ')[1]).toBe(`${end} s`);
    await seek.press('Home');
    for (let i = 0; i < 40; i += 1) await seek.press('ArrowRight');
    const shown = await Promise.all([clock(), inFlight()]);
    expect(Number.parseInt(shown[1], 10)).toBeGreaterThan(0);
    await seek.press('End');
    expect(await inFlight()).toBe('0');
    await seek.press('Home');
    for (let i = 0; i < 40; i += 1) await seek.press('ArrowRight');
    expect(await Promise.all([clock(), inFlight()])).toEqual(shown);
  });

  it('continues at another speed to the end, and then starts again', async () => {
    await page.getByLabel('Speed').selectOption('1000');
    await page.getByRole('button', { name: 'Play' }).press('Enter');
    const play = page.getByRole('button', { name: 'Play' });
    await play.waitFor();
    expect(await inFlight()).toBe('0');
    await page.getByLabel('Speed').selectOption('1');
    await play.press('Enter');
    await expect.poll(inFlight, PATIENT).not.toBe('0');
  });

  it('explains that a recorded run has no timelines', async () => {
    await page.locator('.request-name:visible').first().press('Enter');
    await page.getByRole('dialog').getByText('This page shows a recorded run').waitFor();
    await page.keyboard.press('Escape');
  });
});
