/* report.mjs - the ingest report against the ledger: every kind of line, every file, every line that was lost. */

import assert from 'node:assert/strict';
import { given } from './daemon.mjs';

async function linesAddUp(page, daemon) {
    const trace = await daemon.ingest(given('edge'));
    const report = await daemon.get(`traces/${trace.id}/report`);
    await page.goto(`${daemon.base}/?page=report&trace=${trace.id}`);
    const legend = page.locator('.breakdown-legend li');
    await legend.first().waitFor();
    const shown = await legend.evaluateAll((all) =>
        Object.fromEntries(
            all.map((one) => [
                one.querySelector('.name').textContent,
                Number(one.querySelector('strong').textContent.replace(/\D/g, '')),
            ]),
        ),
    );
    for (const [kind, count] of Object.entries(shown)) assert.equal(count, report.totals[kind], kind);
    assert.equal(
        Object.values(shown).reduce((a, b) => a + b),
        report.totals.lines,
        'the kinds sum up to the lines',
    );
    const line = report.malformed[0];
    const lost = page.getByRole('table', { name: 'Malformed lines' }).locator('tbody tr');
    assert.equal(await lost.count(), report.malformed.length);
    for (const words of [line.file, String(line.line), line.reason, line.text])
        assert.ok((await lost.first().innerText()).includes(words), words);
    assert.equal(await page.getByRole('table', { name: 'Files' }).locator('tbody tr').count(), report.files.length);
    const filters = await page.getByRole('table', { name: 'Filters of the presets' }).innerText();
    for (const [name, { kept }] of Object.entries(report.presets))
        assert.match(filters, new RegExp(`${name}\\s+${kept}\\b`));
    await daemon.call('DELETE', `traces/${trace.id}`);
}

export const tests = [{ name: 'report: lines, lost lines, files and filters are the ledger', body: linesAddUp }];
