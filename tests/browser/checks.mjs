/* checks.mjs - what must hold on every page: nothing that keeps people out, no memory that grows, no click that asks
 * again. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { slowerRun } from './compare.mjs';
import { idle } from './harness.mjs';
import { PAGES } from './pictures.mjs';
import { sampleTrace } from './tasks.mjs';

const axeFile = path.join(process.env.STRATA_BUILD, 'tests/browser/node_modules/axe-core/axe.min.js');

/** Every page, light and wide, dark and narrow, through axe-core, which finds nothing, be it serious or not. */
async function nobodyIsKeptOut(page, daemon) {
    const traces = [await daemon.trace('unet3d-v100'), await slowerRun(daemon), await sampleTrace(daemon)],
        source = await readFile(axeFile, 'utf8');
    const found = [];
    for (const [colorScheme, width] of /** @type {const} */ ([
        ['light', 1440],
        ['dark', 390],
    ])) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        for (const { name, address, ready } of PAGES) {
            await page.goto(daemon.base + address(...traces));
            await page.locator(ready).first().waitFor();
            await idle(page);
            await page.evaluate(source); /* not as a script element, which the site's own policy forbids */
            const { violations } = await page.evaluate(() =>
                window.axe.run(document, { resultTypes: ['violations'] }),
            );
            for (const { id, nodes } of violations)
                found.push(
                    `${name}, ${colorScheme}: ${id}: ${nodes
                        .slice(0, 3)
                        .map((node) => node.html.slice(0, 160))
                        .join(' | ')}`,
                );
        }
    }
    assert.deepEqual(found, []);
}

const TIMERS = 2500; /* ms after which no skeleton waits any more to say what it waits for */

/** What the list of traces holds once nothing unused is left. */
async function held(page, client) {
    await page.waitForTimeout(TIMERS);
    await client.send('HeapProfiler.collectGarbage');
    const { metrics } = await client.send('Performance.getMetrics');
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

const KEYS = ['o', 'l', 'f', 'i', 'm', 'r', 't'];

async function rounds(page, daemon, trace, count) {
    for (let round = 0; round < count; round++) {
        await page.evaluate((id) => {
            history.pushState(null, '', `?page=overview&trace=${id}`);
            dispatchEvent(new PopStateEvent('popstate'));
        }, trace.id);
        await page.locator('.chart canvas').first().waitFor();
        for (const key of KEYS) {
            await page.keyboard.press('g');
            await page.keyboard.press(key);
            await idle(page);
        }
    }
}

async function memoryIsFlat(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    const client = await page.context().newCDPSession(page);
    await client.send('Performance.enable');
    await page.goto(daemon.base);
    await rounds(page, daemon, trace, 4);
    const before = await held(page, client);
    await rounds(page, daemon, trace, 12);
    const after = await held(page, client);
    console.log(
        `   ${(before.JSHeapUsedSize / 2 ** 20).toFixed(1)} MiB, after 84 more pages ${(after.JSHeapUsedSize / 2 ** 20).toFixed(1)} MiB; ${before.Nodes} and ${after.Nodes} nodes, ${before.JSEventListeners} and ${after.JSEventListeners} listeners`,
    );
    assert.ok(after.JSHeapUsedSize < before.JSHeapUsedSize * 1.1 + 2 ** 20, 'the heap stays');
    assert.ok(after.Nodes <= before.Nodes + 20, 'no node is left over');
    assert.ok(after.JSEventListeners <= before.JSEventListeners + 10, 'no listener is left over');
}

/**
 * While a question is on its way, whatever else is clicked: the answer before it must not be drawn with the new
 * question's words.
 */
async function oldAnswersAreNotDrawn(page, daemon) {
    const trace = await daemon.trace('unet3d-v100'),
        filter = 'size > 4096';
    for (const [name, box] of [
        ['overview', '.tiles-box'],
        ['layer', '.tiles'],
        ['flat', '.scores, .legend'],
    ]) {
        let answer;
        const held = new Promise((resolve) => {
            answer = resolve;
        });
        const asked = [];
        await page.route(
            (url) => url.searchParams.get('filter') === filter,
            async (route) => {
                asked.push(new URL(route.request().url()).pathname);
                await held;
                await route.continue();
            },
        );
        await page.goto(`${daemon.base}/?page=${name}&trace=${trace.id}&layer=reader_posix_lustre`);
        await page.locator(box).first().waitFor();
        await idle(page);
        await page
            .locator(box)
            .first()
            .evaluate((element) => {
                element.firstElementChild.dataset.old = 'yes';
            });
        await page.locator('#filter').fill(filter);
        await page.locator('#filter').press('Enter');
        await page.locator('.outdated').first().waitFor();
        await page.evaluate(() => {
            history.pushState(null, '', `${location.search}&as=series&columns=busy&layers=compute`);
            dispatchEvent(new PopStateEvent('popstate'));
        });
        await page.waitForTimeout(100);
        assert.equal(await page.locator('[data-old]').count(), 1, `${name}: the old answer is not drawn anew`);
        assert.ok(
            asked.every((path) => /\/(summary|presets)/.test(path)),
            `${name}: nothing is asked that follows from it: ${asked}`,
        );
        answer();
        await idle(page);
        assert.equal(await page.locator('[data-old]').count(), 0, `${name}: the new answer is`);
        await page.unrouteAll();
    }
}

const SEEN = {
    l: ['layer', '.grid tbody tr'],
    f: ['flat', '.grid tbody tr'],
    r: ['report', '.breakdown-legend li'],
    o: ['overview', 'table.layers'],
};

async function goTo(page, key) {
    const [name, ready] = SEEN[key];
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.waitForFunction((wanted) => new URLSearchParams(location.search).get('page') === wanted, name);
    await page.locator(`main ${ready}`).first().waitFor();
    await idle(page);
}

/** Whoever goes back and forth between pages of a trace waits for no answer: the browser keeps what it was told. */
async function pagesSeenBeforeAskNothing(page, daemon) {
    const trace = await daemon.trace('unet3d-v100'),
        asked = [];
    page.on('request', (request) => {
        if (/\/api\/v1\/traces\/\w+\//.test(request.url())) asked.push(request.url());
    });
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
    await page.locator('.chart canvas').waitFor();
    for (const key of Object.keys(SEEN)) await goTo(page, key);
    assert.ok(asked.length >= 4, 'at first they ask');
    asked.length = 0;
    for (const key of Object.keys(SEEN)) await goTo(page, key);
    assert.deepEqual(asked, []);
}

export const tests = [
    { name: 'checks: nobody is kept out of any page', body: nobodyIsKeptOut },
    { name: 'checks: clicking for long leaves memory as it is', body: memoryIsFlat },
    { name: 'checks: clicks faster than answers draw no old one', body: oldAnswersAreNotDrawn },
    { name: 'checks: pages seen before ask the server nothing', body: pagesSeenBeforeAskNothing },
];
