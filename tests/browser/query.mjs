/* query.mjs - questions and their answers against the API's: boxes, mistakes, events, charts, saved questions. */

import assert from 'node:assert/strict';
import { expressionIn, offered, parametersOf, settled } from './harness.mjs';
import { gridRows } from './layer.mjs';

async function openQuery(page, daemon, more = {}) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?${new URLSearchParams({ page: 'query', trace: trace.id, ...more })}`);
    await settled(page);
    return trace;
}

const ask = (daemon, trace, request) =>
    daemon.call('POST', `traces/${trace.id}/query`, { preset: 'dlio', ...request });

async function write(page, label, words) {
    const box = page.getByRole('textbox', { name: label, exact: true });
    await box.fill(words);
    await box.press('Enter');
}

const inUrl = (page, key, words) =>
    page.waitForFunction(([name, wanted]) => new URLSearchParams(location.search).get(name) === wanted, [key, words]);

async function answersAreTheApis(page, daemon) {
    const trace = await openQuery(page, daemon);
    const wanted = await ask(daemon, trace, {
        group_by: ['func_name'],
        aggregate: { time: 'sum(time)', calls: 'count()' },
        order_by: ['-time'],
    });
    assert.deepEqual(
        (await gridRows(page)).slice(0, 12).map((row) => [row.Function, row.time, row.calls]),
        wanted.data.slice(0, 12),
    );
    assert.equal(await page.locator('.grid-words').innerText(), `${wanted.row_count} rows`);
    await write(page, 'Group by', 'file = basename(file_name)');
    await inUrl(page, 'group', 'file = basename(file_name)');
    await write(page, 'Aggregates', 'bytes = sum(size), p95 = quantile(time, 0.95)');
    await inUrl(page, 'agg', 'bytes = sum(size), p95 = quantile(time, 0.95)');
    await write(page, 'Having', 'bytes > 0');
    await inUrl(page, 'having', 'bytes > 0');
    await page.locator('.grid thead').getByRole('button', { name: 'bytes' }).click();
    await inUrl(page, 'order', '-bytes');
    await write(page, 'First rows', '5');
    await inUrl(page, 'limit', '5');
    await settled(page);
    const files = await ask(daemon, trace, {
        group_by: [{ file: 'basename(file_name)' }],
        aggregate: { bytes: 'sum(size)', p95: 'quantile(time, 0.95)' },
        then: { filter: 'bytes > 0', order_by: ['-bytes'], limit: 5 },
    });
    assert.deepEqual(
        (await gridRows(page)).map((row) => [row.file, row.bytes, row.p95]),
        files.data,
    );
    await page.locator('.grid tbody button').first().click();
    await inUrl(page, 'filter', `basename(file_name) == "${files.data[0][0]}"`);
    await settled(page);
    assert.equal((await gridRows(page)).length, 1);
}

/** While an answer is awaited the rows before it can be clicked; a click on them takes back nothing that was typed. */
async function outdatedHeadsKeepTheQuestion(page, daemon) {
    await openQuery(page, daemon);
    let answer = () => {};
    const held = new Promise((resolve) => {
        answer = resolve;
    });
    await page.route(
        (url) => url.pathname.endsWith('/query'),
        async (route) => {
            await held;
            await route.continue().catch(() => {});
        },
    );
    const words = 'bytes = sum(size), p95 = quantile(time, 0.95)';
    await write(page, 'Aggregates', words);
    await inUrl(page, 'agg', words);
    await page.locator('.outdated .grid thead').getByRole('button', { name: 'bytes' }).click();
    await inUrl(page, 'order', '-bytes');
    assert.equal((await parametersOf(page)).agg, words);
    answer();
    await settled(page);
    assert.deepEqual(Object.keys((await gridRows(page))[0]), ['Function', 'bytes', 'p95']);
}

async function mistakesAreMarked(page, daemon) {
    await openQuery(page, daemon);
    await write(page, 'Aggregates', 'n = count(), x = sum(sise)');
    const problem = page.locator('#query-agg-problem');
    await problem.getByText('sise').waitFor();
    assert.equal(await page.locator('.query .fault').textContent(), 'sise', 'the name is marked');
    await write(page, 'Aggregates', 'percentile(time, 99), n = count(');
    await problem.getByText("unknown function 'percentile'; there are count,").waitFor();
    assert.equal(await page.locator('.query .fault').textContent(), 'percentile', 'the first mistake is marked');
    await write(page, 'Aggregates', 'n = count(), n = sum(size)');
    await problem.getByText('two of the name').waitFor();
    await write(page, 'Aggregates', 'n = count()');
    await write(page, 'Order by', '-n, zzz');
    await page.locator('#query-order-problem').getByText('zzz').waitFor();
    await write(page, 'Order by', '-n');
    await settled(page);
    assert.equal(await page.locator('.filter-problem:not(:empty)').count(), 0);
}

/** What completion and signatures say is what the server publishes, a word that is new included. */
async function wordsAreTheServers(page, daemon) {
    await page.route('**/api/v1/language', async (route) => {
        const answer = await route.fetch(),
            published = await answer.json();
        const zonk = { ...published.functions[0], name: 'zonk', signature: 'zonk(x, depth)', text: 'Zonks x.' };
        await route.fulfill({ response: answer, json: { ...published, functions: [...published.functions, zonk] } });
    });
    await openQuery(page, daemon);
    const box = page.getByRole('textbox', { name: 'Aggregates', exact: true }),
        signature = page.locator('#query-agg-signature');
    await box.fill('p = zon');
    await (await offered(page, /zonk/)).click();
    assert.equal(await expressionIn(box), 'p = zonk(');
    await box.pressSequentially('max(time, ');
    await signature.getByText('max(x)').waitFor();
    await box.press('Backspace');
    await box.press('Backspace');
    await box.pressSequentially('), 2');
    await signature.getByText('zonk(x, depth)').waitFor();
    assert.equal((await signature.locator('strong').textContent()).trim(), 'depth');
    await page.getByRole('textbox', { name: 'Filter', exact: true }).fill('func_name.str.contains("x"');
    await page.locator('#filter-signature strong', { hasText: '"pattern"' }).waitFor();
}

async function completionKnowsResults(page, daemon) {
    await openQuery(page, daemon);
    const box = page.getByRole('textbox', { name: 'Aggregates', exact: true });
    await box.fill('p = quan');
    await (await offered(page, /quantile/)).click();
    assert.equal(await expressionIn(box), 'p = quantile(');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    const order = page.getByRole('textbox', { name: 'Order by', exact: true });
    await order.fill('-long');
    await offered(page, /longest/);
}

async function eventsAreTheApis(page, daemon) {
    const trace = await openQuery(page, daemon, {
        ask: 'events',
        order: '-time',
        columns: 'func_name, time, pid, args.ret',
    });
    const wanted = await ask(daemon, trace, {
        columns: ['func_name', 'time', 'pid', 'args.ret'],
        order_by: ['-time'],
        limit: 30,
    });
    const shown = (await gridRows(page)).slice(0, 20);
    assert.deepEqual(
        shown.map((row) => [row.Function, row.Duration, Number(row.Process)]),
        wanted.data.slice(0, 20).map((row) => row.slice(0, 3)),
    );
    await page.locator('.grid').evaluate((element) => {
        element.scrollTop = element.scrollHeight;
    });
    await page.waitForFunction(
        (count) => document.querySelector(`[aria-rowindex="${count + 1}"] data`),
        wanted.row_count,
    );
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByLabel('args.fd', { exact: true }).check();
    await page.waitForFunction(() => new URLSearchParams(location.search).get('columns').includes('args.fd'));
    await page.locator('.grid thead').getByText('args.fd').waitFor();
}

async function chartsAreDrawn(page, daemon) {
    await openQuery(page, daemon);
    await page.getByRole('group', { name: 'Examples' }).getByRole('button', { name: 'Bandwidth over time' }).click();
    await page.locator('.chart canvas').waitFor();
    await page.locator('.chart-canvas').hover({ position: { x: 412, y: 150 } });
    await page
        .locator('.chart-tip')
        .filter({ hasText: 'MiB/s' })
        .or(page.locator('.chart-tip').filter({ hasText: 'GiB/s' }))
        .first()
        .waitFor();
    await page.getByLabel('Column to draw').selectOption('calls');
    await inUrl(page, 'y', 'calls');
    await page.getByRole('group', { name: 'Show as' }).getByRole('button', { name: 'Table' }).click();
    await settled(page);
    assert.match((await gridRows(page))[0].interval, /^0\.0 \u2013 0\.5\u202fs$/);
}

/** A chart needs more rows than the first page; when they do not come, it says so, and asks again. */
async function chartsSayWhatFails(page, daemon) {
    await page.route(
        (url) => url.searchParams.has('offset'),
        (route) =>
            route.fulfill({
                status: 503,
                contentType: 'application/problem+json',
                body: JSON.stringify({ detail: 'Too many questions wait.' }),
            }),
    );
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(
        `${daemon.base}/?${new URLSearchParams({ page: 'query', trace: trace.id, show: 'chart', group: 'bin = bin(time_start, 0.02)', agg: 'calls = count()' })}`,
    );
    await page.getByRole('alert').getByText('Too many questions wait.').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.chart canvas').waitFor();
}

async function stepsAreShown(page, daemon) {
    const trace = await openQuery(page, daemon);
    await page.locator('.steps summary').click();
    const { explain } = await daemon.get(
        `traces/${trace.id}/query?preset=dlio&group_by=func_name&aggregate=n:count()&order_by=-n&explain=true`,
    );
    assert.deepEqual(
        await page.getByRole('table', { name: 'Steps' }).locator('tbody th').allInnerTexts(),
        explain.steps.map(({ name }) => name),
    );
}

async function questionsAreKept(page, daemon) {
    await openQuery(page, daemon, { group: 'pid', agg: 'n = count()', having: 'n > 1', order: '-n' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByLabel('Name').fill('events of processes');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved as events of processes').waitFor();
    const { queries } = await daemon.get('queries');
    assert.deepEqual(JSON.parse(queries.find(({ name }) => name === 'events of processes').text), {
        preset: 'dlio',
        group_by: ['pid'],
        aggregate: { n: 'count()' },
        then: { filter: 'n > 1', order_by: ['-n'] },
    });
    await page.getByRole('group', { name: 'Examples' }).getByRole('button', { name: 'Time by function' }).click();
    await settled(page);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page
        .getByRole('dialog')
        .getByRole('button', { name: /events of processes/ })
        .first()
        .click();
    await inUrl(page, 'having', 'n > 1');
    await settled(page);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page
        .getByRole('dialog')
        .getByRole('button', { name: /sum\(time\).*by func_name/ })
        .first()
        .waitFor();
    await page.getByRole('button', { name: 'Delete events of processes' }).click();
    await page.getByText('None yet').waitFor();
}

async function jsonTakesEverything(page, daemon) {
    const trace = await openQuery(page, daemon, { group: 'pid', agg: 'n = count()' });
    await page.getByRole('group', { name: 'Ask for' }).getByRole('button', { name: 'JSON' }).click();
    const area = page.getByRole('textbox', { name: 'Request as JSON' });
    await area.waitFor();
    assert.deepEqual(JSON.parse(await area.inputValue()), { group_by: ['pid'], aggregate: { n: 'count()' } });
    await area.fill('{"describe": ["time"]}');
    await area.press('Control+Enter');
    await page.locator('.grid thead').getByText('50%').waitFor();
    const { data } = await ask(daemon, trace, { describe: ['time'] });
    const [row] = await gridRows(page);
    assert.deepEqual([row.count, row.mean, row.max], [data[0][1], data[0][2], data[0][8]]);
    await area.fill('{"describe": ["tme"]}');
    await area.press('Control+Enter');
    await page
        .locator('#query-json-problem')
        .getByText(/describe\/0, character 1/)
        .waitFor();
}

/** Long enough to be told about: for each event a long text of its own, replaced again and again. */
const SLOW = {
    derive: {
        a: "replace(str(ts) + '/' + str(pid), '.', 'abcdefghi\\g<0>')",
        b: "replace(a, '.', '\\g<0>0123456789')",
    },
    filter: "b.str.count('y0') == 1",
    aggregate: { n: 'count()' },
};

async function progressIsTold(page, daemon) {
    const trace = await daemon.generated(1000000);
    await page.goto(
        `${daemon.base}/?${new URLSearchParams({ page: 'query', trace: trace.id, ask: 'json', q: JSON.stringify(SLOW) })}`,
    );
    const track = page.getByRole('progressbar', { name: 'Computed' });
    await track.waitFor();
    const percent = Number(await track.getAttribute('aria-valuenow'));
    assert.ok(percent >= 0 && percent < 100, `${percent} %`);
    await page.waitForFunction(
        (before) => Number(document.querySelector('[role=progressbar]').getAttribute('aria-valuenow')) > before,
        percent,
    );
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled.').waitFor();
    for (;;) {
        const [job] = (await daemon.get('jobs')).jobs.filter(({ kind }) => kind === 'query');
        if (job.state === 'cancelled') break;
        await page.waitForTimeout(50);
    }
}

async function nothingIsSaid(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?page=query&trace=${trace.id}&filter=${encodeURIComponent('size > 1e15')}`);
    await page.getByText('No event passes the filter').waitFor();
    await page.goto(`${daemon.base}/?page=query&trace=${trace.id}&filter=${encodeURIComponent('sise > 1')}`);
    await page.locator('#filter-problem').getByText('sise').waitFor();
    assert.equal((await parametersOf(page)).filter, 'sise > 1');
}

export const tests = [
    { name: "query: answers are the API's", body: answersAreTheApis },
    { name: 'query: a click on an outdated table keeps what was typed', body: outdatedHeadsKeepTheQuestion },
    { name: 'query: mistakes are marked where they are', body: mistakesAreMarked, expected: /400/ },
    { name: 'query: completion knows aggregates and results', body: completionKnowsResults },
    {
        name: 'query: words and signatures are those the server publishes',
        body: wordsAreTheServers,
        expected: /400 \(Bad Request\)/,
    },
    { name: 'query: events with their arguments, sorted by the server', body: eventsAreTheApis },
    { name: 'query: a chart says what fails', body: chartsSayWhatFails, expected: /503/ },
    { name: 'query: charts are drawn', body: chartsAreDrawn },
    { name: 'query: the steps of the answer are shown', body: stepsAreShown },
    { name: 'query: questions are saved, opened and deleted', body: questionsAreKept },
    { name: 'query: JSON takes what the boxes cannot', body: jsonTakesEverything, expected: /400/ },
    { name: 'query: a long question tells how far it is, and is cancelled', body: progressIsTold },
    { name: 'query: nothing and nonsense are said in words', body: nothingIsSaid, expected: /400/ },
];
