/* findings.mjs - sentences, thresholds and evidence against the API's, on their page and on Overview. */

import assert from 'node:assert/strict';
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
        const wanted = findings.filter((one) => one.severity === severity).map((one) => `${one.title} ${one.text}`.trim());
        assert.deepEqual((await card.locator('.finding-words').allTextContents()).map((words) => words.trim()), wanted, label);
    }
    assert.equal(await page.getByRole('region', { name: 'Passed', exact: true }).locator('.finding').first().isVisible(), false, 'what is in order is folded');
}

async function evidenceIsTheApis(page, daemon) {
    const { findings } = await openFindings(page, daemon, { rule: 'input_bound' });
    const finding = findings.find(({ rule }) => rule === 'input_bound');
    const rows = page.getByRole('table', { name: `Evidence: ${finding.title}` }).locator('tbody tr');
    assert.deepEqual(await rows.evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => { const data = cell.querySelector('data'); return data ? Number(data.value) : cell.textContent; }))), finding.evidence.data);
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

async function overviewHasTheWorst(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    const { findings } = await daemon.get(`traces/${trace.id}/findings`);
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
    const lines = page.locator('.finding-line');
    await lines.first().waitFor();
    const wanted = findings.filter(({ severity }) => severity === 'critical' || severity === 'warning').slice(0, 3);
    assert.deepEqual(await lines.locator('.finding-words').allTextContents(), wanted.map(({ text }) => text));
    await lines.first().click();
    await page.locator('.finding[open]').getByText(wanted[0].text).waitFor();
}

export const tests = [
    { name: 'findings: sentences are the API\'s, by severity', body: sentencesAreTheApis },
    { name: 'findings: evidence and advice are the API\'s', body: evidenceIsTheApis },
    { name: 'findings: a link leads to the events', body: linksLeadToTheEvents },
    { name: 'findings: Overview has the worst', body: overviewHasTheWorst },
];
