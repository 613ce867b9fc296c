/* event.mjs - one event: opened by a row, a key or a link, with everything the API knows of it. */

import assert from 'node:assert/strict';
import { parametersOf, settled } from './harness.mjs';

const dialogOf = (page) =>
    page.getByRole('dialog').filter({ has: page.getByRole('button', { name: 'Copy as JSON' }) });

/** The facts as the dialog writes them: {name: words}. */
function facts(dialog) {
    return dialog
        .locator('.facts')
        .evaluateAll((lists) =>
            Object.fromEntries(
                lists.flatMap((list) =>
                    [...list.querySelectorAll('dt')].map((name) => [
                        name.textContent,
                        name.nextElementSibling.querySelector('data')?.value ?? name.nextElementSibling.textContent,
                    ]),
                ),
            ),
        );
}

/** The address names no event any more. */
const closed = (page) => page.waitForFunction(() => !new URLSearchParams(location.search).has('event'));

async function rowsOpen(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(
        `${daemon.base}/?${new URLSearchParams({ page: 'query', trace: trace.id, ask: 'events', order: '-time', filter: 'size > 4096' })}`,
    );
    await settled(page);
    const wanted = await daemon.get(
        `traces/${trace.id}/events?${new URLSearchParams({ preset: 'dlio', filter: 'size > 4096', order_by: '-time', limit: '2', columns: 'func_name,cat,pid,tid,file_name,time_start,time,size,args.fd,args.ret' })}`,
    );
    const second = Object.fromEntries(wanted.columns.map((name, at) => [name, wanted.data[1][at]]));
    await page.locator('.grid tbody tr').nth(1).locator('td').nth(3).click();
    const dialog = dialogOf(page);
    await dialog.waitFor();
    const shown = await facts(dialog);
    for (const [label, name] of [
        ['Function', 'func_name'],
        ['Category', 'cat'],
        ['Process', 'pid'],
        ['Thread', 'tid'],
        ['File', 'file_name'],
        ['From', 'time_start'],
        ['Duration', 'time'],
        ['Size', 'size'],
        ['fd', 'args.fd'],
        ['ret', 'args.ret'],
    ]) {
        assert.equal(shown[label], String(second[name]), label);
    }
    assert.equal(Number(shown.Bandwidth), second.size / second.time);
    const around = await dialog.getByRole('table', { name: 'Calls around it' }).locator('th a').allInnerTexts();
    assert.deepEqual([around[0], around.at(-1)], ['DLIOBenchmark.run', 'HDF5Reader.get_sample']);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await closed(page);
}

async function keysAndLinksOpen(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: daemon.base });
    await page.goto(
        `${daemon.base}/?${new URLSearchParams({ page: 'query', trace: trace.id, ask: 'events', order: '-time', filter: 'size > 4096' })}`,
    );
    await settled(page);
    await page.locator('.grid tbody tr').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const dialog = dialogOf(page);
    await dialog.waitFor();
    await page.reload();
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'Copy as filter' }).click();
    const filter = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(
        (await daemon.get(`traces/${trace.id}/events?${new URLSearchParams({ preset: 'dlio', filter })}`)).row_count,
        1,
    );
    await dialog.getByRole('button', { name: 'Copy as JSON' }).click();
    assert.equal(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())).func_name, 'pread');
    await dialog.getByRole('link', { name: 'HDF5Reader.get_sample' }).click();
    await dialog.getByRole('heading', { name: 'HDF5Reader.get_sample' }).waitFor();
    await page.keyboard.press('Escape');
    await closed(page);
}

async function valuesFilter(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?page=overlap&trace=${trace.id}&layers=compute,reader_posix_lustre`);
    await page
        .getByRole('table', { name: 'Longest intervals not overlapped' })
        .getByRole('link', { name: 'pread' })
        .first()
        .click();
    const dialog = dialogOf(page);
    await dialog.waitFor();
    const { File: file, From: from } = await facts(dialog);
    const { data } = await daemon.get(
        `traces/${trace.id}/overlap/intervals?preset=dlio&layers=compute,reader_posix_lustre&where=${encodeURIComponent('reader_posix_lustre and not compute')}&longest=1&events=1`,
    );
    assert.deepEqual([file, Number(from)], [data[0].at(-1)[0].file_name, data[0].at(-1)[0].time_start]);
    await dialog.getByRole('button', { name: file }).click();
    await closed(page);
    await page.waitForFunction(() => new URLSearchParams(location.search).has('filter'));
    const place = await parametersOf(page);
    assert.deepEqual([place.filter, place.event], [`file_name == "${file}"`, undefined]);
}

async function unknownIsSaid(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?${new URLSearchParams({ page: 'report', trace: trace.id, event: 'pid == 1' })}`);
    await page.getByRole('dialog').getByText('No such event').waitFor();
}

async function timelineShows(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(
        `${daemon.base}/?${new URLSearchParams({ page: 'query', trace: trace.id, ask: 'events', order: '-time', filter: 'func_name == "pread"' })}`,
    );
    await settled(page);
    await page.locator('.grid tbody tr').first().locator('td').nth(3).click();
    await dialogOf(page).getByRole('link', { name: 'Show on the timeline' }).click();
    await page.locator('.tl-event h3', { hasText: 'pread' }).waitFor();
    await page.waitForFunction(() => document.querySelector('.tl-stage').dataset.state === 'whole');
    const { event, view } = await parametersOf(page),
        shown = await daemon.get(`traces/${trace.id}/events/${encodeURIComponent(event)}`);
    const {
        data: [[longest]],
    } = await daemon.get(
        `traces/${trace.id}/query?${new URLSearchParams({ filter: 'func_name == "pread"', aggregate: 'most:max(time)' })}`,
    );
    assert.equal(shown.dur, longest);
    const [from, to] = view.split(',').map(Number);
    assert.ok(from < shown.start && to > shown.end && to - from < 20 * shown.dur, 'the view is around it');
}

export const tests = [
    { name: 'event: a row opens everything that is known of it', body: rowsOpen },
    { name: 'event: keys and links open it, and it can be copied', body: keysAndLinksOpen },
    { name: 'event: it is shown on the timeline', body: timelineShows },
    { name: 'event: what fills an interval opens, and a value filters', body: valuesFilter },
    { name: 'event: one that is not there is said in words', body: unknownIsSaid },
];
