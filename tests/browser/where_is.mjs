/* where_is.mjs - the help leads to each table and plot that the field's notebooks have. */

import assert from 'node:assert/strict';
import { idle } from './harness.mjs';

async function everyLinkLeads(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?page=flat&trace=${trace.id}`);
    await page.locator('.grid tbody tr').first().waitFor();
    await page.keyboard.press('?');
    const links = await page
        .locator('.where-is a')
        .evaluateAll((all) => all.map((one) => [one.textContent, one.getAttribute('href')]));
    assert.ok(links.length >= 17, `${links.length} links`);
    for (const [what, href] of links) {
        await page.goto(`${daemon.base}/${href}`);
        await page.locator('.grid tbody tr, main canvas, table.layers, .breakdown-legend, .empty').first().waitFor();
        await idle(page);
        assert.equal(await page.locator('.notice.bad, .filter-problem:not(:empty)').count(), 0, what);
    }
}

async function twoClicksAreEnough(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
    await page.locator('table.layers').waitFor();
    await page.getByRole('button', { name: 'Help' }).click();
    await page.getByRole('link', { name: 'Quartiles of transfer sizes by function' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const row = page.locator('.grid tbody tr', { hasText: 'pread' });
    await row.waitFor();
    const { data } = await daemon.call('POST', `traces/${trace.id}/query`, {
        preset: 'dlio',
        filter: 'func_name == "pread"',
        aggregate: {
            n: 'count(size)',
            least: 'min(size)',
            lower: 'quantile(size, 0.25)',
            median: 'median(size)',
            mean: 'mean(size)',
            upper: 'quantile(size, 0.75)',
            most: 'max(size)',
        },
    });
    assert.deepEqual(await row.locator('data').evaluateAll((all) => all.map((one) => Number(one.value))), data[0]);
}

export const tests = [
    { name: 'where is: every link of the help leads to what it names', body: everyLinkLeads },
    { name: 'where is: two clicks are enough', body: twoClicksAreEnough },
];
