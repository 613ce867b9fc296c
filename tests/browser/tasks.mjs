/* tasks.mjs - a Dask computation: from adding its folder to its critical path. */

import assert from 'node:assert/strict';
import { golden } from './daemon.mjs';
import { parametersOf } from './harness.mjs';

/** The sample of four files; registered once. */
export async function sampleTrace(daemon) {
    return (await daemon.trace('dasf')) ?? daemon.ingestCopy(golden('dasf'), 'default-');
}

async function fromAddingToTheCriticalPath(page, daemon) {
    const trace = await sampleTrace(daemon);
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Tasks' }).click();
    await page.locator('.answer', { hasText: 'longest chain' }).waitFor();
    assert.match(await page.locator('.answer').innerText(), /its longest chain of tasks takes 1\.17\u202fs/);
    const chain = page.getByRole('region', { name: 'Chains of tasks' });
    const shown = await chain.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.cells[1].textContent));
    assert.deepEqual(
        shown,
        (await daemon.get(`traces/${trace.id}/dasf/critical_path`)).data.map((row) => row[2]),
    );
    await page.getByRole('button', { name: 'As it ran' }).click();
    await chain.locator('th', { hasText: 'Idle' }).waitFor();
    await page.getByRole('button', { name: 'Use the estimated offsets' }).click();
    await page.getByText('Clocks are set').waitFor();
    assert.match((await parametersOf(page)).offset, /^gnode01:-?\d/);
}

/** The link of the chain finds its tasks, and nothing else. */
async function chainStandsOutOnTheTimeline(page, daemon) {
    const trace = await sampleTrace(daemon);
    await page.goto(`${daemon.base}/?page=tasks&trace=${trace.id}`);
    const chain = page.getByRole('region', { name: 'Chains of tasks' }).first();
    await chain.getByRole('link', { name: 'On the timeline' }).click();
    const keys = (await daemon.get(`traces/${trace.id}/dasf/critical_path`)).data.map((row) => row[1]);
    await page.waitForFunction(() => new URLSearchParams(location.search).get('page') === 'timeline');
    const { find, open } = await parametersOf(page);
    assert.ok(find.startsWith('=args.key in ['));
    const rows = (await daemon.get(`traces/${trace.id}/dasf/critical_path`)).data;
    for (const row of rows) assert.ok(open.split(',').includes(`r:${row[3]}:${row[4].split('-').at(-1)}`), row[4]);
    await page.locator('.tl-bar input[type=search]').waitFor();
    const found = await daemon.call('POST', `traces/${trace.id}/query`, {
        filter: `cat == "compute" and (${find.slice(1)})`,
        columns: ['args.key'],
    });
    assert.deepEqual(new Set(found.data.map(([key]) => key)), new Set(keys));
}

/** The timeline draws recorded times, and says what the clocks of hosts make of them. */
async function timelineSaysWhatClocksDo(page, daemon) {
    const trace = await sampleTrace(daemon);
    await page.goto(`${daemon.base}/?page=timeline&trace=${trace.id}`);
    const notice = page.locator('.notice', { hasText: 'by the clock of its host as recorded' });
    await notice.waitFor();
    assert.match(await notice.innerText(), /contradict the order of tasks/);
    await page.locator('.tl-name', { hasText: 'worker 1' }).first().waitFor();
    assert.equal(await page.locator('.tl-name', { hasText: /rank|process/ }).count(), 0);
    await notice.getByRole('link', { name: 'Offsets of the clocks' }).click();
    await page.getByRole('button', { name: 'Use the estimated offsets' }).click();
    await page.getByText('Clocks are set').waitFor();
    await page.getByRole('region', { name: 'Chains of tasks' }).getByRole('link', { name: 'On the timeline' }).click();
    await page.locator('.notice', { hasText: 'without the offsets that are set (gnode01:' }).waitFor();
}

/** What no task covers is idle: of the workers alone, not of what samples their hosts. */
async function overviewSaysHowIdleWorkersWere(page, daemon) {
    const trace = await sampleTrace(daemon);
    const {
        scope_count: workers,
        idle,
        span,
    } = await daemon.get(`traces/${trace.id}/overlap?preset=dask&scope=process&layers=load,other,exchange`);
    assert.equal(workers, 4);
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
    const card = page.getByRole('region', { name: 'Where the time went' });
    await card.getByText('they were idle').waitFor();
    const tiles = await page.locator('.tiles').innerText();
    assert.match(tiles, /Runs of tasks\s+301\s/);
    assert.match(tiles, /GPU utilisation\s+71\.7\s%\s+261\ssamples/);
    const shown = await card
        .locator('.breakdown-legend li', { hasText: 'no task ran' })
        .locator('data')
        .evaluateAll((all) => all.map((one) => Number(one.value)));
    assert.deepEqual(
        shown.map((one) => one.toFixed(6)),
        [idle / span, idle].map((one) => one.toFixed(6)),
    );
}

export const tests = [
    { name: 'tasks: from adding a computation to its critical path', body: fromAddingToTheCriticalPath },
    { name: 'tasks: the chain stands out on the timeline', body: chainStandsOutOnTheTimeline },
    { name: 'tasks: the timeline says what the clocks of hosts do', body: timelineSaysWhatClocksDo },
    { name: 'tasks: the overview says how idle workers were', body: overviewSaysHowIdleWorkersWere },
];
