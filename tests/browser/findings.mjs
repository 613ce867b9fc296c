/* findings.mjs - sentences, thresholds and evidence against the API's, on their page and on Overview. */

import assert from 'node:assert/strict';
import { given } from './daemon.mjs';
import { comparedOnSteps } from './evidence.mjs';
import { parametersOf } from './harness.mjs';

const LABELS = { critical: 'Critical', warning: 'Warnings', info: 'Notes', ok: 'Passed', na: 'Not applicable' };

async function openFindings(page, daemon, more = {}) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?${new URLSearchParams({ page: 'findings', trace: trace.id, ...more })}`);
    await page.locator('.finding').first().waitFor();
    return daemon.get(`traces/${trace.id}/findings`);
}

async function sentencesAreTheApis(page, daemon) {
    const { findings } = await openFindings(page, daemon);
    for (const [severity, label] of Object.entries(LABELS)) {
        const card = page.getByRole('region', { name: label, exact: true });
        const wanted = findings
            .filter((one) => one.severity === severity)
            .map((one) => `${one.title} ${one.text}`.trim());
        assert.deepEqual(
            (await card.locator('.finding-words').allTextContents()).map((words) => words.trim()),
            wanted,
            label,
        );
    }
    assert.equal(
        await page.getByRole('region', { name: 'Passed', exact: true }).locator('.finding').first().isVisible(),
        false,
        'what is in order is folded',
    );
}

async function evidenceIsTheApis(page, daemon) {
    const { findings } = await openFindings(page, daemon, { rule: 'input_bound' });
    const finding = findings.find(({ rule }) => rule === 'input_bound');
    const rows = page.getByRole('table', { name: `Evidence: ${finding.title}` }).locator('tbody tr');
    assert.deepEqual(
        await rows.evaluateAll((all) =>
            all.map((row) =>
                [...row.cells].slice(0, -1).map((cell) => {
                    const data = cell.querySelector('data');
                    return data ? Number(data.value) : cell.textContent;
                }),
            ),
        ),
        finding.evidence.data,
    );
    const bars = await page.locator('.finding[open] .bar').evaluateAll((all) => all.map((one) => one.clientWidth));
    assert.equal(bars.length, finding.evidence.data.length, 'a bar beside each row');
    await page.getByText(finding.advice[0]).waitFor();
    const other = findings.find(({ rule }) => rule === 'au');
    await page.locator('.finding > summary', { hasText: other.text }).click();
    await page.waitForFunction(() => new URLSearchParams(location.search).get('rule') === 'au');
    await page.getByText(other.advice[0]).waitFor();
}

/** A link of a finding shows the events that the sentence counts. */
async function linksLeadToTheEvents(page, daemon) {
    const { findings } = await openFindings(page, daemon, { rule: 'small_reads' });
    const finding = findings.find(({ rule }) => rule === 'small_reads');
    await page.locator('.finding[open]').getByRole('link', { name: 'Open as a query' }).click();
    await page.getByRole('region', { name: 'Result' }).locator('tbody tr').first().waitFor();
    assert.equal((await parametersOf(page)).filter, finding.link.filter);
}

/** The address holds which severity and group are shown. */
async function someAreShown(page, daemon) {
    const { findings } = await openFindings(page, daemon, { severity: 'ok', group: 'io' });
    const texts = () => page.locator('.finding-words').allTextContents();
    const of = (choose) => findings.filter(choose).map(({ title, text }) => `${title} ${text}`);
    assert.deepEqual(
        await texts(),
        of(({ severity, group }) => severity === 'ok' && group === 'io'),
    );
    assert.ok(await page.locator('.finding').first().isVisible(), 'what is asked for alone is not folded');
    await page.getByLabel('All severities').selectOption('');
    await page.getByRole('region', { name: 'Notes', exact: true }).waitFor();
    assert.deepEqual(
        await texts(),
        of(({ group }) => group === 'io'),
    );
    assert.equal((await parametersOf(page)).severity, undefined);
}

async function overviewHasTheWorst(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    const { findings } = await daemon.get(`traces/${trace.id}/findings`);
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
    const lines = page.locator('.finding-line');
    await lines.first().waitFor();
    const wanted = findings.filter(({ severity }) => severity === 'critical' || severity === 'warning').slice(0, 3);
    assert.deepEqual(
        await lines.locator('.finding-words').allTextContents(),
        wanted.map(({ text }) => text),
    );
    await lines.first().click();
    await page.locator('.finding[open]').getByText(wanted[0].text).waitFor();
}

/** The stall of all ranks by cause, what has none hatched, and the way to Overlap. */
async function overviewHasTheCauses(page, daemon) {
    const name = 'unet3d-plain-dialect',
        trace = (await daemon.trace(name)) ?? (await daemon.ingest(given(name)));
    const { attribution } = await daemon.get(`traces/${trace.id}/overlap?filters=off&attribution=stall&by=unit`);
    const wanted = attribution.causes.filter(({ time }) => time > 0);
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
    const card = page.getByRole('region', { name: 'Causes of the stall' });
    await card.locator('li').first().waitFor();
    assert.deepEqual(
        (
            await card
                .locator('li')
                .evaluateAll((all) =>
                    all.map((one) => [...one.querySelectorAll('data')].map((data) => Number(data.value))),
                )
        ).flat(),
        wanted.flatMap(({ time, share }) => [share, time]),
    );
    const parts = await card
        .locator('.segment')
        .evaluateAll((all) =>
            all.map((one) => [one.getBoundingClientRect().width, getComputedStyle(one).backgroundImage !== 'none']),
        );
    const whole = parts.reduce((sum, [width]) => sum + width + 2, 0);
    assert.deepEqual(
        parts.map(([width, hatched], at) => [Math.abs((width + 2) / whole - wanted[at].share) < 0.01, hatched]),
        wanted.map(({ name }) => [true, name === 'untraced']),
    );
    await card.getByRole('link').click();
    await page.getByRole('table', { name: 'Causes' }).waitFor();
    assert.equal((await parametersOf(page)).attribution, 'stall');
}

async function adviceIsSimulated(page, daemon) {
    const { findings } = await openFindings(page, daemon, { rule: 'synchronous_loading' });
    assert.deepEqual(findings.find(({ rule }) => rule === 'synchronous_loading').what_if, { workers: '4' });
    await page.locator('.finding[open]').getByRole('link', { name: 'Simulate it' }).click();
    await page.locator('.card[aria-label="Result"] .answer').waitFor();
    assert.equal(await page.getByLabel('Workers a rank').inputValue(), '4');
    await page.getByRole('table', { name: 'Baseline and scenario' }).locator('tbody tr').nth(1).waitFor();
}

/** More ranks than a page of rows: the sums are of all of them, and lists say how many they leave out. */
async function manyRanksAreSummedUp(page, daemon) {
    const trace = await daemon.generated(240000, ['--ranks', '300', '--workers', '1', '--epochs', '3']);
    const { findings } = await daemon.get(`traces/${trace.id}/findings?preset=dlio`),
        { attribution } = await daemon.call('POST', `traces/${trace.id}/overlap`, {
            preset: 'dlio',
            filters: 'off',
            attribution: { chain: 'stall', by: ['unit', 'step'], longest: 0 },
        });
    assert.ok(
        attribution.rows.row_count > 1000 && attribution.rows.next,
        `${attribution.rows.row_count} rows are a page`,
    );
    await page.goto(`${daemon.base}/?page=steps&trace=${trace.id}&preset=dlio`);
    await page.locator('.tile').first().waitFor();
    assert.ok((await comparedOnSteps(page, findings, 'worker_startup')) > 0);
    await page.getByText('the first 20 of 300').waitFor();
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}&preset=dlio&stragglers=rank`);
    await page.getByRole('region', { name: 'Stragglers', exact: true }).scrollIntoViewIfNeeded();
    await page.getByText('The slowest 5 of 300').waitFor();
}

/**
 * The report has its style where the daemon serves it, fits a narrow screen, and prints with the headings of its
 * tables.
 */
async function reportIsStyled(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    for (const [width, colorScheme] of [
        [1280, 'light'],
        [390, 'dark'],
    ]) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await page.goto(`${daemon.base}/api/v1/traces/${trace.id}/report.html`);
        const { parts, bar, over, marks } = await page.evaluate(() => ({
            parts: [...document.querySelectorAll('.bar i')].map((part) => part.getBoundingClientRect().width),
            bar: document.querySelector('.bar').getBoundingClientRect().width,
            over: document.documentElement.scrollWidth - innerWidth,
            marks: [...document.querySelectorAll('.k')].map((mark) => getComputedStyle(mark).backgroundColor),
        }));
        assert.ok(Math.abs(parts.reduce((a, b) => a + b) / bar - 1) < 0.002, 'the bar is filled');
        assert.ok(over <= 0, `${over} pixels too wide at ${width}`);
        assert.equal(new Set(marks).size, parts.length, 'a colour for each cause');
    }
    await page.emulateMedia({ media: 'print' });
    assert.ok(
        await page
            .locator('table:has(thead)')
            .evaluateAll(
                (all) =>
                    all.length > 5 &&
                    all.every((table) => getComputedStyle(table.tHead).display === 'table-header-group'),
            ),
    );
    assert.equal(
        await page
            .locator('.t')
            .first()
            .evaluate((box) => getComputedStyle(box).overflowX),
        'visible',
        'paper does not scroll',
    );
}

export const tests = [
    { name: "findings: sentences are the API's, by severity", body: sentencesAreTheApis },
    { name: "findings: evidence and advice are the API's", body: evidenceIsTheApis },
    { name: 'findings: a link leads to the events', body: linksLeadToTheEvents },
    { name: 'findings: those of a severity and a group', body: someAreShown },
    { name: 'findings: Overview has the worst', body: overviewHasTheWorst },
    { name: 'findings: Overview has the causes of the stall', body: overviewHasTheCauses },
    { name: 'findings: advice is simulated', body: adviceIsSimulated },
    { name: 'findings: steps and stragglers of more ranks than a page has rows', body: manyRanksAreSummedUp },
    { name: 'findings: the report is styled, narrow, dark and on paper', body: reportIsStyled },
];
