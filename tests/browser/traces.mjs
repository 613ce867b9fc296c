/* traces.mjs - the list of traces: what it shows, adding by browsing, renaming, refreshing, deleting. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { link, readdir } from 'node:fs/promises';
import path from 'node:path';
import { Daemon, given } from './daemon.mjs';
import { parametersOf, shots, tableNumbers } from './harness.mjs';

const row = (page, name) => page.locator('tbody tr', { has: page.getByRole('link', { name, exact: true }) });

async function choose(page, name, action) {
    await row(page, name)
        .getByRole('button', { name: /Actions/ })
        .click();
    await page.getByRole('menuitem', { name: action }).click();
}

async function listShowsEveryTrace(page, daemon) {
    await page.goto(daemon.base);
    await page.getByRole('link', { name: 'unet3d-v100', exact: true }).waitFor();
    const shown = (await tableNumbers(page.locator('table')))['unet3d-v100'];
    const trace = await daemon.trace('unet3d-v100');
    assert.equal(trace.events, 18039);
    assert.deepEqual(
        [shown.Events, shown.Size, shown.Span, shown.Hosts, shown.Processes],
        [trace.events, trace.bytes, trace.job_time, trace.hosts, trace.processes],
    );
    assert.match(await row(page, 'unet3d-v100').innerText(), /ready[\s\S]*18\u202f039[\s\S]*56\.7\u202fs[\s\S]*dlio/);
}

async function traceIsAddedByBrowsing(page, daemon) {
    await page.goto(daemon.base);
    await page.getByRole('button', { name: 'Add a trace' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a trace' });
    await dialog
        .getByRole('link', { name: /traces$/ })
        .first()
        .click();
    assert.ok((await parametersOf(page)).add.endsWith('traces'), 'the folder is in the URL');
    await page.reload();
    const entry = dialog.locator('li', { hasText: 'two-hosts' });
    await entry.getByRole('button', { name: 'Add' }).click();
    await row(page, 'two-hosts').locator('.badge.ready').waitFor();
    const trace = await daemon.trace('two-hosts');
    const shown = (await tableNumbers(page.locator('table')))['two-hosts'];
    assert.deepEqual([shown.Events, shown.Hosts], [trace.events, 2]);
    await page.goto(`${daemon.base}/?add=${encodeURIComponent(path.dirname(trace.path))}`);
    await dialog.locator('li', { hasText: 'two-hosts' }).getByRole('link', { name: 'Open' }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.waitForFunction(() => location.search === '');
}

async function foundFoldersAreOffered(page, daemon) {
    await page.goto(daemon.base);
    const card = page.getByRole('region', { name: 'Found, not added yet' });
    await card.getByRole('button', { name: /\/edge$/ }).click();
    await row(page, 'edge').locator('.badge.ready').waitFor();
    assert.equal((await daemon.trace('edge')).events, 153);
    await card.getByRole('button', { name: /\/edge$/ }).waitFor({ state: 'detached' });
    const { id } = await daemon.trace('edge');
    await daemon.call('DELETE', `traces/${id}`);
    await card.getByRole('button', { name: /\/edge$/ }).waitFor();
}

async function pathOutsideIsRefusedInWords(page, daemon) {
    await page.goto(`${daemon.base}/?add=/`);
    const input = page.getByRole('textbox', { name: /Path/ });
    await page.locator('dialog .folder-list li').first().waitFor();
    await input.fill('/proc/self');
    await input.press('Enter');
    const said = page.getByRole('dialog', { name: 'Add a trace' }).getByRole('alert');
    await said.waitFor();
    assert.match(await said.innerText(), /\w+ .*\w/);
}

/** What is wrong stands in the dialog, which stays: for a path that is not there, then for one that is. */
async function dialogStays(page, daemon) {
    await page.goto(`${daemon.base}/?add=${encodeURIComponent(path.dirname(given('edge')))}`);
    const dialog = page.getByRole('dialog', { name: 'Add a trace' }),
        input = dialog.getByRole('textbox', { name: /Path/ });
    await dialog.locator('.folder-list li').first().waitFor();
    await input.fill(`${given('edge')}-that-is-not-there`);
    await input.press('Enter');
    await dialog.getByRole('alert').getByText('that-is-not-there').waitFor();
    assert.equal(await page.locator('.toast').count(), 0, 'nothing is said behind the dialog');
    assert.ok(await dialog.isVisible());
    await input.fill(given('edge'));
    await input.press('Enter');
    await dialog.getByText('Added edge').waitFor();
    assert.equal(await dialog.getByRole('alert').count(), 0, 'the error has gone');
    assert.ok(await dialog.isVisible(), 'another one can be added');
    await page.keyboard.press('Escape');
    await row(page, 'edge').locator('.badge.ready').waitFor();
    await daemon.call('DELETE', `traces/${(await daemon.trace('edge')).id}`);
}

/** Keeps what the page says about progress, as often as it says something new. */
function collectProgress() {
    window.progress = [];
    new MutationObserver(() => {
        for (const element of document.querySelectorAll('.progress-words'))
            if (!window.progress.includes(element.textContent)) window.progress.push(element.textContent);
    }).observe(document, { subtree: true, childList: true, characterData: true });
}

/** A trace whose files are there many times: reading it takes far longer than a click. */
async function longIngest(folder, copies) {
    execFileSync(process.env.STRATA_GENERATE, ['--events', '1000000', '--seed', '7', folder]);
    for (const file of await readdir(folder))
        for (let copy = 1; copy < copies; copy++)
            await link(path.join(folder, file), path.join(folder, `${copy}-${file}`));
}

async function ingestShowsItsProgress(page, daemon) {
    await longIngest(path.join(daemon.folder, 'large'), 8);
    await page.addInitScript(collectProgress);
    await page.goto(`${daemon.base}/?add=${encodeURIComponent(daemon.folder)}`);
    await page.locator('dialog .folder-list li', { hasText: 'large' }).getByRole('button', { name: 'Add' }).click();
    await row(page, 'large').locator('.badge.ingesting').waitFor();
    await row(page, 'large').locator('.badge.ready').waitFor();
    const said = await page.evaluate(() => window.progress);
    assert.ok(
        said.some((words) => /\d\u202f%.*of.*iB.*events.*events\/s/.test(words)),
        `progress with bytes, events and rate: ${JSON.stringify(said)}`,
    );
    const shown = (await tableNumbers(page.locator('table'))).large;
    assert.equal(shown.Events, (await daemon.trace('large')).events);
}

async function ingestIsCancelled(page, daemon) {
    await longIngest(path.join(daemon.folder, 'unwanted'), 40);
    await page.goto(`${daemon.base}/?add=${encodeURIComponent(daemon.folder)}`);
    await page.locator('dialog .folder-list li', { hasText: 'unwanted' }).getByRole('button', { name: 'Add' }).click();
    await page.keyboard.press('Escape'); // the dialog stays, for another trace
    await row(page, 'unwanted').getByRole('button', { name: 'Cancel' }).click();
    await row(page, 'unwanted').locator('.badge.failed').waitFor();
    assert.notEqual((await daemon.trace('unwanted')).state, 'ready');
}

async function traceIsRenamedAndTagged(page, daemon) {
    await daemon.ingest(given('edge'));
    await page.goto(`${daemon.base}/?q=edge`);
    await choose(page, 'edge', 'Rename and tag');
    await page.getByLabel('Name', { exact: true }).fill('corner cases');
    await page.getByLabel('Tags').fill('small, odd');
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, 'corner cases').waitFor();
    await page.goto(`${daemon.base}/?q=odd`);
    await row(page, 'corner cases').getByText('small').waitFor();
    assert.deepEqual((await daemon.trace('corner cases')).tags, ['small', 'odd']);
}

async function traceIsRefreshedAndDeleted(page, daemon) {
    const trace = await daemon.ingest(given('edge'));
    await page.goto(daemon.base);
    await choose(page, trace.name, 'Refresh');
    await row(page, trace.name).locator('.badge.ready').waitFor();
    await choose(page, trace.name, 'Delete');
    const dialog = page.getByRole('dialog');
    assert.match(await dialog.innerText(), /trace files themselves stay/);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    assert.ok(await daemon.trace(trace.name));
    await choose(page, trace.name, 'Delete');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await row(page, trace.name).waitFor({ state: 'detached' });
    assert.equal(await daemon.trace(trace.name), undefined);
}

async function listIsSortedByTheUrl(page, daemon) {
    await daemon.ingest(given('two-hosts'));
    await page.goto(daemon.base);
    await page.getByRole('columnheader', { name: 'Events' }).getByRole('button').click();
    assert.equal((await parametersOf(page)).sort, '-events');
    await page.reload();
    await page.locator('tbody tr').first().waitFor();
    const counts = Object.values(await tableNumbers(page.locator('table'))).map((cells) => cells.Events);
    assert.deepEqual(
        counts,
        [...counts].sort((a, b) => b - a),
    );
    await page.goBack();
    await page.waitForFunction(() => !location.search);
}

async function emptyListSaysWhatToDo(page) {
    const daemon = await Daemon.start();
    try {
        await page.goto(daemon.base);
        await page.getByText('No traces yet').waitFor();
        assert.match(
            await page.locator('.snippet').innerText(),
            new RegExp(`curl -X POST ${daemon.base}/api/v1/traces`),
        );
        await page.screenshot({ path: path.join(shots, 'traces empty 1440 light.png') });
    } finally {
        await page.close();
        await daemon.stop();
    }
}

export const tests = [
    { name: 'traces: the list shows what the API says', body: listShowsEveryTrace },
    { name: 'traces: one is added by browsing the roots', body: traceIsAddedByBrowsing },
    { name: 'traces: folders that lie there are offered', body: foundFoldersAreOffered },
    {
        name: 'traces: a path outside the roots is refused in words',
        body: pathOutsideIsRefusedInWords,
        expected: /403/,
    },
    { name: 'traces: errors stand in the dialog, which stays', body: dialogStays, expected: /40\d/ },
    { name: 'traces: an ingest shows its progress', body: ingestShowsItsProgress },
    { name: 'traces: an ingest is cancelled', body: ingestIsCancelled },
    { name: 'traces: one is renamed and tagged', body: traceIsRenamedAndTagged },
    { name: 'traces: one is refreshed and deleted', body: traceIsRefreshedAndDeleted },
    { name: 'traces: the order is in the URL', body: listIsSortedByTheUrl },
    { name: 'traces: an empty list says what to do', body: emptyListSaysWhatToDo },
];
