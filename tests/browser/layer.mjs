/* layer.mjs - one layer's page: figures, rows and charts against the API. */

import assert from 'node:assert/strict';
import { Daemon } from './daemon.mjs';
import { parametersOf, settled, tileNumber } from './harness.mjs';

const LAYER = 'reader_posix_lustre';

async function openLayer(page, daemon, more = '') {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?page=layer&trace=${trace.id}&layer=${LAYER}${more}`);
    await settled(page);
    return trace;
}

/** The rows in sight: {label of the head: full number or text}. */
export function gridRows(page) {
    return page.locator('.grid tbody').evaluate((body) =>
        [...body.rows]
            .filter((row) => row.hasAttribute('aria-rowindex'))
            .map((row) =>
                Object.fromEntries(
                    [...row.cells].map((cell) => {
                        const data = cell.querySelector('data');
                        return [cell.dataset.label, data ? Number(data.value) : cell.textContent.trim()];
                    }),
                ),
            ),
    );
}

async function figuresAreTheApis(page, daemon) {
    const trace = await openLayer(page, daemon);
    const summary = await daemon.get(`traces/${trace.id}/summary`);
    const row = summary.layers.find(({ name }) => name === LAYER);
    assert.equal(await tileNumber(page, 'Share of job'), row.busy / summary.job_time);
    for (const [label, name] of [
        ['Wall time', 'busy'],
        ['Not overlapped', 'exposed_group_sum'],
        ['Call time', 'time'],
        ['Events', 'count'],
        ['Size', 'size'],
        ['Bandwidth', 'bw_busy'],
        ['Files', 'files'],
    ]) {
        assert.equal(await tileNumber(page, label), row[name], label);
    }
    const kinds = page.getByRole('table', { name: 'Kinds of calls' });
    assert.deepEqual([row.data_count, row.data_time], [row.read_count, row.read_time]);
    assert.equal(await kinds.getByRole('button', { name: 'data', exact: true }).count(), 0, 'told by read');
    const read = kinds.locator('tr', { has: page.getByRole('button', { name: 'read' }) });
    assert.deepEqual(await read.locator('data').evaluateAll((all) => all.map((one) => Number(one.value))), [
        row.read_time,
        row.read_time / row.read_count,
        row.read_busy,
        row.read_count,
        row.read_size,
        row.read_bw,
    ]);
}

async function rowsAreTheApis(page, daemon) {
    const trace = await openLayer(page, daemon, '&by=file_name');
    const wanted = await daemon.get(`traces/${trace.id}/views/layer?layer=${LAYER}&by=file_name&sort=-time&limit=5`);
    const of = (row, name) => row[wanted.columns.indexOf(name)];
    const shown = await gridRows(page);
    for (const [index, row] of wanted.data.entries()) {
        assert.equal(shown[index].File, of(row, 'file_name'));
        for (const [label, name] of [
            ['Call time', 'time'],
            ['Events', 'count'],
            ['Wall time', 'busy'],
            ['Size', 'size'],
            ['Not overlapped', 'exposed_group_sum'],
        ])
            assert.equal(shown[index][label], of(row, name), label);
    }
    await page.locator('.grid thead').getByRole('button', { name: 'Events' }).click();
    await page.waitForFunction(() => new URLSearchParams(location.search).get('sort') === '-count');
    await settled(page);
    const counts = (await gridRows(page)).map((row) => row.Events);
    assert.deepEqual(
        counts,
        [...counts].sort((a, b) => b - a),
        'the server sorts',
    );
    assert.equal(await page.locator('.grid-words').innerText(), `${wanted.row_count} rows`);
}

async function everyViewHasItsRows(page, daemon) {
    const trace = await openLayer(page, daemon);
    for (const [label, by] of [
        ['Process', 'process'],
        ['Host', 'host_name'],
        ['Directory', 'file_dir'],
        ['Pattern', 'file_pattern'],
        ['Function', 'func_name'],
    ]) {
        await page.getByRole('group', { name: 'Rows by' }).getByRole('button', { name: label, exact: true }).click();
        await page.getByRole('heading', { name: `${LAYER} by ${label.toLowerCase()}` }).waitFor();
        await settled(page);
        const { row_count: count } = await daemon.get(
            `traces/${trace.id}/views/layer?layer=${LAYER}&by=${by}&limit=0`,
        );
        assert.match(await page.locator('.grid-words').innerText(), new RegExp(`^${count} rows?$`), label);
    }
}

async function clicksFilter(page, daemon) {
    const trace = await openLayer(page, daemon, '&by=process');
    const first = { Host: 'corona171', ...(await gridRows(page))[0] }; /* the name of the only host is not repeated */
    await page.locator('.grid tbody button').first().click();
    await page.waitForFunction(() => new URLSearchParams(location.search).has('filter'));
    const { filter } = await parametersOf(page);
    assert.equal(filter, `host_name == "${first.Host}" and pid == ${first.Process}`);
    await settled(page);
    const { layers } = await daemon.get(`traces/${trace.id}/summary?filter=${encodeURIComponent(filter)}`);
    assert.equal(await tileNumber(page, 'Events'), layers.find(({ name }) => name === LAYER).count);
    assert.equal(await page.locator('#processes').innerText(), `${first.Host} \u00b7 ${first.Process}`);
    await page.locator('.grid tbody button').first().click();
    await page.waitForFunction(() => !new URLSearchParams(location.search).has('filter'));
}

async function conditionsJoinWhatWasTyped(page, daemon) {
    await openLayer(
        page,
        daemon,
        `&by=func_name&filter=${encodeURIComponent('size > 4096 or func_name == "and or"')}`,
    );
    await page.locator('.grid tbody button', { hasText: /^pread$/ }).click();
    await page.waitForFunction(() => new URLSearchParams(location.search).get('filter').includes('pread'));
    assert.equal((await parametersOf(page)).filter, '(size > 4096 or func_name == "and or") and func_name == "pread"');
    await settled(page);
    await page.locator('.grid tbody button', { hasText: /^pread$/ }).click();
    await page.waitForFunction(() => !new URLSearchParams(location.search).get('filter').includes('pread'));
    assert.equal((await parametersOf(page)).filter, '(size > 4096 or func_name == "and or")');
}

async function processesArePicked(page, daemon) {
    const trace = await openLayer(page, daemon);
    await page.locator('#processes').click();
    const panel = page.getByRole('dialog', { name: 'Hosts and processes' });
    await panel
        .getByRole('button', { name: /events/ })
        .first()
        .waitFor();
    const { data } = await daemon.get(`traces/${trace.id}/query?group_by=host_name,pid&aggregate=events:count()`);
    assert.equal(await panel.locator('.process').count(), data.length);
    await panel.getByRole('searchbox').fill(String(data[2][1]));
    await page.waitForFunction(() => document.querySelectorAll('.picker .process').length === 1);
    await panel.locator('.process').click();
    await page.waitForFunction(() => new URLSearchParams(location.search).has('filter'));
    assert.equal((await parametersOf(page)).filter, `host_name == "${data[2][0]}" and pid == ${data[2][1]}`);
}

async function chartTablesAreTheApis(page, daemon) {
    const trace = await openLayer(page, daemon, '&as=processes,sizes,heat&spread=bars');
    await page.waitForFunction(() => document.querySelectorAll('.chart-table').length === 3);
    const numbers = (name) =>
        page
            .getByRole('region', { name })
            .locator('tbody tr')
            .evaluateAll((rows) =>
                rows.map((row) => [...row.querySelectorAll('data')].map((one) => Number(one.value))),
            );
    const layer = (by) => daemon.get(`traces/${trace.id}/views/layer?layer=${LAYER}&by=${by}`);
    const processes = await layer('process'),
        at = (name) => processes.columns.indexOf(name);
    assert.deepEqual(
        (await numbers(`Time of ${LAYER} over processes`)).flat(),
        processes.data.map((row) => row[at('time')]).sort((a, b) => b - a),
    );
    const row = (await daemon.get(`traces/${trace.id}/summary`)).layers.find(({ name }) => name === LAYER);
    assert.deepEqual(
        (await numbers(`Transfers of ${LAYER} by size`)).flat(),
        Object.keys(row)
            .filter((name) => name.startsWith('size_bin_'))
            .map((name) => row[name]),
    );
    const cells = await numbers(`time in ${LAYER}`);
    assert.ok(
        Math.abs(cells.reduce((sum, cell) => sum + cell.at(-1), 0) - row.time) < 1e-6,
        'the cells sum up to the time of the layer',
    );
}

async function durationsAreTheApis(page, daemon) {
    const trace = await openLayer(page, daemon, '&as=sizes&calls=duration');
    const table = page.getByRole('region', { name: `Calls of ${LAYER} by duration` });
    await table.waitFor();
    const rows = await table
        .locator('tbody tr')
        .evaluateAll((all) => all.map((row) => [row.cells[0].textContent, Number(row.querySelector('data').value)]));
    const { data } = await daemon.call('POST', `traces/${trace.id}/query`, {
        preset: 'dlio',
        filter: 'cat.str.contains("posix|stdio") & cat.str.contains("_reader_lustre") & dur >= 16384 & dur < 32768',
        aggregate: { calls: 'count()' },
    });
    assert.equal(Object.fromEntries(rows)['16.4\u202fms \u2013 32.8\u202fms'], data[0][0]);
    const row = (await daemon.get(`traces/${trace.id}/summary`)).layers.find(({ name }) => name === LAYER);
    assert.ok(rows.reduce((sum, [, calls]) => sum + calls, 0) <= row.count && rows.length > 8);
}

/** Layers that were made of categories have no condition of their own; heat map, durations and events find theirs. */
async function categoriesAreLayers(page, daemon) {
    const trace = await openLayer(page, daemon, '&preset=generic&layer=posix&as=sizes,heat&calls=duration');
    await page.waitForFunction(() => document.querySelectorAll('.chart-table').length === 2);
    const row = (await daemon.get(`traces/${trace.id}/summary?preset=generic`)).layers.find(
        ({ name }) => name === 'posix',
    );
    const cells = await page
        .getByRole('region', { name: 'time in posix' })
        .locator('tbody tr')
        .evaluateAll((rows) => rows.map((one) => Number([...one.querySelectorAll('data')].at(-1).value)));
    assert.ok(
        Math.abs(cells.reduce((sum, cell) => sum + cell, 0) - row.time) < 1e-6,
        'the cells sum up to the time of the category',
    );
    await page.getByRole('link', { name: 'Show events' }).click();
    await settled(page);
    assert.equal(
        Number((await page.locator('.grid-words').innerText()).split(' row')[0].replace(/\D/g, '')),
        row.count,
    );
}

async function boxesAndHeatAreDrawn(page, daemon) {
    await openLayer(page, daemon);
    const box = page.locator('.card', { has: page.getByRole('heading', { name: 'Over processes' }) });
    const spread = box.getByRole('group', { name: 'Spread' });
    assert.equal(await spread.locator('[aria-pressed="true"]').innerText(), 'Bars', 'one by one, the most first');
    await spread.getByRole('button', { name: 'Boxes' }).click();
    await settled(page);
    await box.locator('.chart-canvas').hover({ position: { x: 120, y: 80 } });
    await page.locator('.chart-tip').filter({ hasText: 'median' }).first().waitFor();
    const heat = page
        .locator('.card', { has: page.getByRole('heading', { name: 'Processes over time' }) })
        .locator('.chart-canvas');
    await heat.scrollIntoViewIfNeeded();
    const at = await heat.boundingBox();
    await page.mouse.move(at.x + 300, at.y + 60);
    await page.mouse.down();
    await page.mouse.move(at.x + 500, at.y + 80, { steps: 6 });
    await page.mouse.up();
    await page.waitForFunction(() => new URLSearchParams(location.search).has('from'));
    const { from, to } = await parametersOf(page);
    assert.ok(Number(to) > Number(from) && Number.isInteger(Number(from) / 0.5), 'a range of whole bins');
    const [download] = await Promise.all([
        page.waitForEvent('download'),
        (async () => {
            await settled(page);
            await box.getByRole('button', { name: 'Export' }).click();
            await box.getByRole('menuitem', { name: 'Save as PNG' }).click();
        })(),
    ]);
    assert.match(download.suggestedFilename(), /\.png$/);
}

async function hoverIsShared(page, daemon) {
    await openLayer(page, daemon);
    const card = (name) => page.getByRole('region', { name, exact: true });
    await card('Over time')
        .locator('.chart-canvas')
        .hover({ position: { x: 700, y: 100 } });
    const line = card('Processes over time').locator('.hover-line');
    await line.waitFor({ state: 'visible' });
    assert.ok(await card('Over time').locator('.hover-line').isVisible());
    const { x } = await line.boundingBox(),
        { x: left } = await card('Over time').locator('.chart-canvas').boundingBox();
    assert.ok(Math.abs(x - left - 700) < 40, `at the same moment: ${x - left}`);
    await page.locator('h1').hover();
    await line.waitFor({ state: 'hidden' });
}

async function compatibleHasSlopes(page, daemon) {
    const trace = await openLayer(page, daemon, '&semantics=compatible&granularity=5&as=slopes');
    const wanted = await daemon.get(
        `traces/${trace.id}/views/layer?layer=${LAYER}&by=time_range&semantics=compatible&granularity=5&sort=-ops_slope&columns=count_per,time_per,ops_slope`,
    );
    const rows = await page
        .getByRole('region', { name: /Share of the time over/ })
        .locator('tbody tr')
        .evaluateAll((all) =>
            all.map((row) => [...row.querySelectorAll('data')].slice(0, 3).map((one) => Number(one.value))),
        );
    assert.deepEqual(
        rows,
        wanted.data.filter((row) => row[2] !== null),
    );
    const summary = (await daemon.get(`traces/${trace.id}/summary?semantics=compatible&granularity=5`)).layers.find(
        ({ name }) => name === LAYER,
    );
    assert.equal(await tileNumber(page, 'Unoverlapped'), summary.u_time);
    await page.getByRole('button', { name: /^View/ }).click();
    assert.match(await page.locator('.meaning').innerText(), /^As DFAnalyzer: /);
    await page.getByRole('group', { name: 'Counting' }).getByRole('button', { name: 'exact' }).click();
    await page.locator('.tile dt', { hasText: 'Not overlapped' }).waitFor();
}

async function columnsAreChosen(page, daemon) {
    await openLayer(page, daemon, '&by=process');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('dialog', { name: 'Columns' }).getByRole('searchbox').fill('open');
    await page.getByLabel('open: call time').check();
    await page.waitForFunction(() => new URLSearchParams(location.search).get('columns')?.includes('open_time'));
    await page.locator('.grid thead').getByText('open: call time').waitFor();
    await page.reload();
    await settled(page);
    assert.ok('open: call time' in (await gridRows(page))[0]);
}

async function longTablesScroll(page) {
    const daemon = await Daemon.start();
    try {
        const trace = await daemon.generated(60000);
        await page.goto(
            `${daemon.base}/?page=layer&trace=${trace.id}&granularity=${trace.job_time / 150000}&layer=app`,
        );
        await settled(page);
        const { row_count: count } = await daemon.get(
            `traces/${trace.id}/views/layer?layer=app&by=time_range&granularity=${trace.job_time / 150000}&limit=0`,
        );
        assert.ok(count > 100000, `${count} rows`);
        assert.ok((await page.locator('.grid tbody tr').count()) < 80, 'only rows in sight are elements');
        await page.locator('.grid').evaluate((grid) => {
            grid.scrollTop = grid.scrollHeight;
        });
        await page.locator(`.grid tr[aria-rowindex="${count + 1}"] button`).waitFor();
        await page.locator(`.grid tr[aria-rowindex="${count + 1}"]`).focus();
        await page.keyboard.press('Home');
        await page.waitForFunction(() => document.activeElement.getAttribute('aria-rowindex') === '2');
        await page.keyboard.press('ArrowDown');
        assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-rowindex')), '3');
    } finally {
        await page.close();
        await daemon.stop();
    }
}

async function overviewLeadsHere(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}&filters=off`);
    await page.getByRole('link', { name: `Page of ${LAYER}` }).click();
    await settled(page);
    const { page: name, layer, filters } = await parametersOf(page);
    assert.deepEqual([name, layer, filters], ['layer', LAYER, 'off']);
    await page.getByLabel('Layer', { exact: true }).selectOption('compute');
    await page.getByRole('heading', { name: 'compute by time' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('h1').click();
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await page.getByRole('heading', { name: /All layers by/ }).waitFor();
}

export const tests = [
    { name: "layer: figures and kinds of calls are the API's", body: figuresAreTheApis },
    { name: "layer: rows are the API's, sorted by the server", body: rowsAreTheApis },
    { name: 'layer: every view has its rows', body: everyViewHasItsRows },
    { name: 'layer: a click on a row filters, another no longer', body: clicksFilter },
    { name: 'layer: a clicked condition joins what was typed', body: conditionsJoinWhatWasTyped },
    { name: 'layer: processes are picked from a list', body: processesArePicked },
    { name: "layer: the charts' tables are the API's", body: chartTablesAreTheApis },
    { name: "layer: durations are the API's", body: durationsAreTheApis },
    { name: 'layer: categories are layers too', body: categoriesAreLayers },
    { name: 'layer: boxes tell, the heat map takes a range, pictures are saved', body: boxesAndHeatAreDrawn },
    { name: 'layer: charts over time share the pointer', body: hoverIsShared },
    { name: "layer: the established analysers' numbers have slopes", body: compatibleHasSlopes },
    { name: 'layer: columns are chosen and kept', body: columnsAreChosen },
    { name: 'layer: a table of 100 000 rows scrolls', body: longTablesScroll },
    { name: 'layer: the overview leads here, keys lead on', body: overviewLeadsHere },
];
