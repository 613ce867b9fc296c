/* overlap.mjs - what hides behind what: the page's sentence, tables and charts against the API. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { parametersOf } from './harness.mjs';

async function openOverlap(page, daemon, more = '') {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?page=overlap&trace=${trace.id}${more}`);
    await page.locator('table.upset').waitFor();
    await page.waitForFunction(() => !document.querySelector('.outdated'));
    return trace;
}

const bySet = (table) =>
    table.evaluate((element) =>
        Object.fromEntries(
            [...element.tBodies[0].rows].map((row) => [
                row.querySelector('.name').textContent,
                Object.fromEntries(
                    [...row.cells]
                        .filter((cell) => cell.querySelector('data'))
                        .map((cell) => [cell.dataset.label, Number(cell.querySelector('data').value)]),
                ),
            ]),
        ),
    );

async function numbersAreTheApis(page, daemon) {
    const trace = await openOverlap(page, daemon, '&layers=compute,reader,checkpoint');
    const answer = await daemon.get(`traces/${trace.id}/overlap?preset=dlio&layers=compute,reader,checkpoint`);
    const shown = await bySet(page.getByRole('table', { name: 'Sets of events' }));
    for (const set of answer.sets) {
        for (const [label, member] of [
            ['Wall time', 'busy'],
            ['Busiest rank', 'busy_max'],
            ['Call time', 'time'],
            ['Events', 'events'],
        ])
            assert.equal(shown[set.name][label], set[member], `${set.name} ${label}`);
    }
    const pair = answer.pairs.find(({ a, b }) => a === 'compute' && b === 'reader');
    assert.equal(shown.reader['Not overlapped'], pair.b_minus_a);
    assert.equal(shown.reader.Overlapped, pair.overlap / (pair.overlap + pair.b_minus_a));
    const combinations = await page
        .locator('table.upset tbody tr')
        .evaluateAll((rows) => rows.map((row) => Number(row.querySelector('data').value)));
    assert.deepEqual(combinations, [...answer.groups.map(({ time }) => time).sort((a, b) => b - a), answer.idle]);
    assert.match(
        await page.locator('.answer').innerText(),
        /^0\u202f% of the 150\u202fs that the ranks spent in reader overlapped with compute; 150\u202fs did not\.$/,
    );
    assert.match(await page.locator('.hint').first().innerText(), /would say/);
}

async function setsAreChosen(page, daemon) {
    const trace = await openOverlap(page, daemon, '&layers=compute,reader');
    await page
        .getByRole('group', { name: 'Layers as sets' })
        .getByRole('button', { name: 'checkpoint', exact: true })
        .click();
    await page.locator('table.upset thead', { hasText: 'checkpoint' }).waitFor();
    assert.equal((await parametersOf(page)).layers, 'compute,reader,checkpoint');
    await page.getByRole('button', { name: 'Add a set' }).click();
    await page.getByLabel('Name').fill('large');
    await page.getByLabel('Which events').fill('size > 1048576');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.locator('table.upset thead', { hasText: 'large' }).waitFor();
    const { sets } = await daemon.call('POST', `traces/${trace.id}/overlap`, {
        sets: { large: 'size > 1048576' },
        preset: 'dlio',
    });
    assert.equal((await bySet(page.getByRole('table', { name: 'Sets of events' }))).large['Wall time'], sets[0].busy);
    await page.getByRole('button', { name: 'Remove large' }).click();
    await page.locator('table.upset thead', { hasText: 'large' }).waitFor({ state: 'detached' });
    await page.getByLabel('Where overlap counts').selectOption('job');
    await page.locator('table.upset').waitFor();
    assert.equal((await parametersOf(page)).scope, 'job');
    await page.locator('.answer', { hasText: 'the job spent' }).waitFor();
}

async function combinationsAreSaved(page, daemon) {
    const trace = await openOverlap(page, daemon, '&layers=compute,reader,checkpoint');
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Combinations' }) });
    await card.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
        page.waitForEvent('download'),
        card.getByRole('menuitem', { name: 'Save as CSV' }).click(),
    ]);
    const [head, ...rows] = (await readFile(await download.path(), 'utf8'))
        .trim()
        .split('\r\n')
        .map((line) => line.split(','));
    assert.deepEqual(head, ['compute', 'reader', 'checkpoint', 'time']);
    const { span } = await daemon.get(`traces/${trace.id}/overlap?preset=dlio&layers=compute,reader,checkpoint`);
    assert.ok(
        Math.abs(rows.reduce((sum, row) => sum + Number(row[3]), 0) - span) < 1e-6,
        'combinations and idle time are the whole',
    );
}

async function partsAreHidden(page, daemon) {
    await openOverlap(page, daemon, '&layers=compute,reader&as=units');
    const region = page.getByRole('region', { name: 'reader not overlapped and overlapped, by rank' });
    await region.waitFor();
    assert.equal(await region.locator('thead th').count(), 3);
    await page
        .getByRole('group', { name: 'Parts shown' })
        .first()
        .getByRole('button', { name: 'not overlapped', exact: true })
        .click();
    await page.waitForFunction(() => new URLSearchParams(location.search).get('hide') === 'exposed');
    await page.waitForFunction(() => document.querySelectorAll('.chart-table thead th').length === 2);
}

async function longestAreShown(page, daemon) {
    const trace = await openOverlap(page, daemon, '&layers=compute,reader');
    const wanted = await daemon.get(
        `traces/${trace.id}/overlap/intervals?preset=dlio&layers=compute,reader&where=${encodeURIComponent('reader and not compute')}&longest=10&events=3`,
    );
    const rows = page.getByRole('table', { name: 'Longest intervals not overlapped' }).locator('tbody tr');
    await rows.first().waitFor();
    assert.deepEqual(
        await rows.evaluateAll((all) => all.map((row) => Number(row.querySelector('data').value))),
        wanted.data.map((row) => row[wanted.columns.indexOf('time')]),
    );
    assert.match(await rows.first().innerText(), /HDF5Reader/);
    const [start, end] = ['start', 'end'].map((name) => wanted.data[0][wanted.columns.indexOf(name)]),
        lead = new URLSearchParams(await rows.first().getByTitle('Show on the timeline').getAttribute('href'));
    assert.deepEqual([lead.get('page'), Number(lead.get('from')), Number(lead.get('to'))], ['timeline', start, end]);
    assert.equal(
        (
            await daemon.get(
                `traces/${trace.id}/timeline/statistics?${new URLSearchParams({ lanes: lead.get('lanes') })}`,
            )
        ).threads > 0,
        true,
        'the lane is one',
    );
    await rows.first().locator('button').click();
    await page.locator('.chip.accent').waitFor();
    assert.equal(Number((await parametersOf(page)).from), wanted.data[0][wanted.columns.indexOf('start')]);
}

export const tests = [
    { name: "overlap: sets, pairs and combinations are the API's", body: numbersAreTheApis },
    { name: 'overlap: sets are chosen, written and removed', body: setsAreChosen },
    { name: 'overlap: combinations are saved', body: combinationsAreSaved },
    { name: 'overlap: the legend hides parts', body: partsAreHidden },
    { name: 'overlap: the longest intervals that are not overlapped lead to their place', body: longestAreShown },
];
