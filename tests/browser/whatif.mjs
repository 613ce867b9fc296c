/* whatif.mjs - what if: the proof, a scenario in the address, the result beside the API's, and refusals. */

import assert from 'node:assert/strict';
import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { given, golden } from './daemon.mjs';
import { idle, parametersOf } from './harness.mjs';

async function openWhatif(page, daemon, name = 'unet3d-v100', more = '') {
    const copied = name.startsWith('torch') && golden(`whatif/traces/${name}`);
    const trace =
        (await daemon.trace(name)) ?? (await (copied ? daemon.ingestCopy(copied) : daemon.ingest(given(name))));
    await page.goto(`${daemon.base}/?page=whatif&trace=${trace.id}${more}`);
    await page.locator('.card[aria-label="Proof"], .notice.bad').first().waitFor();
    await idle(page);
    return trace;
}

const figures = (page, row) =>
    page
        .getByRole('table', { name: 'Baseline and scenario' })
        .locator('tbody tr')
        .nth(row)
        .locator('data')
        .evaluateAll((all) => all.map((one) => Number(one.value)));

async function proofComesFirst(page, daemon) {
    const trace = await openWhatif(page, daemon);
    const { check } = await daemon.call('POST', `traces/${trace.id}/whatif`, {});
    const shown = await page
        .locator('.card[aria-label="Proof"] dd data')
        .evaluateAll((all) => all.map((one) => Number(one.value)));
    assert.deepEqual(shown, [
        check.train_time_traced,
        check.train_time_modelled,
        check.epoch_error_max,
        check.step_error_median,
        check.stall_traced,
        check.stall_modelled,
    ]);
    assert.equal(await page.locator('.card[aria-label="Proof"] .badge').innerText(), 'Reproduced');
}

async function slidersMakeTheScenario(page, daemon) {
    const trace = await openWhatif(page, daemon);
    await page.getByLabel('Storage takes').fill('0.5');
    await page.waitForFunction(() => new URLSearchParams(location.search).get('if_storage') === '0.5');
    await idle(page);
    const { scenarios } = await daemon.call('POST', `traces/${trace.id}/whatif`, { scenarios: [{ storage: 0.5 }] });
    const [, ...wanted] = scenarios.data[1],
        at = [
            'train_time',
            'epoch_time',
            'step_time',
            'stall',
            'barrier_wait',
            'au',
            'speedup',
            'train_time_margin',
        ].map((name) => scenarios.columns.indexOf(name) - 1);
    assert.deepEqual(
        await figures(page, 1),
        at.map((index) => wanted[index]),
    );
    await page.getByRole('button', { name: 'As it was' }).click();
    await page.waitForFunction(() => !new URLSearchParams(location.search).has('if_storage'));
    assert.equal((await parametersOf(page)).if_storage, undefined);
}

async function addressHoldsTheScenario(page, daemon) {
    await openWhatif(page, daemon, 'unet3d-v100', '&if_workers=4&if_compute=0.5');
    assert.equal(await page.getByLabel('Workers a rank').inputValue(), '4');
    assert.equal(await page.getByLabel('Computing takes').inputValue(), '0.5');
    assert.match(
        await page.locator('.card[aria-label="Result"] .answer').innerText(),
        /^The training would take .* less\.$/,
    );
}

async function sweepHasItsMarginAndKnee(page, daemon) {
    const trace = await openWhatif(page, daemon, 'torch-w2p2', '&as=sweep');
    const { sweep, knee } = await daemon.call('POST', `traces/${trace.id}/whatif`, {
        sweep: { workers: [1, 2, 3, 4, 6, 8, 12, 16, 24, 32], storage: [1, 0.5, 0] },
    });
    const card = page.getByRole('region', { name: 'Train time by workers' });
    await card.getByText(knee[0].sentence.split(':')[0]).waitFor();
    const at = (name) => sweep.columns.indexOf(name),
        shown = await card
            .locator('tbody tr')
            .evaluateAll((all) => all.map((row) => [...row.querySelectorAll('data')].map((one) => Number(one.value))));
    const wanted = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32].map((workers) =>
        sweep.data
            .filter((row) => row[at('workers')] === workers)
            .flatMap((row) => [row[at('train_time')], row[at('train_time_margin')]]),
    );
    assert.deepEqual(shown, wanted);
    assert.match(knee[0].sentence, /of what infinitely many would/);
}

async function refusalIsShownAlone(page, daemon) {
    await openWhatif(page, daemon, 'edge');
    assert.match(
        await page.locator('.notice.bad').first().innerText(),
        /samples are made both by ranks and by their workers/,
    );
    assert.equal(await page.locator('.card:visible').count(), 0);
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0, 'it would be refused again');
}

/** The simulated epoch beside the traced one, on the canvas of the timeline. */
async function lanesAreDrawn(page, daemon) {
    const trace = await openWhatif(page, daemon, 'torch-w2p2', '&if_workers=3&epoch=2');
    const card = page.getByRole('region', { name: 'One epoch, traced and simulated' });
    await card.locator('.tl-stage[data-state="whole"]').waitFor();
    assert.deepEqual(await card.locator('.tl-name').allTextContents(), [
        'traced',
        'simulated',
        'worker 0',
        'worker 1',
        'worker 2',
    ]);
    const { timeline } = await daemon.call('POST', `traces/${trace.id}/whatif`, {
        scenarios: [{ name: 'scenario', workers: 3 }],
        timeline: { scenario: 'scenario', epoch: 2, rank: 0 },
    });
    const words = await card.locator('canvas').getAttribute('aria-label'),
        lane = timeline.columns.indexOf('lane');
    for (const name of ['worker 0', 'worker 1', 'worker 2'])
        assert.match(
            words,
            new RegExp(`${name}, ${timeline.data.filter((row) => row[lane] === name).length} intervals`),
        );
    await card.locator('canvas').hover({ position: { x: 200, y: 41 } });
    await card.locator('.tl-card:visible').waitFor();
}

/** A folder whose log holds nothing of one: counted, listed, and every page says so. */
async function emptyLogExplainsItself(page, daemon) {
    const trace =
        (await daemon.trace('no-log')) ?? (await daemon.ingestFiles('no-log', { 'output.log': 'hello\nworld\n' }));
    await page.goto(`${daemon.base}/?page=whatif&trace=${trace.id}`);
    await page.getByText('of the 2 lines of its files none is one').waitFor();
    await page.goto(`${daemon.base}/?page=report&trace=${trace.id}`);
    await page.getByText('output.log').first().waitFor();
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
    await page.getByRole('heading', { name: 'No events' }).waitFor();
}

/** A log of the loader, from the dialog that adds it until it is deleted. */
async function importedLogLivesLikeATrace(page, daemon) {
    const folder = path.join(daemon.folder, 'loader-log'),
        row = page.locator('tr', { hasText: 'loader-log' });
    await mkdir(folder, { recursive: true });
    await cp(golden('simulation/output.log'), path.join(folder, 'output.log'));
    await cp(golden('simulation/simulator/sim_conf.json'), path.join(folder, 'sim_conf.json'));
    await page.goto(`${daemon.base}/?add=${encodeURIComponent(daemon.folder)}`);
    await page
        .getByRole('dialog', { name: 'Add a trace' })
        .locator('li', { hasText: 'loader-log' })
        .getByRole('button', { name: 'Add' })
        .click();
    await row.locator('.badge.ready').waitFor();
    const trace = await daemon.trace('loader-log'),
        { totals } = await daemon.get(`traces/${trace.id}/report`);
    assert.equal(trace.kind, 'dataload');
    await page.goto(`${daemon.base}/?page=report&trace=${trace.id}`);
    await page.getByText('output.log').first().waitFor();
    assert.ok(totals.events > 0 && totals.malformed === 0);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'What if' }).click();
    const { data } = await daemon.get(`traces/${trace.id}/whatif/align`);
    const shown = page.getByRole('table').first().locator('tbody tr');
    await shown.nth(data.length - 1).waitFor(); // the page before has a shorter table
    assert.equal(await shown.count(), data.length);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Traces' }).click();
    await row.getByRole('button', { name: 'Actions for loader-log' }).click();
    await page.getByRole('menuitem', { name: 'Refresh' }).click();
    await row.locator('.badge.ready').waitFor();
    await row.getByRole('button', { name: 'Actions for loader-log' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    assert.equal(await daemon.trace('loader-log'), undefined);
}

export const tests = [
    { name: 'what if: the proof comes first, with the API\u2019s numbers', body: proofComesFirst },
    { name: 'what if: sliders make the scenario', body: slidersMakeTheScenario },
    { name: 'what if: the address holds the scenario', body: addressHoldsTheScenario },
    { name: 'what if: the sweep has its margin and its knee', body: sweepHasItsMarginAndKnee },
    { name: "what if: the epoch is drawn on the timeline's canvas", body: lanesAreDrawn },
    { name: 'what if: an imported log lives like a trace', body: importedLogLivesLikeATrace },
    { name: 'what if: a log without lines explains itself', body: emptyLogExplainsItself, expected: /422/ },
    { name: 'what if: a refusal is shown alone', body: refusalIsShownAlone, expected: /422/ },
];
