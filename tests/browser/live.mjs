/* live.mjs - a trace whose files are still written: added with the switch on, figures that grow without a reload and
 * without an empty page, and the switch off. */

import assert from 'node:assert/strict';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { tileNumber } from './harness.mjs';

const EVENTS = 400;

function lines(from, count) {
    let text = '';
    for (let i = from; i < from + count; i++)
        text += `${JSON.stringify({ id: i, name: i % 3 ? 'read' : 'open', cat: 'POSIX', pid: 1, tid: 1, ts: 1.7e15 + i * 1000, dur: 400, ph: 'X', args: { ret: 4096 } })}\n`;
    return text;
}

/** Notes in the page whether the figures were ever gone. */
async function watchForBlanks(page) {
    await page.evaluate(() => {
        const seen = { blanks: [], marked: true };
        Object.assign(window, { liveSeen: seen });
        const look = () => {
            const shown = (words) => [...document.querySelectorAll(words)].filter((one) => !one.closest('.staging'));
            const tiles = shown('.tiles-box:not([hidden]) .tile').length;
            const [table] = shown('table.layers');
            if (tiles === 0 || !table)
                seen.blanks.push(`${tiles} tiles: ${document.querySelector('main')?.innerText.slice(0, 300)}`);
            requestAnimationFrame(look);
        };
        look();
    });
}

/** A click whose press and release the trace's growth falls between: no row is drawn anew below a pressed mouse. */
async function clickWhileItGrows(page, link, grow, events) {
    const listed = page.waitForResponse(async (answer) => {
        if (!answer.url().endsWith('/api/v1/traces')) return false;
        return (await answer.json()).traces.some((trace) => trace.events === events);
    });
    await link.hover();
    await page.mouse.down();
    await grow();
    await listed;
    await page.waitForTimeout(500); /* in which the list would be drawn */
    await page.mouse.up();
}

async function liveTraceGrows(page, daemon) {
    const folder = path.join(daemon.folder, 'growing');
    const file = path.join(folder, 'rank-0.pfw');
    await mkdir(folder, { recursive: true });
    await writeFile(file, `[\n${lines(0, EVENTS)}`);
    await page.goto(`${daemon.base}/?add=${encodeURIComponent(daemon.folder)}`);
    const dialog = page.getByRole('dialog', { name: 'Add a trace' });
    await dialog.getByRole('checkbox', { name: /Follow/ }).check();
    const typed = await dialog.getByRole('textbox').boundingBox();
    assert.ok(typed.width > 300, 'there is space to type a path');
    await dialog.locator('li', { hasText: 'growing' }).getByRole('button', { name: 'Add' }).click();
    await dialog.getByText('Added growing').waitFor();
    await page.keyboard.press('Escape');
    const row = page.locator('tbody tr', { has: page.getByRole('link', { name: 'growing', exact: true }) });
    await row.locator('.badge.live').waitFor();
    const grow = () => appendFile(file, lines(EVENTS, EVENTS));
    await clickWhileItGrows(page, row.getByRole('link', { name: 'growing' }), grow, 2 * EVENTS);
    await page.locator('table.layers').waitFor();
    assert.equal(await tileNumber(page, 'Events'), 2 * EVENTS);
    await page.locator('.live-line .badge.live').waitFor();
    await watchForBlanks(page);
    for (let step = 2; step <= 3; step++) {
        await appendFile(file, lines(EVENTS * step, EVENTS));
        await page.waitForFunction(
            (wanted) =>
                [...document.querySelectorAll('.tiles-box data')].some(
                    (one) => !one.closest('.staging') && one.getAttribute('value') === wanted,
                ),
            String(EVENTS * (step + 1)),
        );
    }
    const seen = await page.evaluate(() => Reflect.get(window, 'liveSeen'));
    assert.equal(seen?.marked, true, 'the page was not loaded again');
    assert.deepEqual(seen.blanks, [], 'the page was never empty');
    await page.locator('.staging').waitFor({ state: 'detached' });
    await page.goto(`${daemon.base}/?page=report&trace=${(await daemon.trace('growing')).id}`);
    await page.getByRole('columnheader', { name: 'Complete up to' }).waitFor();
    await page.getByRole('button', { name: 'Stop following' }).click();
    await page.locator('.live-line .badge.live').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Follow', exact: true }).waitFor();
    const trace = await daemon.trace('growing');
    assert.equal(trace.live, null);
    await daemon.call('DELETE', `traces/${trace.id}`);
}

export const tests = [{ name: 'live: the Overview grows with its trace and is never empty', body: liveTraceGrows }];
