/* overview.mjs - one trace: figures, layer table, chart and controls against the API. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { bandOf } from '../../web/parts/band.js';
import { given } from './daemon.mjs';
import { expressionIn, offered, parametersOf, tableNumbers, tileNumber } from './harness.mjs';

const COLUMNS = {
    'Wall time': 'busy',
    'Not overlapped': 'exposed_group_sum',
    Overlapped: 'hidden_share',
    Self: 'self_group_sum',
    'Call time': 'time',
    Count: 'count',
    Size: 'size',
    'Per call': 'bw',
    Aggregate: 'bw_busy',
};

async function openOverview(page, daemon, more = '') {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}${more}`);
    await shown(page);
    return trace;
}

/** Waits until summary and chart stand. */
async function shown(page) {
    await page.locator('table.layers').waitFor();
    await page.locator('.chart').waitFor();
    await page.waitForFunction(() => document.querySelector('.outdated') === null);
}

async function compareLayers(page, summary) {
    const cells = await tableNumbers(page.locator('table.layers'));
    for (const layer of summary.layers) {
        for (const [label, column] of Object.entries(COLUMNS)) {
            const wanted = column === 'size' ? layer.size || null : (layer[column] ?? null);
            assert.equal(cells[layer.name][label] ?? null, wanted, `${layer.name} ${label}`);
        }
    }
    assert.equal(Object.keys(cells).length, summary.layers.length);
}

async function figuresAreTheApis(page, daemon) {
    const trace = await openOverview(page, daemon);
    const summary = await daemon.get(`traces/${trace.id}/summary`);
    assert.equal(summary.job_time, 56.695354);
    for (const [label, name] of [
        ['Job time', 'job_time'],
        ['Events', 'events'],
        ['Processes', 'processes'],
        ['Hosts', 'hosts'],
        ['Files', 'files'],
    ]) {
        assert.equal(await tileNumber(page, label), summary[name], label);
    }
    const io = (await daemon.get(`traces/${trace.id}/summary?preset=posix`)).layers[0];
    assert.deepEqual(
        [await tileNumber(page, 'Read'), await tileNumber(page, 'Written'), await tileNumber(page, 'I/O share')],
        [io.read_size, io.write_size, io.busy / summary.job_time],
    );
    await compareLayers(page, summary);
    assert.match(await page.locator('.why').innerText(), /Preset dlio/);
    assert.match(
        await page.locator('.card', { has: page.getByRole('heading', { name: 'Layers' }) }).innerText(),
        /474 events dropped by filters, 1\u202f760 in no layer, 96 in more than one/,
    );
}

const whereTime = (page) => page.getByRole('region', { name: 'Where the time went' });

async function answerAddsUp(page, daemon) {
    const trace = await openOverview(page, daemon);
    const { layers } = await daemon.get(`traces/${trace.id}/summary`);
    const of = (name) => layers.find((layer) => layer.name === name);
    const whole = of('app').busy_group_sum;
    const shares = await whereTime(page)
        .locator('.breakdown-legend strong data')
        .evaluateAll((all) => all.map((one) => Number(one.value)));
    assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 1) < 1e-6, `the parts sum up to the whole: ${shares}`);
    assert.equal(shares[0], of('compute').busy_group_sum / whole);
    assert.match(
        await whereTime(page).locator('.answer').innerText(),
        /computed 61\.6\u202f% of their time; they spent 28\.5\u202f% in fetch_data/,
    );
}

/** Where the preset has no compute layer, or layers hang below absent ones, intervals tell the parts apart. */
async function answerNeedsNoCompute(page, daemon) {
    const legend = () =>
        whereTime(page)
            .locator('.breakdown-legend li')
            .evaluateAll((items) =>
                Object.fromEntries(
                    items.map((item) => [
                        item.querySelector('.name').textContent,
                        Number(item.querySelectorAll('data')[1].value),
                    ]),
                ),
            );
    const trace = await openOverview(page, daemon, '&preset=posix');
    await whereTime(page).locator('.answer').getByText('The 8\u202fprocesses spent').waitFor();
    const { sets, span } = await daemon.call('POST', `traces/${trace.id}/overlap`, {
        preset: 'posix',
        scope: 'process',
        sets: {
            reading: 'cat.str.contains("posix|stdio") and io_cat == 1',
            metadata: 'cat.str.contains("posix|stdio") and io_cat == 3',
        },
    });
    const parts = await legend();
    assert.ok(
        Math.abs(parts.reading - sets[0].busy) < 1e-6 && Math.abs(parts.metadata - sets[1].busy) < 1e-6,
        JSON.stringify(parts),
    );
    assert.ok(Math.abs(Object.values(parts).reduce((a, b) => a + b) - span) < 1e-6, 'the parts sum up to the spans');
    const dialect = await daemon.ingest(given('unet3d-plain-dialect'));
    await page.goto(`${daemon.base}/?page=overview&trace=${dialect.id}`);
    await whereTime(page).locator('.answer').getByText('data_loader').waitFor();
    const { groups } = await daemon.call('POST', `traces/${dialect.id}/overlap`, {
        preset: 'dlio',
        layers: ['app', 'compute', 'data_loader'],
    });
    const waiting = groups.find((group) => group.sets.join() === 'app,data_loader').time,
        ranks = await legend();
    assert.ok(Math.abs(ranks.data_loader - waiting) < 1e-6, `${ranks.data_loader} ${waiting}`);
}

/** A moment far into a job is not rounded to the job's length, and what began before it is there. */
async function zoomIsExact(page, daemon) {
    await openOverview(page, daemon, '&from=20&to=20.004');
    await page.locator('.chip.accent', { hasText: '20.00000 \u2013 20.00400\u202fs' }).waitFor();
    assert.equal((await page.locator('.layers tr:has([data-layer="app"])').getAttribute('class')) ?? '', '');
    assert.ok(
        await page.getByRole('group', { name: 'Layers shown' }).getByRole('button', { name: 'app' }).isVisible(),
        'a call that goes on throughout is there',
    );
    await page.locator('.chart-canvas').hover({ position: { x: 240, y: 120 } });
    assert.match(await page.locator('.chart-tip p').first().innerText(), /^20\.00\d+ \u2013 20\.00\d+\u202fs$/);
}

async function nothingIsSaidInWords(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}&filter=${encodeURIComponent('size > 1e15')}`);
    await page.getByText('No event of these layers').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.locator('table.layers').waitFor();
    assert.equal((await parametersOf(page)).filter, undefined);
}

async function ledgerAddsUp(page, daemon) {
    const trace = await openOverview(page, daemon);
    await page.locator('.ledger').getByText('lines').waitFor();
    const { totals } = await daemon.get(`traces/${trace.id}/report`);
    const numbers = (await page.locator('.ledger p > span').first().innerText())
        .replaceAll('\u202f', '')
        .match(/\d+/g)
        .map(Number);
    assert.equal(numbers[0], totals.lines);
    assert.equal(
        numbers.slice(2).reduce((a, b) => a + b),
        totals.lines,
    );
}

async function tableViewIsTheSeries(page, daemon) {
    const trace = await openOverview(page, daemon, '&as=series&granularity=1&metric=busy');
    const series = await daemon.get(`traces/${trace.id}/timeseries?metrics=busy&granularity=1`);
    await page.locator('.chart-table').waitFor();
    const cells = await page.locator('.chart-table table').evaluate((table) => ({
        heads: [...table.tHead.rows[0].cells].map((cell) => cell.textContent),
        rows: [...table.tBodies[0].rows].map((row) =>
            [...row.cells].map((cell) => {
                const data = cell.querySelector('data');
                return data && Number(data.value);
            }),
        ),
    }));
    assert.equal(cells.rows.length, series.data.length);
    for (const layer of cells.heads.slice(1)) {
        const from = series.columns.indexOf(`${layer}_busy`),
            at = cells.heads.indexOf(layer);
        assert.deepEqual(
            cells.rows.map((row) => row[at]),
            series.data.map((row) => row[from]),
            layer,
        );
    }
    assert.ok(cells.heads.includes('compute') && cells.heads.includes('reader_posix_lustre'));
}

/** How many pixels of the chart have, nearly, a layer's colour. */
function pixelsOf(page, layer) {
    return page.evaluate((name) => {
        const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
        pixel.fillStyle = getComputedStyle(
            document.querySelector(`.layers tr:has([data-layer="${name}"]) .swatch`),
        ).backgroundColor;
        pixel.fillRect(0, 0, 1, 1);
        const rgb = [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
        const canvas = document.querySelector('.chart canvas');
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        let count = 0;
        for (let i = 0; i < pixels.length; i += 4)
            if (pixels[i + 3] > 128 && rgb.every((part, at) => Math.abs(part - pixels[i + at]) < 12)) count++;
        return count;
    }, layer);
}

/** Waits until the chart stands still and so many of its pixels have a layer's colour; gives their number. */
async function drawn(page, layer, enough) {
    await page.locator('.chart canvas').waitFor();
    let before = -1;
    for (let i = 0; i < 600; i++) {
        const now = await pixelsOf(page, layer);
        if (now === before && enough(now)) return now;
        before = now;
        await page.waitForTimeout(100);
    }
    throw new Error(`the chart stands with ${before} pixels of ${layer}`);
}

async function chartDrawsLayers(page, daemon) {
    await openOverview(page, daemon);
    const before = await drawn(page, 'compute', (pixels) => pixels > 10000);
    await page.getByRole('group', { name: 'Layers shown' }).getByRole('button', { name: 'compute' }).click();
    assert.ok(!(await parametersOf(page)).layers.split(',').includes('compute'));
    await drawn(page, 'compute', (pixels) => pixels === 0);
    await page.goBack();
    await drawn(page, 'compute', (pixels) => Math.abs(pixels / before - 1) < 0.05);
    await page.locator('.chart-canvas').hover({ position: { x: 240, y: 120 } });
    await page.locator('.chart-tip').waitFor();
    assert.match(await page.locator('.chart-tip').innerText(), /\u2013[\s\S]*(compute|reader_posix_lustre)/);
}

async function linesHaveBands(page, daemon) {
    const bins = (first, values) => ({
        columns: ['time_range', 'x'],
        data: values.map((value, index) => [first + index, value]),
    });
    const fine = bins(8, [1, 3, null, 4, 8, 0]);
    assert.deepEqual(bandOf(bins(2, [8, 8]), fine, 'x', { finer: 4 }), [
        [0, 16],
        [0, 32],
    ]);
    assert.deepEqual(bandOf(bins(2, [3, 4]), fine, 'x', { finer: 4, rate: true }), [
        [1, 4],
        [0, 8],
    ]);
    await openOverview(page, daemon, '&shape=lines&layers=compute');
    await page
        .locator('.card[aria-label="Over time"] small', { hasText: /pale: the least and the most of/ })
        .waitFor();
    await page.locator('.chart canvas').waitFor();
    await page.locator('.chart-canvas').hover({ position: { x: 200, y: 120 } });
    assert.match(await page.locator('.chart-tip td').nth(1).innerText(), /\S \u2013 \S/);
}

/** What a drag asks for comes from sums that are kept; the rules are checked when somebody says so. */
async function brushAsksLittle(page, daemon) {
    const trace = await openOverview(page, daemon);
    const asked = [];
    page.on('request', (request) => asked.push(new URL(request.url())));
    await page.locator('.chart canvas').scrollIntoViewIfNeeded();
    const box = await page.locator('.chart canvas').boundingBox();
    await page.mouse.move(box.x + 163, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 321, box.y + 120, { steps: 8 });
    await page.mouse.up();
    await page.waitForFunction(() => new URLSearchParams(location.search).has('from'));
    await shown(page);
    const { from, to } = await parametersOf(page);
    for (const moment of [from, to]) assert.match(moment, /^\d+(\.\d{1,2})?$/, 'as round as a pixel is wide');
    const of = (call) => asked.filter(({ pathname }) => pathname.endsWith(`${trace.id}/${call}`));
    assert.ok(of('summary').some(({ searchParams }) => searchParams.get('from') === from));
    for (const { searchParams } of of('summary'))
        assert.ok(searchParams.has('metrics') || !searchParams.has('from'), 'no summary of events');
    assert.equal(of('findings').filter(({ searchParams }) => searchParams.has('from')).length, 0);
    const card = page.locator('.card[aria-label="Findings"]');
    assert.match(await card.locator('small').innerText(), /^of the whole job: /);
    await card.getByRole('button', { name: 'Check this time range' }).click();
    await page.waitForFunction(() => !document.querySelector('.card[aria-label="Findings"] .outdated'));
    const { findings } = await daemon.get(`traces/${trace.id}/findings?from=${from}&to=${to}`);
    const worst = findings.filter(({ severity }) => severity === 'critical' || severity === 'warning').slice(0, 3);
    assert.deepEqual(
        await card.locator('.finding-words').allInnerTexts(),
        worst.map(({ text }) => text),
    );
    assert.equal(await page.locator('table.layers th', { hasText: 'Whole job' }).count(), 0);
}

async function brushSetsTheRange(page, daemon) {
    const trace = await openOverview(page, daemon);
    await page.locator('.chart canvas').scrollIntoViewIfNeeded();
    const box = await page.locator('.chart canvas').boundingBox();
    await page.mouse.move(box.x + 0.4 * box.width, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.8 * box.width, box.y + 120, { steps: 8 });
    await page.mouse.up();
    await page.waitForFunction(() => new URLSearchParams(location.search).has('from'));
    const { from, to } = await parametersOf(page);
    assert.ok(Number(from) > 5 && Number(to) < 56 && Number(to) > Number(from));
    await shown(page);
    await page.waitForFunction(() => !document.querySelector('.outdated'));
    await compareLayers(page, await daemon.get(`traces/${trace.id}/summary?from=${from}&to=${to}`));
    await page.reload();
    await shown(page);
    const again = await parametersOf(page);
    assert.deepEqual([again.from, again.to], [from, to]);
    await page
        .getByRole('button', { name: /\u2013.*/ })
        .first()
        .waitFor();
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !new URLSearchParams(location.search).has('from'));
    await page.waitForFunction(() => !document.querySelector('.outdated'));
    await compareLayers(page, await daemon.get(`traces/${trace.id}/summary`));
}

async function controlsAskTheApi(page, daemon) {
    const trace = await openOverview(page, daemon);
    const settled = () => page.waitForFunction(() => !document.querySelector('.outdated'));
    await page.getByLabel('Preset', { exact: true }).selectOption('posix');
    await settled();
    await compareLayers(page, await daemon.get(`traces/${trace.id}/summary?preset=posix`));
    assert.match(await page.locator('.why').innerText(), /Preset posix . chosen instead of dlio/);
    await page.getByRole('button', { name: /^View/ }).click();
    await page.getByLabel('Preset filters').selectOption('off');
    await settled();
    await compareLayers(page, await daemon.get(`traces/${trace.id}/summary?preset=posix&filters=off`));
    await page.getByLabel('Metric').selectOption('bw_busy');
    await page.getByLabel('Granularity').selectOption({ index: 3 });
    await settled();
    assert.equal((await parametersOf(page)).metric, 'bw_busy');
    await page.keyboard.press('/');
    await page.keyboard.type('size > 4096');
    await page.keyboard.press('Enter');
    await settled();
    const filtered = await daemon.get(
        `traces/${trace.id}/summary?preset=posix&filters=off&filter=${encodeURIComponent('size > 4096')}`,
    );
    assert.ok(filtered.layers[0].count > 0, 'the filter leaves something');
    await compareLayers(page, filtered);
    await page.reload();
    await shown(page);
    assert.equal(await expressionIn(page.locator('#filter')), 'size > 4096');
    assert.equal(await page.getByLabel('Preset', { exact: true }).inputValue(), 'posix');
}

async function wrongFilterIsMarked(page, daemon) {
    await openOverview(page, daemon);
    const input = page.locator('#filter');
    await input.fill('cat == "posix" and');
    await input.press('Enter');
    await page.locator('.filter .fault.end').waitFor();
    assert.equal(await input.getAttribute('aria-invalid'), 'true');
    await input.fill('');
    await input.press('Enter');
    await shown(page);
    assert.equal(await page.locator('.filter-problem').innerText(), '');
}

async function filterIsCompleted(page, daemon) {
    const trace = await openOverview(page, daemon);
    const input = page.locator('#filter'),
        options = page.locator('.filter').getByRole('option');
    await input.pressSequentially('func');
    await offered(page, /^func_name/);
    await input.press('ArrowDown');
    await input.press('Tab');
    assert.equal(await expressionIn(input), 'func_name');
    await input.pressSequentially(' == "HDF5Reader.o');
    await (await offered(page, /HDF5Reader.open/)).click();
    assert.equal(await expressionIn(input), 'func_name == "HDF5Reader.open"');
    await input.press('Enter');
    await page.waitForFunction(() => new URLSearchParams(location.search).has('filter'));
    await shown(page);
    const { layers } = await daemon.get(
        `traces/${trace.id}/summary?filter=${encodeURIComponent('func_name == "HDF5Reader.open"')}`,
    );
    await compareLayers(page, { layers });
    await input.fill('');
    await input.press('Enter');
    await shown(page);
    await input.press('ArrowDown');
    await offered(page, /func_name == "HDF5Reader.open"/);
    await input.press('Escape');
    assert.equal(await options.count(), 0);
    await input.fill('file_name.str.cont');
    await offered(page, 'contains("');
    await input.press('Escape');
    await input.press('Escape');
}

async function markIsUnderTheMistake(page, daemon) {
    await openOverview(page, daemon);
    const input = page.locator('#filter'),
        words = 'file_name != "\u{1f600}" and siz > 4096';
    await input.fill(words);
    await input.press('Enter');
    await page.locator('.filter .fault').waitFor();
    assert.equal(await page.locator('.filter .fault').textContent(), 'siz', 'counted in characters');
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await shown(page);
    assert.equal(await expressionIn(input), '');
}

async function establishedNumbersAreShown(page, daemon) {
    const trace = await openOverview(page, daemon, '&semantics=compatible&granularity=5');
    const summary = await daemon.get(`traces/${trace.id}/summary?semantics=compatible&granularity=5`);
    const cells = await tableNumbers(page.locator('table.layers'));
    for (const layer of summary.layers) {
        for (const [label, name] of [
            ['Call time', 'time'],
            ['Count', 'count'],
            ['Size', 'size'],
            ['Calls/s', 'ops'],
            ['Bandwidth', 'bandwidth'],
            ['Not overlapped', 'u_time'],
            ['Overlap', 'overlap'],
            ['Files', 'num_files'],
        ]) {
            assert.equal(cells[layer.name][label] ?? null, layer[name], `${layer.name} ${label}`);
        }
    }
    assert.equal(await tileNumber(page, 'Events'), summary.total_count);
}

async function everythingCanBeCopied(page, daemon) {
    const trace = await openOverview(page, daemon);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Layers' }) });
    await card.getByRole('button', { name: 'Export' }).click();
    await card.getByRole('menuitem', { name: 'Copy as curl' }).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(command, `curl '${daemon.base}/api/v1/traces/${trace.id}/summary'`);
    await card.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
        page.waitForEvent('download'),
        card.getByRole('menuitem', { name: 'Save as CSV' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'unet3d-v100-summary.csv');
    const lines = (await readFile(await download.path(), 'utf8')).trim().split(/\r?\n/);
    assert.match(lines[0], /^name,parent/);
    assert.equal(lines.length, 13);
}

export const tests = [
    { name: "overview: tiles and layers are the API's", body: figuresAreTheApis },
    { name: 'overview: where the time went adds up', body: answerAddsUp },
    { name: 'overview: where the time went, without a compute layer', body: answerNeedsNoCompute },
    { name: 'overview: nothing is said in words', body: nothingIsSaidInWords },
    { name: 'overview: far into a job moments keep their digits', body: zoomIsExact },
    { name: 'overview: the ledger adds up', body: ledgerAddsUp },
    { name: "overview: the chart's table is the series", body: tableViewIsTheSeries },
    {
        name: 'overview: the chart draws the layers that are chosen',
        body: chartDrawsLayers,
        expected: /willReadFrequently/,
    },
    { name: 'overview: a brush sets the range, Esc clears it', body: brushSetsTheRange },
    { name: 'overview: lines have the least and the most around them', body: linesHaveBands },
    { name: 'overview: a brush asks for sums that are kept', body: brushAsksLittle },
    { name: 'overview: every control asks the API', body: controlsAskTheApi },
    { name: 'overview: a wrong filter is marked where it is wrong', body: wrongFilterIsMarked, expected: /400/ },
    { name: 'overview: the mark stands under the mistake', body: markIsUnderTheMistake, expected: /400/ },
    { name: 'overview: the filter completes and remembers', body: filterIsCompleted },
    { name: "overview: the established analysers' numbers", body: establishedNumbersAreShown },
    { name: 'overview: table and chart can be copied and saved', body: everythingCanBeCopied },
];
