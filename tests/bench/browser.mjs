/* browser.mjs - how long the dashboard lets people wait, in a real browser: prints one JSON object of milliseconds.
 *
 *   node browser.mjs ADDRESS TRACE first|pages
 *
 * first: from the opening of Overview to its first figure; everything is new to the browser.  pages: from a click to
 * the last change in the window, charts included, for pages that were seen before; from the end of a drag over the chart
 * of time to the last change; the longest task of the main thread while rows are grouped otherwise.
 * Finds playwright-core in the build folder, STRATA_BUILD. */

import { createRequire } from 'node:module';
import path from 'node:path';

const { chromium } = createRequire(path.join(process.env.STRATA_BUILD, 'tests/browser/package.json'))(
    'playwright-core',
);
const [base, trace, what] = process.argv.slice(2);
const ROUNDS = 5;
const QUIET_MS = 300; // nothing changed for so long: the page is settled
const LIMIT_MS = 15000; // a page that changes all the time is not waited for longer
const PAGES = [
    'overview',
    'findings',
    'layer',
    'flat',
    'overlap',
    'flame',
    'steps',
    'query',
    'report',
    'timeline',
];

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/* Runs in the page: does something, and waits until nothing changes any more. */
function watching([quiet, limit]) {
    const watch = /** @type {any} */ (window);
    watch.settles = (act) =>
        new Promise((resolve) => {
            const start = performance.now();
            let last = start,
                longest = 0;
            const tasks = new PerformanceObserver((list) => {
                for (const { startTime, duration } of list.getEntries())
                    if (startTime >= start - 1) longest = Math.max(longest, duration);
            });
            tasks.observe({ entryTypes: ['longtask'] });
            let changed = new Map(); // element -> when; looked at later, since to ask where one is takes long
            const changes = new MutationObserver((all) => {
                const now = performance.now();
                for (const { target } of all) changed.set(target, now);
            });
            changes.observe(document.body, { childList: true, subtree: true });
            const look = () => {
                for (const [element, when] of changed)
                    if (element.getBoundingClientRect().top < innerHeight) last = Math.max(last, when);
                changed = new Map();
                const waits = document.querySelector('main[aria-busy="true"], main .outdated, main .skeleton');
                const now = performance.now();
                if ((!waits && last > start && now - last > quiet) || now - start > limit) {
                    tasks.disconnect();
                    changes.disconnect();
                    resolve({ settled: last - start, longest });
                } else setTimeout(look, 50);
            };
            act?.();
            look();
        });
    watch.goes = (href) =>
        watch.settles(() => {
            const link = document.createElement('a');
            link.href = href;
            document.body.append(link);
            link.click();
            link.remove();
        });
}

async function firstFigure(page) {
    await page.addInitScript(() => {
        const look = () =>
            document.querySelector('.answer, .tile data')
                ? requestAnimationFrame(() => {
                      /** @type {any} */ (window).firstFigure = performance.now();
                  })
                : setTimeout(look, 2);
        look();
    });
    await page.goto(`${base}/?page=overview&trace=${trace}`);
    await page.waitForFunction(() => /** @type {any} */ (window).firstFigure);
    return { first: await page.evaluate(() => /** @type {any} */ (window).firstFigure) };
}

const go = (page, place) =>
    page.evaluate(
        (href) => /** @type {any} */ (window).goes(href),
        `?${new URLSearchParams({ trace, ...place })}`,
    );

async function switches(page) {
    const times = Object.fromEntries(PAGES.map((name) => [name, []]));
    for (let round = 0; round <= ROUNDS; round++) {
        for (const name of PAGES) {
            const { settled } = await go(page, { page: name });
            if (round > 0) times[name].push(settled); // the first round asks
        }
    }
    return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
}

/** Each to a range that nobody asked for before. */
async function brushes(page) {
    const times = [];
    for (let round = 0; round < ROUNDS; round++) {
        await go(page, { page: 'overview' });
        await page.locator('.card[aria-label="Over time"] .chart canvas').first().scrollIntoViewIfNeeded();
        const box = await page.locator('.card[aria-label="Over time"] .chart canvas').first().boundingBox();
        const y = box.y + box.height / 2,
            at = (share) => box.x + box.width * share;
        await page.mouse.move(at(0.2 + round * 0.03), y);
        await page.mouse.down();
        await page.mouse.move(at(0.5), y, { steps: 4 });
        await page.mouse.move(at(0.6 + round * 0.03), y, { steps: 4 });
        const settles = page.evaluate(() => /** @type {any} */ (window).settles());
        await page.mouse.up();
        times.push((await settles).settled);
    }
    return median(times);
}

async function groupings(page) {
    let longest = 0;
    for (const where of ['layer', 'flat']) {
        await go(page, { page: where });
        for (let round = 0; round < 2; round++)
            for (const by of ['process', 'file_name', 'func_name', 'time_range'])
                longest = Math.max(longest, (await go(page, { page: where, by })).longest);
    }
    return longest;
}

const browser = await chromium.launch({
    executablePath: process.env.STRATA_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu'],
});
try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(30000);
    if (what === 'first') console.log(JSON.stringify(await firstFigure(page)));
    else {
        await page.addInitScript(watching, [QUIET_MS, LIMIT_MS]);
        await page.goto(`${base}/?page=overview&trace=${trace}`);
        await page.evaluate(() => /** @type {any} */ (window).settles());
        const grouping = await groupings(page);
        console.log(JSON.stringify({ pages: await switches(page), brush: await brushes(page), grouping }));
    }
} finally {
    await browser.close();
}
