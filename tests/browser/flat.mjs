/* flat.mjs - all layers beside each other, against the API. */

import assert from 'node:assert/strict';
import { gridRows } from './layer.mjs';
import { parametersOf, settled } from './harness.mjs';

async function openFlat(page, daemon, more = '') {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?page=flat&trace=${trace.id}${more}`);
    await settled(page);
    return trace;
}

async function cellsAreTheApis(page, daemon) {
    const trace = await openFlat(page, daemon, '&by=process&layers=compute,reader&columns=busy,count');
    const wanted = await daemon.get(
        `traces/${trace.id}/views/flat?by=process&columns=compute_busy,compute_count,reader_busy,reader_count`,
    );
    const cells = await page
        .locator('.grid tbody tr')
        .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll('data')].map((one) => Number(one.value))));
    assert.deepEqual(cells, wanted.data);
    assert.deepEqual(await page.locator('.grid .groups .named').allInnerTexts(), ['compute', 'reader']);
    await page.locator('.grid thead').getByRole('button', { name: 'Wall time' }).last().click();
    await page.waitForFunction(() => new URLSearchParams(location.search).get('sort') === '-reader_busy');
    await settled(page);
    const sorted = await daemon.get(`traces/${trace.id}/views/flat?by=process&sort=-reader_busy&columns=pid`);
    assert.deepEqual(
        (await gridRows(page)).map((row) => Number(row.Process)),
        sorted.data.flat(),
    );
}

async function scoresAreColours(page, daemon) {
    const trace = await openFlat(
        page,
        daemon,
        '&semantics=compatible&granularity=5&columns=ops_slope&layers=reader_posix_lustre',
    );
    const wanted = await daemon.get(
        `traces/${trace.id}/views/flat?by=time_range&semantics=compatible&granularity=5&columns=reader_posix_lustre_ops_slope_score`,
    );
    const scores = await page
        .locator('.grid tbody tr')
        .evaluateAll((rows) =>
            rows.map((row) => (row.cells[1].dataset.score === undefined ? null : Number(row.cells[1].dataset.score))),
        );
    assert.deepEqual(scores, wanted.data.flat());
    const colours = await page
        .locator('.grid td[data-score]')
        .evaluateAll((all) => all.map((cell) => [cell.dataset.score, getComputedStyle(cell).backgroundColor]));
    assert.equal(
        new Set(colours.map(String)).size,
        new Set(colours.map(([score]) => score)).size,
        'one colour a score',
    );
}

async function layersAreChosen(page, daemon) {
    await openFlat(page, daemon);
    const legend = page.getByRole('group', { name: 'Layers shown' });
    await legend.getByRole('button', { name: 'compute', exact: true }).click({ modifiers: ['Alt'] });
    await page.waitForFunction(() => new URLSearchParams(location.search).get('layers') === 'compute');
    await settled(page);
    assert.deepEqual(await page.locator('.grid .groups .named').allInnerTexts(), ['compute']);
    await page.locator('.grid tbody button').nth(3).click();
    await page.waitForFunction(() => new URLSearchParams(location.search).has('from'));
    const { from, to } = await parametersOf(page);
    assert.equal(Number((to - from).toFixed(6)), 0.5, 'a click on a bin shows it alone');
}

export const tests = [
    { name: "flat: cells are the API's, sorted by the server", body: cellsAreTheApis },
    { name: 'flat: scores are colours', body: scoresAreColours },
    { name: 'flat: layers are chosen, a bin shows alone', body: layersAreChosen },
];
