import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from '../../scripts/chromium.mjs';
import { stream } from '../support/client';
import { TestCluster } from '../support/cluster';
import { ROOT } from '../tidy/repository';

/** Part of every prompt. The page must never show it. */
const SECRET = 'zebrafish';
const SCREENSHOTS = join(ROOT, 'out', 'ui');
const STEPS = ['--step-time=constant', '--time-to-first-token=120', '--inter-token-latency=15'];

/** A busy machine updates the page late. */
const PATIENT = { timeout: 60_000 };

describe('the live page in a browser', () => {
  let cluster: TestCluster;
  let browser: Browser;
  let page: Page;
  let traffic: Promise<void>[] = [];
  let isOver = false;
  /** Errors of the page, and requests to other hosts. Both lists must stay empty. */
  let complaints: string[] = [];

  beforeAll(async () => {
    mkdirSync(SCREENSHOTS, { recursive: true });
    const flags = [...STEPS, '--enable-admin'];
    [cluster, browser] = await Promise.all([
      TestCluster.start({ topology: '2P2D', flags }),
      chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] }),
    ]);
    traffic = Array.from({ length: 12 }, (_none, i) => keepAsking(i));
  });
  afterAll(async () => {
    isOver = true;
    await Promise.all(traffic);
    await browser.close();
    await cluster.stop();
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints).toEqual([]);
  });

  async function keepAsking(client: number): Promise<void> {
    for (let i = 0; !isOver; i += 1) {
      const prompt = `${SECRET} ${client} `.repeat(30 + ((client + i) % 7) * 20);
      const body = { prompt, max_tokens: 20 + ((client * 7 + i) % 60), ignore_eos: true };
      await stream(`${cluster.baseUrl}/v1/completions`, body);
    }
  }

  async function open(
    options: Parameters<Browser['newContext']>[0] = {},
    stream?: string,
  ): Promise<void> {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 1000 },
      ...options,
    });
    page = await context.newPage();
    const type = { contentType: 'text/event-stream' };
    if (stream)
      await page.route('**/ui/stream', (route) => route.fulfill({ ...type, body: stream }));
    complaints = [];
    page.on('console', (message) => {
      const text = message.text();
      // The test itself reads the pixels back, which causes this warning.
      if (text.startsWith('Canvas2D: Multiple readback')) return;
      if (['error', 'warning'].includes(message.type())) complaints.push(text);
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(`${cluster.baseUrl}/`)) complaints.push(request.url());
    });
    await page.goto(`${cluster.baseUrl}/ui`);
    if (stream === undefined) {
      await page.getByRole('status').getByText('live', { exact: true }).first().waitFor();
    }
    await page.locator('.request-name:visible').first().waitFor();
  }

  /** Pixels of the drawing that are not empty. */
  function drawnPixels(): Promise<number> {
    return page.evaluate<number>(`(() => {
      const canvas = document.querySelector('canvas.dots');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((value, i) => i % 4 === 3 && value > 0).length;
    })()`);
  }

  it('shows each engine as a lane, its requests, and their prompt and output tokens', async () => {
    await open();
    expect(await page.locator('.pool.prefill .lane').count()).toBe(2);
    expect(await page.locator('.pool.decode .lane').count()).toBe(2);
    await expect.poll(drawnPixels, PATIENT).toBeGreaterThan(100);
    const loads = page.locator('.pool.decode .lane-load');
    await expect
      .poll(async () => (await loads.allTextContents()).join(), PATIENT)
      .toMatch(/[1-9]\d* running/);
    const figures = (): Promise<string> => page.locator('.tiles').innerText();
    await expect.poll(figures, PATIENT).toMatch(/ITL\s*\?\s*[\d.]+ .s/);
    expect(await page.locator('.chart canvas').count()).toBe(3);
    await page.screenshot({ path: join(SCREENSHOTS, 'light.png') });
  });

  it('opens the timeline of a request by keyboard alone, and restores the focus', async () => {
    await open();
    await page.locator('input[type=search]').focus();
    // Tab from the button of the search to the form that sends a request, then to the first row.
    for (let i = 0; i < 3; i += 1) await page.keyboard.press('Tab');
    const first = await page.evaluate<string>('document.activeElement.className');
    expect(first).toBe('request-name');
    await page.keyboard.press('ArrowDown');
    const name = await page.evaluate<string>('document.activeElement.textContent');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.locator('svg.timeline .bar.prefill').first().waitFor();
    expect(await dialog.getByRole('heading').textContent()).toBe(name);
    await dialog.locator('svg.timeline .step').first().waitFor({ state: 'attached' });
    const phases = await dialog.locator('table').first().locator('tbody th').allTextContents();
    expect(phases.slice(0, 4)).toEqual(['queue', 'prefill', 'hold', 'transfer']);
    await page.screenshot({ path: join(SCREENSHOTS, 'timeline.png') });
    await page.getByRole('button', { name: 'Until the first token' }).press('Enter');
    expect(await dialog.locator('[aria-pressed=true]').count()).toBe(1);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe(name);
  });

  it('keeps the row of one request in place while it has the focus', async () => {
    await open();
    await page.locator('.request-name').first().focus();
    const focused = (): Promise<string> =>
      page.evaluate<string>('document.activeElement.textContent');
    const name = await focused();
    const row = page.locator('tr', { hasText: name });
    // The other rows show other requests by now. The focused row outlasts its request.
    await expect.poll(() => row.getAttribute('class'), PATIENT).toBe('phase-ended');
    const others = await page.locator('.request-name').allTextContents();
    await expect
      .poll(async () => (await page.locator('.request-name').allTextContents()).join(), PATIENT)
      .not.toBe(others.join());
    expect(await focused()).toBe(name);
  });

  it('sends a request of the size in the form, and opens its timeline', async () => {
    await open();
    await page.getByText('Send a request').press('Enter');
    await page.getByLabel('Prompt tokens').fill('40');
    await page.getByLabel('Output tokens').fill('30');
    await page.getByRole('button', { name: 'Send and follow' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: /^cmpl-page-/ }).waitFor();
    await dialog.locator('svg.timeline .bar.decode').first().waitFor();
  });

  it('explains its parts and the health of the cluster by keyboard', async () => {
    await open();
    const queue = page.locator('.station.queue .explain');
    await queue.locator('summary').press('Enter');
    await queue.getByText('Requests that no engine has taken yet.').waitFor();
    await page.keyboard.press('Escape');
    expect(await queue.getAttribute('open')).toBe(null);
    for (const part of ['.step-times-part', '.requests', '.settings']) {
      const explained = page.locator(`${part} .explain`);
      await explained.locator('summary').press('Enter');
      await explained.locator('p').waitFor();
    }
    const health = page.getByRole('region', { name: 'Health' });
    await health.locator('summary').first().press('Enter');
    await expect.poll(() => health.locator('p').first().isVisible(), PATIENT).toBe(true);
  });

  it('opens a request by a click on its dot', async () => {
    await open({ reducedMotion: 'reduce' });
    const frame = page.locator('.flow-frame');
    const dialog = page.getByRole('dialog');
    let hint = '';
    // A request may end between the check and the click.
    const openOne = async (): Promise<boolean> => {
      const lane = (await page.locator('.pool.decode .slots').first().boundingBox())!;
      const [x, y] = [lane.x + 8, lane.y + 8 + Math.random() * 20];
      await page.mouse.move(x, y);
      if (!(await frame.getAttribute('class'))?.includes('at-request')) return false;
      hint = (await page.locator('.hint').textContent()) ?? '';
      await page.mouse.click(x, y);
      return dialog.isVisible();
    };
    await expect.poll(openOne, PATIENT).toBe(true);
    expect(hint).toMatch(/^cmpl-.*\ndecode D0\n\d+ prompt tokens/);
  });

  it('finds a request by its id, and says so when there is none', async () => {
    await open();
    await page.locator('input[type=search]').fill('nobody');
    await page.keyboard.press('Enter');
    await page.getByText('No timeline of this request is kept.').waitFor();
    // The browser itself logs the 404 answer.
    complaints = complaints.filter((text) => !text.includes('404'));
  });

  it('is readable in dark colours and in a narrow window', async () => {
    await open({ colorScheme: 'dark', viewport: { width: 390, height: 844 } });
    const colour = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(colour).toBe('rgb(18, 21, 26)');
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      390,
    );
    await page.screenshot({ path: join(SCREENSHOTS, 'dark-narrow.png') });
    await page.setViewportSize({ width: 1440, height: 1000 });
    await expect.poll(drawnPixels, PATIENT).toBeGreaterThan(100);
    await page.screenshot({ path: join(SCREENSHOTS, 'dark.png') });
  });

  it('shows no text of prompts and answers', async () => {
    await open();
    await expect.poll(drawnPixels, PATIENT).toBeGreaterThan(100);
    expect(await page.content()).not.toContain(SECRET);
    await page.locator('.request-name:visible').first().press('Enter');
    await page.locator('svg.timeline').waitFor();
    expect(await page.content()).not.toContain(SECRET);
  });

  it.each([32, 56, 16, 0])(
    'holds 64 engines, %d of them prefill, and 2,000 requests in a window of 1280 x 720',
    async (prefills) => {
      await open({ viewport: { width: 1280, height: 720 } }, largePicture(prefills));
      await expect.poll(drawnPixels, PATIENT).toBeGreaterThan(2_000 * 4);
      type Lane = { bottom: number; cut: number; area: number };
      const lanes = await page.evaluate<Lane[]>(`[...document.querySelectorAll('.lane')].map(
        (lane) => {
          const facts = lane.querySelector('.lane-facts');
          const slots = lane.querySelector('.slots').getBoundingClientRect();
          return {
            bottom: lane.getBoundingClientRect().bottom,
            cut: facts.scrollWidth - facts.clientWidth,
            area: slots.width * slots.height,
          };
        },
      )`);
      expect(lanes).toHaveLength(64);
      expect(Math.max(...lanes.map(({ bottom }) => bottom))).toBeLessThanOrEqual(720);
      expect(lanes.filter(({ cut }) => cut > 0)).toEqual([]);
      expect(Math.min(...lanes.map(({ area }) => area))).toBeGreaterThan(1_500);
      await page.screenshot({ path: join(SCREENSHOTS, `large-${prefills}.png`) });
    },
  );

  it('requires the admin key on another machine', async () => {
    await open({ extraHTTPHeaders: { 'x-forwarded-for': '192.0.2.1' } });
    const settings = page.getByRole('region', { name: 'Settings' });
    const ask = async (key: string): Promise<void> => {
      await settings.getByLabel('Admin key').fill(key);
      await settings.getByRole('button', { name: 'Use this key' }).click();
    };
    await ask('wrong');
    await settings.getByText('needs the admin key').waitFor();
    await ask(/made for this run .*: (\S+)/.exec(cluster.log)?.[1] ?? '');
    await settings.getByLabel('placement', { exact: true }).waitFor();
    await settings.getByText('More settings').click();
    await settings.getByRole('button', { name: 'Apply' }).click();
    await settings.getByText('No setting was changed.').waitFor();
    complaints = complaints.filter((text) => !text.includes('401'));
  });

  it('adds an engine, shows it in the header, and removes it again', async () => {
    await open();
    const settings = page.getByRole('region', { name: 'Settings' });
    const about = page.locator('.about');
    await settings.getByLabel('Role of the new engine').selectOption('decode');
    await settings.getByRole('button', { name: 'Add' }).click();
    await settings.getByText('The engine loads, then joins.').waitFor();
    await expect.poll(() => about.textContent(), PATIENT).toContain('· 2P3D (started as 2P2D) ·');
    await settings.getByLabel('Engine', { exact: true }).selectOption('D2');
    await settings.getByRole('button', { name: 'Remove' }).click();
    await expect.poll(() => about.textContent(), PATIENT).toContain('· 2P2D ·');
    expect(await page.locator('.health').innerText()).not.toContain('lost');
  });

  it('keeps the pool of a role whose last engine is lost, and explains the loss', async () => {
    await open();
    const health = page.getByRole('region', { name: 'Health' });
    await health.locator('summary').first().press('Enter');
    const pool = page.getByRole('region', { name: 'Decode engines' });
    const lost = pool.getByText('No engine of this role is running.');
    const pids = await cluster.pidsOf('decode');
    expect(await lost.isVisible()).toBe(false);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    try {
      await lost.waitFor(PATIENT);
      expect(await pool.innerText()).toContain('0 engines');
      // The explanation stays open when the finding changes.
      await health.getByText('The engine sends no heartbeat').waitFor(PATIENT);
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    }
    await expect.poll(() => pool.innerText(), PATIENT).toContain('2 engines');
    expect(await lost.isVisible()).toBe(false);
  });

  it('changes settings of the cluster, and explains invalid ones', async () => {
    await open();
    const settings = page.getByRole('region', { name: 'Settings' });
    await settings.getByLabel('placement', { exact: true }).selectOption('round-robin');
    await settings.getByRole('button', { name: 'Apply' }).click();
    await settings.getByText('Changed: placement.').waitFor();
    const view = (await (await fetch(`${cluster.baseUrl}/admin/config`)).json()) as {
      settings: { placement: string };
    };
    expect(view.settings.placement).toBe('round-robin');
    await settings.getByLabel('example of a fault').selectOption({ index: 2 });
    expect(await settings.getByLabel('faults').inputValue()).toMatch(/"queue"/);
    await settings.getByLabel('faults').fill('[{"at": "moon"}]');
    await settings.getByRole('button', { name: 'Apply' }).click();
    await expect
      .poll(() => settings.getByRole('status').textContent(), PATIENT)
      .toMatch(/^faults\[0\]/);
    complaints = complaints.filter((text) => !text.includes('400'));
  });
});

/** The stream of one picture: 64 engines, `prefills` of them prefill, with requests on all. */
function largePicture(prefills: number): string {
  const others = prefills > 0 ? 'decode' : 'aggregated';
  const engines = Array.from({ length: 64 }, (_none, index) => ({
    id: `engine-${index}`,
    index,
    role: index < prefills ? 'prefill' : others,
    state: 'ready',
    running: 31,
    waiting: 2,
    kvUsage: (index % 32) / 32,
    heldBlocks: 5,
    numBlocks: 100,
    stepMs: 12.5,
    steps: 10,
  }));
  const keys = Array.from({ length: 2_000 }, (_none, key) => key);
  const names = keys.map((key) => [key, `cmpl-${key}`, 100, 50]);
  const requests = keys.flatMap((key) => {
    const phase = key < 200 ? 0 : key < 300 ? 1 : key < 350 ? 2 : 3;
    const place = phase === 3 ? prefills + (key % (64 - prefills)) : key % (prefills || 64);
    return [key, phase, place, key % 50];
  });
  const rates = { ttftMs: { p50: 90, p99: 200 }, itlMs: { p50: 12, p99: 15 } };
  const picture = {
    at: Date.now(),
    engines,
    phases: [200, 100, 50, 1_650],
    requests,
    names,
    stepTimes: [],
    ended: [],
    waiting: { prefill: 200, decode: 50, aggregated: 0 },
    rates: {
      ...rates,
      tokensPerSecond: 9_000,
      requestsPerSecond: 70,
      finishedPerSecond: 70,
      refusedPerSecond: 0,
      refusals: [],
    },
  };
  const hello = {
    api: 'api',
    version: '0',
    model: 'm',
    topology: prefills > 0 ? `${prefills}P${64 - prefills}D` : '64A',
    speedup: 1,
    intervalMs: 250,
    hasSettings: false,
    names: [],
  };
  const event = (name: string, data: object): string =>
    `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  return `retry: 600000\n\n${event('hello', hello)}${event('picture', picture)}`;
}
