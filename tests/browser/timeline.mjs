/* timeline.mjs - what a person does on the timeline: finds the slowest call, sees where it is, shares it. */

import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parametersOf, shots } from './harness.mjs';

/** Everything that is in sight is painted at its resolution, and the address says so. */
export const whole = (page) =>
    page.waitForFunction(
        () =>
            document.querySelector('.tl-stage')?.dataset.state === 'whole' &&
            !document.querySelector('.outdated, [aria-busy="true"]'),
    );

async function openTimeline(page, daemon, more = {}) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?${new URLSearchParams({ page: 'timeline', trace: trace.id, ...more })}`);
    await whole(page);
    return trace;
}

const inAddress = (page, name) => page.waitForFunction((key) => new URLSearchParams(location.search).get(key), name);

/** The places of boxes on the canvas, as the table of what is in sight tells them. */
const tab = (page, name) =>
    page.getByRole('group', { name: 'What to show of it' }).getByRole('button', { name, exact: true });

async function slowestIsFoundAndShared(page, daemon, browser) {
    const trace = await openTimeline(page, daemon);
    const row = page
        .getByRole('table', { name: 'Names' })
        .locator('tbody tr', { has: page.getByRole('button', { name: 'pread', exact: true }) });
    await row.locator('[data-label="Longest"] button').click();
    await inAddress(page, 'event');
    const panel = page.locator('.tl-event');
    await panel.getByRole('heading', { name: 'pread' }).waitFor();
    await whole(page);
    const {
        data: [[slowest]],
    } = await daemon.get(
        `traces/${trace.id}/query?${new URLSearchParams({ filter: 'func_name == "pread"', filters: 'off', aggregate: 'most:max(time)' })}`,
    );
    const { event: id } = await parametersOf(page),
        event = await daemon.get(`traces/${trace.id}/events/${encodeURIComponent(id)}`);
    assert.equal(event.dur, slowest);
    const names = (title) => panel.getByRole('table', { name: title }).locator('.row-name').allInnerTexts();
    assert.deepEqual(
        await names('Call stack'),
        event.parents.map(({ name }) => name),
    );
    assert.deepEqual(
        await names('Before and after'),
        [event.previous, event.next].filter(Boolean).map(({ name }) => name),
    );
    const gap = await panel
        .getByRole('table', { name: 'Before and after' })
        .locator('[data-label="Gap"] data')
        .first()
        .getAttribute('value');
    assert.equal(Number(gap), event.previous.gap);
    assert.equal(
        await panel.getByText('No other thread of its rank ran anything').count(),
        event.beside.count === 0 ? 1 : 0,
    );

    const address = page.url(),
        context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    try {
        const other = await context.newPage();
        await other.goto(address);
        await whole(other);
        await other.locator('.tl-event h3', { hasText: 'pread' }).waitFor();
        for (const one of [page, other]) {
            await one.mouse.move(0, 0);
            await whole(one);
        }
        const picture = (one) => one.locator('.tl-canvas').evaluate((canvas) => canvas.toDataURL());
        assert.equal(new URL(other.url()).search, new URL(address).search);
        assert.equal(await picture(other), await picture(page), 'who opens the address sees the same');
    } finally {
        await context.close();
    }
}

async function keysMove(page, daemon) {
    await openTimeline(page, daemon);
    const view = async () => {
        await whole(page);
        return (await parametersOf(page)).view.split(',').map(Number);
    };
    const [from, to] = await view();
    const press = async (key) => {
        const before = (await parametersOf(page)).view;
        await page.keyboard.press(key);
        await page.waitForFunction((was) => new URLSearchParams(location.search).get('view') !== was, before);
        return view();
    };
    const near = await press('w');
    assert.ok(near[1] - near[0] < to - from);
    const right = await press('d');
    assert.ok(right[0] > near[0] && Math.abs(right[1] - right[0] - (near[1] - near[0])) < 1e-6);
    assert.deepEqual(await press('0'), [from, to]);
    await page.keyboard.press('/');
    await page.keyboard.type('pread');
    await page.keyboard.press('Enter');
    await page.locator('.tl-count', { hasText: '1 of 7\u202f200' }).waitFor();
    await page.locator('.tl-event').waitFor();
    await page.locator('.tl-canvas').focus();
    await page.keyboard.press('n');
    await page.locator('.tl-count', { hasText: '2 of 7\u202f200' }).waitFor();
    await whole(page);
    const { event } = await parametersOf(page);
    await page.keyboard.press('ArrowUp');
    await page.waitForFunction((was) => new URLSearchParams(location.search).get('event') !== was, event);
    await page.locator('.tl-event h3', { hasText: /HDF5Reader/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !new URLSearchParams(location.search).has('event'));
}

async function selectionIsCounted(page, daemon) {
    const trace = await openTimeline(page, daemon);
    const canvas = page.locator('.tl-canvas'),
        box = await canvas.boundingBox(),
        lane = page.locator('.tl-name.thread').first();
    const line = await lane.boundingBox(),
        id = await lane.getAttribute('data-lane');
    await page.keyboard.down('Shift');
    await page.mouse.move(box.x + 300, line.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, line.y + 24, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await inAddress(page, 'lanes');
    await whole(page);
    const { from, to, lanes } = await parametersOf(page);
    assert.equal(lanes, id);
    const wanted = await daemon.get(
        `traces/${trace.id}/timeline/statistics?${new URLSearchParams({ from, to, lanes })}`,
    );
    assert.ok(
        (await page.locator('.tl-summary').innerText()).replaceAll('\u202f', '').includes(`: ${wanted.count}event`),
    );
    const shown = await page
        .getByRole('table', { name: 'Names' })
        .locator('tbody tr')
        .evaluateAll((rows) =>
            rows.map((row) => [row.cells[0].textContent, Number(row.cells[1].querySelector('data').value)]),
        );
    assert.deepEqual(
        shown,
        wanted.data.map((row) => [row[0], row[1]]),
    );
    await page.getByRole('link', { name: 'Query', exact: true }).last().click();
    await page.locator('.grid tbody tr').first().waitFor();
    const place = await parametersOf(page);
    assert.deepEqual([place.page, place.from, place.to], ['query', from, to]);
    assert.match(place.filter, /tid == \d+/);
}

async function clickOpensAndTableTells(page, daemon) {
    await openTimeline(page, daemon);
    const canvas = page.locator('.tl-canvas'),
        box = await canvas.boundingBox(),
        line = await page.locator('.tl-name.thread').first().boundingBox();
    await page.mouse.move(box.x + 400, line.y + 12);
    await page.locator('.tl-card', { hasText: 'DLIOBenchmark.run' }).waitFor();
    await page.mouse.click(box.x + 400, line.y + 12);
    await page.locator('.tl-event h3', { hasText: 'DLIOBenchmark.run' }).waitFor();
    await whole(page);
    await tab(page, 'In sight').click();
    const table = page.getByRole('table', { name: 'Events in sight' });
    await table.waitFor();
    assert.match(await table.innerText(), /DLIOBenchmark\._train/);
    await page.getByLabel('Find a lane').fill('1028573');
    await page.waitForFunction(
        () =>
            [...document.querySelectorAll('.tl-name')].map((line) => line.textContent).join('|') ===
            'corona171|rank 1028573',
    );
    await page.getByLabel('Find a lane').fill('');
    await page.waitForFunction(() => document.querySelectorAll('.tl-name').length > 8);
    const folded = page.locator('.tl-fold[aria-expanded="false"]').first();
    const name = await folded.innerText();
    await folded.click();
    await page.locator('.tl-fold[aria-expanded="true"]', { hasText: name }).waitFor();
    await whole(page);
}

async function callsAreShown(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?${new URLSearchParams({ page: 'flame', trace: trace.id })}`);
    const canvas = page.locator('.flame-canvas');
    await canvas.waitFor();
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + 100, box.y + 30);
    await page.locator('.chart-tip', { hasText: 'DLIOBenchmark.run' }).waitFor();
    await page.getByRole('group', { name: 'What to show' }).getByRole('button', { name: 'Call tree' }).click();
    const table = page.getByRole('table', { name: 'Call tree' });
    await table.waitFor();
    const wanted = await daemon.get(`traces/${trace.id}/calltree`),
        at = ['total', 'self', 'count'].map((name) => wanted.columns.indexOf(name));
    const shown = await table
        .locator('tbody tr:not(.grid-space)')
        .evaluateAll((rows) =>
            rows.map((row) => [...row.querySelectorAll('data')].slice(0, 3).map((data) => Number(data.value))),
        );
    assert.deepEqual(
        shown,
        wanted.data.slice(0, shown.length).map((row) => at.map((index) => row[index])),
    );
    await table.getByRole('button', { name: 'pread', exact: true }).first().click();
    await page.getByText('Callers', { exact: true }).waitFor();
    const { of } = await daemon.get(`traces/${trace.id}/calltree?name=pread`);
    assert.match(
        await page.locator('.calls-head small').innerText(),
        new RegExp(`^${of.count.toLocaleString('en').replace(',', '.')} calls`),
    );
}

async function windowIsSaved(page, daemon) {
    const trace = await openTimeline(page, daemon, { from: '2', to: '3' });
    const save = async (what) => {
        await page.locator('.tl-bar').getByRole('button', { name: 'Export' }).click();
        const [download] = await Promise.all([
            page.waitForEvent('download'),
            page.getByRole('menuitem', { name: what }).and(page.locator(':visible')).click(),
        ]);
        return readFile(await download.path());
    };
    const { traceEvents } = JSON.parse(String(await save('Save as Chrome trace'))),
        { count } = await daemon.get(`traces/${trace.id}/timeline/statistics?from=2&to=3`);
    assert.equal(traceEvents.filter(({ ph }) => ph === 'X').length, count);
    assert.match(String(await save('Save folded stacks')), /^DLIOBenchmark\.run;.* \d+$/m);
    assert.deepEqual([...(await save('Save as PNG')).subarray(1, 4)], [...Buffer.from('PNG')]);
}

async function likesStandOut(page, daemon) {
    const trace = await openTimeline(page, daemon, { like: 'file_name', from: '2', to: '3' });
    const box = await page.locator('.tl-canvas').boundingBox(),
        lane = page.locator('.tl-name.thread').first(),
        line = await lane.boundingBox(),
        id = await lane.getAttribute('data-lane');
    const { event } = await daemon.get(
        `traces/${trace.id}/timeline/search?${new URLSearchParams({ lanes: id, from: '2', to: '3', at: '2', filter: 'func_name == "pread" and dur > 100000' })}`,
    );
    const { columns } = await daemon.get(`traces/${trace.id}/events/${encodeURIComponent(event.id)}`),
        [from, to] = (await parametersOf(page)).view.split(',').map(Number);
    const asked = page.waitForRequest(
        (request) => new URL(request.url()).searchParams.get('filter') === `file_name == "${columns.file_name}"`,
    );
    await page.mouse.move(
        box.x + (((event.start + event.end) / 2 - from) / (to - from)) * box.width,
        line.y + 4 + 18 * event.row + 8,
    );
    await asked;
    await whole(page);
}

async function lanesArePinnedAndHidden(page, daemon) {
    await openTimeline(page, daemon);
    const lines = page.locator('.tl-names:not(.fixed) .tl-name'),
        thread = page.locator('.tl-names:not(.fixed) .tl-name.thread').first(),
        id = await thread.getAttribute('data-lane');
    await thread.hover();
    await thread.getByRole('button', { name: 'Pin' }).click();
    const pinned = page.locator('.tl-names.fixed .tl-name');
    await pinned.waitFor();
    assert.equal(await pinned.getAttribute('data-lane'), id);
    const hidden = lines.filter({ hasText: 'rank 1028567' });
    await hidden.hover();
    await hidden.getByRole('button', { name: 'Hide' }).click();
    await hidden.waitFor({ state: 'detached' });
    await whole(page);
    await page.reload();
    await whole(page);
    assert.deepEqual([await pinned.getAttribute('data-lane'), await hidden.count()], [id, 0]);
    await page.getByRole('button', { name: 'Show 1 hidden' }).click();
    await hidden.waitFor();
    await page.getByRole('button', { name: 'Category', exact: true }).click();
    await whole(page);
    assert.equal((await parametersOf(page)).color, 'category');
}

async function refusedTilesAreAskedAgain(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.route(/timeline\/events/, (route) =>
        route.fulfill({
            status: 503,
            contentType: 'application/problem+json',
            body: JSON.stringify({ title: 'Busy', detail: 'Too many questions wait.' }),
        }),
    );
    await page.goto(`${daemon.base}/?${new URLSearchParams({ page: 'timeline', trace: trace.id })}`);
    const alert = page.locator('.timeline').getByRole('alert');
    await alert.filter({ hasText: 'Too many questions wait.' }).waitFor();
    await page.unrouteAll();
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor({ state: 'detached' });
    await page.waitForFunction(() => Number(document.querySelector('.tl-stage').dataset.boxes) > 100);
}

async function depthAndFiltersAreChosen(page, daemon) {
    const trace = await openTimeline(page, daemon),
        rows = page.getByRole('combobox', { name: 'Rows of a thread' });
    const tallest = () =>
            page
                .locator('.tl-name.thread')
                .evaluateAll((lines) => Math.max(...lines.map((line) => line.clientHeight))),
        before = await tallest();
    await rows.selectOption('4');
    await page.waitForFunction(
        (was) => [...document.querySelectorAll('.tl-name.thread')].every((line) => line.clientHeight < was),
        before,
    );
    await rows.selectOption('');
    await page.waitForFunction(
        (was) => [...document.querySelectorAll('.tl-name.thread')].some((line) => line.clientHeight === was),
        before,
    );
    const counted = async (filters) =>
        (await daemon.get(`traces/${trace.id}/timeline/statistics?filters=${filters}&limit=1`)).count;
    const told = (count) =>
        page.waitForFunction(
            (many) => document.querySelector('.tl-summary').textContent.replace(/\D/g, '').includes(many),
            String(count),
        );
    assert.ok((await counted('on')) < (await counted('off')));
    await told(await counted('off'));
    await page.getByRole('combobox', { name: 'Preset filters' }).selectOption('on');
    await inAddress(page, 'filtered');
    await whole(page);
    await told(await counted('on'));
}

/** A file of calls, and of counters that rise and fall. */
async function withCounters(daemon) {
    const folder = path.join(daemon.folder, 'counted'),
        base = 1.7e15;
    const call = (at) => ({
        name: 'read',
        cat: 'POSIX',
        ph: 'X',
        pid: 1,
        tid: 1,
        ts: base + at * 1e4,
        dur: 5000,
        args: {},
    });
    const counter = (at) => ({
        name: at % 2 ? 'cpu' : 'memory',
        cat: 'sys',
        ph: 'C',
        pid: 1,
        tid: 1,
        ts: base + at * 1e4,
        args: { user_pct: 50 + 40 * Math.sin(at / 40), rss: at * 4096, idle: 1, waits: at % 7 },
    });
    await mkdir(folder, { recursive: true });
    await writeFile(
        path.join(folder, 'a.pfw'),
        Array.from({ length: 600 }, (_, at) => `${JSON.stringify(call(at))}\n${JSON.stringify(counter(at))}\n`).join(
            '',
        ),
    );
    return daemon.ingest(folder);
}

async function countersAreLines(page, daemon) {
    const trace = await withCounters(daemon),
        lanes = page.locator('.tl-counter-lane'),
        listed = [
            'cpu.idle',
            'cpu.rss',
            'cpu.user_pct',
            'cpu.waits',
            'memory.idle',
            'memory.rss',
            'memory.user_pct',
            'memory.waits',
        ];
    const shown = async () =>
        JSON.stringify(await lanes.evaluateAll((all) => all.map((lane) => lane.dataset.counter)));
    const painted = () =>
        page.waitForFunction(() =>
            [...document.querySelectorAll('.tl-counter')].every((canvas) => Number(canvas.dataset.points) > 20),
        );
    assert.deepEqual(
        (await daemon.get(`traces/${trace.id}/columns`)).counters.map(({ counter }) => counter),
        listed,
    );
    await page.goto(`${daemon.base}/?page=timeline&trace=${trace.id}`);
    await whole(page);
    await lanes.nth(3).waitFor();
    assert.equal(await shown(), JSON.stringify(listed.slice(0, 4)));
    await painted();
    await page.getByRole('button', { name: 'Hide cpu.idle' }).click();
    await page.getByRole('combobox', { name: 'Add a counter' }).selectOption('memory.rss');
    await page.locator('[data-counter="memory.rss"]').waitFor();
    const chosen = JSON.stringify([...listed.slice(1, 4), 'memory.rss']);
    assert.equal(await shown(), chosen);
    const [canvas, stage] = [
        await page.locator('.tl-counter').first().boundingBox(),
        await page.locator('.tl-canvas').boundingBox(),
    ];
    assert.ok(
        Math.abs(canvas.x - stage.x) <= 1 && Math.abs(canvas.width - stage.width) <= 1,
        'both stand over the same time',
    );
    for (let step = 0; step < 4; step++) await page.keyboard.press('w');
    await whole(page);
    await painted();
    await page.reload();
    await lanes.nth(3).waitFor();
    assert.equal(await shown(), chosen, 'the address says which');
    await page.goto(`${daemon.base}/?page=timeline&trace=${(await daemon.trace('unet3d-v100')).id}`);
    await whole(page);
    assert.equal(await page.locator('.tl-counters:visible').count(), 0, 'no counters, no lanes of them');
}

/** Until the lanes are there the page shows when each layer ran, and says that this is not all. */
async function coarseBeforeLanes(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    let release;
    const held = new Promise((resolve) => {
        release = resolve;
    });
    await page.route('**/timeline/lanes?*', async (route) => {
        await held;
        await route.continue();
    });
    await page.goto(`${daemon.base}/?${new URLSearchParams({ page: 'timeline', trace: trace.id })}`);
    const coarse = page.locator('.tl-coarse');
    await coarse.getByText('the lanes are being laid out').waitFor();
    const { layers } = await daemon.get(`traces/${trace.id}/summary`);
    const bars = await coarse.locator('.tl-coarse-row').evaluateAll((rows) =>
        rows.map((row) => {
            const style = getComputedStyle(row.querySelector('.tl-coarse-bar'));
            return { steps: style.maskImage.split(/rgba?\(/).length, color: style.backgroundColor };
        }),
    );
    assert.equal(bars.length, layers.filter(({ busy }) => busy > 0).length, 'layers that ran');
    assert.ok(
        bars.every(({ steps, color }) => steps > 200 && color !== 'rgba(0, 0, 0, 0)'),
        JSON.stringify(bars[0]),
    );
    await page.screenshot({ path: path.join(shots, 'timeline coarse.png') });
    release();
    await whole(page);
    assert.equal(await coarse.isVisible(), false);
}

/** The address tells the view once it has come to rest; what is drawn already stays. */
async function firstViewIsDrawnOnce(page, daemon) {
    await page.addInitScript(() => {
        const write = history.replaceState.bind(history);
        history.replaceState = (state, title, address) => {
            const tabs = document.querySelector('.tl-tabs');
            if (String(address).includes('view=')) Object.assign(window, { drawn: tabs.firstElementChild });
            write(state, title, address);
        };
    });
    await openTimeline(page, daemon);
    await inAddress(page, 'view');
    assert.equal(
        await page.evaluate(
            () => document.querySelector('.tl-tabs').firstElementChild === /** @type {any} */ (window).drawn,
        ),
        true,
    );
}

export const tests = [
    { name: 'timeline: the first view is drawn once', body: firstViewIsDrawnOnce },
    { name: 'timeline: a coarse picture until the lanes are there', body: coarseBeforeLanes },
    { name: 'timeline: the slowest call is found, seen in its context, and shared', body: slowestIsFoundAndShared },
    { name: 'timeline: keys move, find and walk', body: keysMove },
    { name: 'timeline: a selection is counted and leads on', body: selectionIsCounted },
    { name: 'timeline: calls inside of calls, as a graph and as a table', body: callsAreShown },
    { name: 'timeline: a window is saved', body: windowIsSaved },
    { name: 'timeline: what has the same file stands out', body: likesStandOut },
    { name: 'timeline: lanes are pinned and hidden', body: lanesArePinnedAndHidden },
    { name: "timeline: the depth of threads and the preset's filters are chosen", body: depthAndFiltersAreChosen },
    { name: 'timeline: counters are lines over the same time', body: countersAreLines },
    {
        name: 'timeline: a refused tile is said in words, and asked again',
        body: refusedTilesAreAskedAgain,
        expected: /503/,
    },
    { name: 'timeline: a click opens an event, a table tells what is in sight', body: clickOpensAndTableTells },
];
