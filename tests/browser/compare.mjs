/* compare.mjs - runs beside each other against the API: tiles, layers, functions, and the way there. */

import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { given } from './daemon.mjs';
import { idle, parametersOf } from './harness.mjs';
import { gridRows } from './layer.mjs';

const FACTOR = 1.5;

/** A given trace whose preads take longer. */
export async function slowerRun(daemon) {
    const known = await daemon.trace('slower');
    if (known) return known;
    const folder = path.join(daemon.folder, 'slower'),
        source = given('unet3d-v100');
    await mkdir(folder, { recursive: true });
    for (const name of await readdir(source)) {
        const lines = await readFile(path.join(source, name), 'utf8');
        await writeFile(
            path.join(folder, name),
            lines.replace(/("name":"pread".*?"dur":)(\d+)/g, (_, before, dur) => before + Math.round(dur * FACTOR)),
        );
    }
    return daemon.ingest(folder);
}

async function openCompare(page, daemon, more = {}) {
    const baseline = await daemon.trace('unet3d-v100'),
        other = await slowerRun(daemon);
    await page.goto(
        `${daemon.base}/?${new URLSearchParams({ page: 'compare', traces: `${baseline.id},${other.id}`, ...more })}`,
    );
    await page.locator('.grid tbody tr').first().waitFor();
    await idle(page);
    return { baseline, other };
}

/** The full numbers of a row's cells, the change's being its difference. */
const numbersOf = (row) => row.locator('data').evaluateAll((all) => all.map((one) => Number(one.value)));

async function tilesAndLayersAreTheApis(page, daemon) {
    const { baseline, other } = await openCompare(page, daemon);
    const [before, now] = await Promise.all(
        [baseline, other].map(({ id }) => daemon.get(`traces/${id}/summary?preset=dlio`)),
    );
    const tile = (label) => page.locator('.tile', { has: page.locator('dt', { hasText: new RegExp(`^${label}$`) }) });
    assert.deepEqual(await numbersOf(tile('Job time')), [before.job_time, now.job_time]);
    assert.match(await tile('I/O time').innerText(), /\u00d7\u20091\.\d\d/);
    assert.ok(await tile('I/O time').locator('.change.worse').isVisible());
    const { columns, data } = await daemon.get(`compare?traces=${baseline.id},${other.id}&preset=dlio`);
    const record = (name) =>
        Object.fromEntries(data.filter((row) => row[0] === name)[1].map((cell, at) => [columns[at], cell]));
    const shown = await numbersOf(
        page
            .getByRole('table', { name: 'Layers' })
            .locator('tr', { has: page.getByRole('button', { name: 'reader_posix_lustre' }) }),
    );
    const row = record('reader_posix_lustre');
    assert.deepEqual(shown.slice(0, 3), [row.time - row.time_baseline, row.time, row.time_baseline]);
    assert.ok(Math.abs(row.time_delta - shown[0]) < 1e-9);
    assert.equal(
        await page.getByLabel('Layer', { exact: true }).inputValue(),
        'reader_posix_lustre',
        'the layer that changed most is shown over time',
    );
}

async function slowDownsComeFirst(page, daemon) {
    const { baseline, other } = await openCompare(page, daemon);
    const { data } = await daemon.call('POST', 'query', {
        traces: { a: baseline.id, b: other.id },
        preset: 'dlio',
        group_by: ['func_name', 'trace'],
        aggregate: { time: 'sum(time)' },
        compare: { baseline: 'a' },
        order_by: ['-time_delta'],
        limit: 1,
    });
    const [first] = await gridRows(page);
    assert.equal(first.Function, data[0][0]);
    const shown = await numbersOf(page.locator('.grid tbody tr').first());
    assert.deepEqual(shown.slice(0, 3), [data[0][2] - data[0][3], data[0][2], data[0][3]]);
    await page.locator('.grid thead').getByRole('button', { name: 'now' }).nth(1).click();
    await page.waitForFunction(() => new URLSearchParams(location.search).get('sort') === '-calls');
    const calls = (
        await page
            .locator('.grid tbody tr')
            .evaluateAll((all) => all.map((row) => row.cells[5]?.querySelector('data')?.value).filter(Boolean))
    ).map(Number);
    assert.deepEqual(
        calls,
        [...calls].sort((a, b) => b - a),
    );
    await page.getByRole('group', { name: 'Rows by' }).getByRole('button', { name: 'Category' }).click();
    await page.locator('.grid thead').getByText('Category').waitFor();
    assert.equal((await parametersOf(page)).by, 'cat');
    await page.getByRole('button', { name: 'Export' }).last().click();
    const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: 'Save as CSV' }).last().click(),
    ]);
    assert.match(await readFile(await download.path(), 'utf8'), /^cat,trace,time,/);
}

async function seriesHoldsAllRuns(page, daemon) {
    const { baseline, other } = await openCompare(page, daemon);
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Over time' }) });
    await card.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
        page.waitForEvent('download'),
        card.getByRole('menuitem', { name: 'Save as CSV' }).click(),
    ]);
    const [head, ...rows] = (await readFile(await download.path(), 'utf8'))
        .trim()
        .split(/\r?\n/)
        .map((line) => line.split(','));
    assert.deepEqual(head, ['time_range', 'trace', 'time']);
    for (const { id, name } of [baseline, other]) {
        const { layers } = await daemon.get(`traces/${id}/summary?preset=dlio`);
        const sum = rows.filter((row) => row[1] === name).reduce((total, row) => total + Number(row[2]), 0);
        assert.ok(
            Math.abs(sum - layers.find((layer) => layer.name === 'reader_posix_lustre').time) < 1e-6,
            `${name}: ${sum}`,
        );
    }
}

async function baselineIsChosen(page, daemon) {
    const { baseline, other } = await openCompare(page, daemon);
    await page.getByRole('button', { name: 'Make baseline' }).click();
    await page.waitForFunction((id) => new URLSearchParams(location.search).get('baseline') === id, other.id);
    await page.locator('.change.better').first().waitFor();
    await page.getByRole('button', { name: `Leave out ${baseline.name}` }).click();
    await page.getByText('Choose another run').waitFor();
    await page.getByLabel('Add a run').selectOption(baseline.id);
    await page.getByRole('table', { name: 'Layers' }).waitFor();
    await page.goto(
        `${daemon.base}/?page=compare&traces=${baseline.id},${other.id}&filter=${encodeURIComponent('sise > 1')}`,
    );
    await page.locator('#filter-problem').getByText('sise').waitFor();
}

async function runsAreTicked(page, daemon) {
    const { baseline, other } = await openCompare(page, daemon);
    await page.goto(daemon.base);
    await page.getByLabel(`Compare ${baseline.name}`).check();
    await page.getByLabel(`Compare ${other.name}`).check();
    await page.getByRole('link', { name: 'Compare 2 runs' }).click();
    await page.getByRole('table', { name: 'Layers' }).waitFor();
    assert.equal((await parametersOf(page)).traces, `${baseline.id},${other.id}`);
    await page.goto(`${daemon.base}/?page=overview&trace=${other.id}`);
    await page.getByRole('navigation').getByRole('link', { name: 'Compare' }).click();
    await page.getByText('Choose another run').waitFor();
    assert.equal((await parametersOf(page)).traces, other.id);
}

async function moreRunsStandBeside(page, daemon) {
    const third = await daemon.ingest(given('two-hosts'));
    const { baseline, other } = await openCompare(page, daemon);
    await page.getByLabel('Add a run').selectOption(third.id);
    await page.getByRole('group', { name: 'Metric' }).getByRole('button', { name: 'Wall time' }).click();
    await page.waitForFunction(() => new URLSearchParams(location.search).get('layer_metric') === 'busy');
    const shown = await numbersOf(
        page
            .getByRole('table', { name: 'Layers' })
            .locator('tr', { has: page.getByRole('button', { name: 'reader_posix_lustre' }) }),
    );
    const busy = await Promise.all(
        [baseline, other].map(
            async ({ id }) =>
                (await daemon.get(`traces/${id}/summary?preset=dlio`)).layers.find(
                    ({ name }) => name === 'reader_posix_lustre',
                ).busy,
        ),
    );
    assert.deepEqual([shown[0], shown[2]], busy);
    await page.locator('.grid thead').getByText('Run', { exact: true }).waitFor();
    assert.ok((await gridRows(page)).some((row) => row.Run === third.name));
}

async function callsAreSetAgainstEachOther(page, daemon) {
    const { baseline, other } = await openCompare(page, daemon, { as: 'calls' });
    const [now, before] = await Promise.all(
        [other, baseline].map(async ({ id }) => {
            const { columns, data } = await daemon.get(
                    `traces/${id}/calltree?preset=dlio&filters=on&min_share=0.0002&limit=10000`,
                ),
                at = (name) => columns.indexOf(name),
                paths = new Map();
            for (const row of data)
                paths.set(row[at('node')], [...(paths.get(row[at('parent')]) ?? []), row[at('label')]]);
            return new Map(data.map((row) => [paths.get(row[at('node')]).join(' \u203a '), row[at('total')]]));
        }),
    );
    const rows = await page
        .getByRole('table', { name: 'Calls that grew and shrank' })
        .locator('tbody tr')
        .evaluateAll((all) =>
            all
                .slice(0, 10)
                .map((row) => [
                    row.querySelector('.name').title,
                    ...['Now', 'Baseline'].map((label) =>
                        Number(row.querySelector(`[data-label="${label}"] data`).value),
                    ),
                ]),
        );
    assert.deepEqual(
        rows,
        rows.map(([path]) => [path, now.get(path) ?? 0, before.get(path) ?? 0]),
    );
    assert.ok(
        rows.some(([path]) => path.endsWith('pread')),
        'what became slower is among the first',
    );
    await page.getByRole('region', { name: 'Calls', exact: true }).getByRole('button', { name: 'Chart' }).click();
    const canvas = page.locator('.flame-canvas');
    await canvas.waitFor();
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + 100, box.y + 30);
    await page.locator('.chart-tip', { hasText: 'DLIOBenchmark.run' }).waitFor();
    await page.mouse.click(box.x + 100, box.y + 30);
    await page.waitForFunction(() => new URLSearchParams(location.search).get('root') === 'DLIOBenchmark.run');
}

/** A function of which one run moves bytes is called in both. */
async function noBytesIsAFigure(page, daemon) {
    const event = { name: 'read', cat: 'POSIX', pid: 1, tid: 1, ts: 1000, dur: 10, ph: 'X' };
    const lines = (bytes) => `[\n${JSON.stringify({ ...event, args: { ret: bytes } })}\n`;
    const some = await daemon.ingestFiles('some-bytes', { 'a.pfw': lines(4096) }),
        none = await daemon.ingestFiles('no-bytes', { 'a.pfw': lines(0) });
    const shown = async (one, other) => {
        await page.goto(`${daemon.base}/?page=compare&traces=${one.id},${other.id}`);
        const row = page.locator('section[aria-label="Largest slow-downs"] tbody tr', { hasText: 'read' });
        await row.waitFor();
        return row.locator('.change').last().innerText();
    };
    assert.match(await shown(some, none), /\u2212.*KiB/s);
    assert.match(await shown(none, some), /\+.*KiB/s);
    for (const { id } of [some, none]) await daemon.call('DELETE', `traces/${id}`);
}

export const tests = [
    { name: "compare: tiles and layers are the API's", body: tilesAndLayersAreTheApis },
    { name: 'compare: the largest slow-downs come first', body: slowDownsComeFirst },
    { name: 'compare: no bytes is a figure', body: noBytesIsAFigure },
    { name: 'compare: the series of all runs is exported', body: seriesHoldsAllRuns },
    { name: 'compare: the baseline is chosen', body: baselineIsChosen, expected: /400/ },
    { name: 'compare: runs are ticked in the list', body: runsAreTicked },
    { name: 'compare: more runs stand beside', body: moreRunsStandBeside },
    { name: 'compare: calls that grew and shrank', body: callsAreSetAgainstEachOther },
];
