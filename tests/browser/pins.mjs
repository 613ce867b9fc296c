/* pins.mjs - results that are added to Overview, the page of jobs, and what viewers do not see. */

import assert from 'node:assert/strict';
import { expressionIn, settled } from './harness.mjs';

const card = (page, name) => page.locator(`section.card[aria-label="${name}"]`);

async function pinned(page, daemon, title, traces) {
    await page.getByRole('button', { name: 'Add to Overview' }).click();
    await page.getByRole('dialog').getByLabel('Title').fill(title);
    if (traces) await page.getByRole('dialog').getByLabel('Traces').fill(traces);
    await page.keyboard.press('Enter');
    await page.getByText(`${title} is on Overview`).waitFor();
}

/** A result of one trace, a chart of all; both lead back to their question and go away again. */
async function resultsAreAdded(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    const asked = { page: 'query', trace: trace.id, group: 'cat', agg: 'n = count()', order: '-n' };
    await page.goto(`${daemon.base}/?${new URLSearchParams(asked)}`);
    await settled(page);
    await pinned(page, daemon, 'Busiest categories');
    await page.goto(`${daemon.base}/?${new URLSearchParams({ ...asked, show: 'chart' })}`);
    await page.locator('.chart canvas').waitFor();
    await pinned(page, daemon, 'Categories drawn', '*');
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByRole('dialog').getByText('None yet').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('nav.pages').getByRole('link', { name: 'Overview' }).click();
    const rows = card(page, 'Busiest categories').locator('tbody tr');
    await rows.first().waitFor();
    const { data } = await daemon.call('POST', `traces/${trace.id}/query`, {
        preset: 'dlio',
        group_by: ['cat'],
        aggregate: { n: 'count()' },
        order_by: ['-n'],
        limit: 5,
    });
    assert.deepEqual(
        await rows.evaluateAll((all) => all.map((row) => Number(row.querySelector('data').value))),
        data.map(([, count]) => count),
    );
    await card(page, 'Categories drawn').locator('canvas').waitFor();
    const { queries } = await daemon.get('queries');
    assert.equal(JSON.parse(queries.find(({ name }) => name.endsWith('Categories drawn')).text).of, null);
    await page.getByRole('button', { name: 'Take Categories drawn off Overview' }).click();
    await card(page, 'Categories drawn').waitFor({ state: 'detached' });
    await card(page, 'Busiest categories').getByRole('link', { name: 'Busiest categories' }).click();
    await settled(page);
    assert.equal(await expressionIn(page.getByRole('textbox', { name: 'Group by', exact: true })), 'cat');
    await daemon.call('DELETE', `queries/${encodeURIComponent('overview: Busiest categories')}`);
}

/** What one person writes of a run, the next one who compares it reads. */
async function notesAreKept(page, daemon) {
    const one = await daemon.trace('unet3d-v100'),
        other = await daemon.generated(3000, ['--seed', '11']);
    await page.goto(`${daemon.base}/?page=compare&traces=${one.id},${other.id}`);
    await page.getByLabel(`Note on ${other.name}`).fill('8 workers, <b>new</b> file system');
    await page.keyboard.press('Enter');
    const note = card(page, 'Notes').locator('li', { hasText: '8 workers, <b>new</b> file system' });
    await note.waitFor();
    const { notes } = await daemon.get(`traces/${other.id}/notes`);
    assert.equal(notes.length, 1);
    assert.match(await note.locator('small').innerText(), /^uid \d+, \d{4}-/);
    await page.reload();
    await note.waitFor();
    await note.getByRole('button', { name: /^Delete the note/ }).click();
    await note.waitFor({ state: 'detached' });
    await daemon.call('DELETE', `traces/${other.id}`);
}

async function jobsAreShown(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await daemon.call('POST', `traces/${trace.id}/refresh`);
    await page.goto(daemon.base);
    await page.locator('nav.pages').getByRole('link', { name: 'Jobs' }).click();
    const { settings } = await daemon.get('settings');
    await page.getByRole('table', { name: 'Settings' }).waitFor();
    assert.equal(await page.getByRole('table', { name: 'Settings' }).locator('tbody tr').count(), settings.length);
    await page.getByRole('table', { name: 'Jobs' }).getByText('Ingest').first().waitFor();
    await page.getByRole('table', { name: 'Jobs' }).getByRole('link', { name: trace.name }).first().click();
    await page.getByRole('heading', { level: 1, name: trace.name }).waitFor();
}

export const tests = [
    { name: 'pins: results and charts are added to Overview', body: resultsAreAdded },
    { name: 'pins: notes on runs are kept, and shown where they are compared', body: notesAreKept },
    { name: 'jobs: what is done for everybody, and the settings', body: jobsAreShown },
];
