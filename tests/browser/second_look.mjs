/* second_look.mjs - what a demanding new user stumbles over: traces without events, addresses typed by hand, dialogs
 * by the keyboard, figures of a part of a trace, exceptions in drawing. */

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { idle, parametersOf, settled, tileNumber } from './harness.mjs';

const at = (daemon, place) => `${daemon.base}/?${new URLSearchParams(place)}`;

async function emptyTraceIsSaid(page, daemon) {
    const trace = await daemon.ingestFiles('nothing-in-it', { 'a.pfw': '' });
    for (const name of [
        'overview',
        'timeline',
        'findings',
        'layer',
        'flat',
        'overlap',
        'flame',
        'steps',
        'query',
        'whatif',
    ]) {
        await page.goto(at(daemon, { page: name, trace: trace.id }));
        await page.getByRole('heading', { name: 'No events' }).waitFor();
        assert.equal(await page.locator('.skeleton').count(), 0, name);
        assert.doesNotMatch(await page.locator('body').innerText(), /NaN|undefined|Infinity/, name);
    }
    await page.goto(at(daemon, { page: 'presets', trace: trace.id }));
    await page.getByRole('region', { name: 'Preview' }).getByText('Of 0 events').waitFor();
    await page.goto(at(daemon, { page: 'overview', trace: trace.id }));
    await page.locator('main').getByRole('link', { name: 'Trace quality' }).click();
    await page.getByText('lines were read').waitFor();
    const other = await daemon.trace('unet3d-v100');
    await page.goto(at(daemon, { page: 'compare', traces: `${trace.id},${other.id}` }));
    await page.locator('.change data').first().waitFor();
    for (const words of await page.locator('.change').allInnerTexts())
        assert.match(words, /[=\d]|new|gone/, 'a change from nothing is said in numbers');
    await daemon.call('DELETE', `traces/${trace.id}`);
}

/** One event that takes no time: there is nothing to divide by. */
async function momentIsShown(page, daemon) {
    const event = { name: 'read', cat: 'POSIX', pid: 1, tid: 1, ts: 1000, dur: 0, ph: 'X', args: { ret: 4096 } };
    const trace = await daemon.ingestFiles('a-moment', { 'a.pfw': `[\n${JSON.stringify(event)}\n` });
    await page.setViewportSize({ width: 1440, height: 4000 }); /* all cards are near */
    for (const name of ['overview', 'timeline', 'layer', 'flat', 'overlap', 'flame', 'query']) {
        await page.goto(at(daemon, { page: name, trace: trace.id }));
        await idle(page);
        assert.doesNotMatch(await page.locator('body').innerText(), /NaN|undefined|Infinity|spent \./, name);
        assert.equal(await page.locator('.notice.bad').count(), 0, name);
    }
    await page.goto(at(daemon, { page: 'layer', trace: trace.id }));
    const spread = page.locator('section.card[aria-label="Over processes"]'),
        note = spread.locator('.chart-note', { hasText: /^1\u202fprocess$/ });
    await note.waitFor();
    const head = await spread.locator('header').boundingBox(),
        { y } = await note.boundingBox();
    assert.ok(y - head.y - head.height < 32, 'the note of a chart stands under its head');
    await daemon.call('DELETE', `traces/${trace.id}`);
}

async function drawingThatFailsIsSaid(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.route('**/summary?**', async (route) => {
        const answer = await (await route.fetch()).json();
        await route.fulfill({ json: { ...answer, layers: [null] } });
    });
    await page.goto(at(daemon, { page: 'overview', trace: trace.id, filter: 'size > 4096' }));
    await page.locator('.notice.bad', { hasText: 'cannot be drawn' }).waitFor();
    assert.equal(await page.locator('.skeleton').count(), 0);
}

async function faultsAreSaid(page, daemon) {
    await page.goto(daemon.base);
    await page.locator('table.cards').waitFor();
    await page.evaluate(() => {
        Promise.reject(new Error('seven of nine'));
    });
    await page.locator('.toast.bad', { hasText: 'seven of nine' }).waitFor();
}

async function savingByKeys(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(at(daemon, { page: 'query', trace: trace.id, group: 'cat', agg: 'calls = count()' }));
    await settled(page);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.keyboard.press('Enter');
    assert.ok(await page.getByRole('dialog').isVisible(), 'a name is asked for');
    await page.keyboard.type('calls by category');
    await page.keyboard.press('Enter');
    await page.locator('.toast', { hasText: 'Saved as calls by category' }).waitFor();
    const { queries } = await daemon.get('queries');
    assert.ok(queries.some(({ name }) => name === 'calls by category'));
    await daemon.call('DELETE', 'queries/calls%20by%20category');
}

async function renamingByKeys(page, daemon) {
    await page.goto(daemon.base);
    await page.getByRole('button', { name: 'Actions for unet3d-v100' }).click();
    await page.getByRole('menuitem', { name: 'Rename and tag' }).click();
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('name')), 'name');
    await page.keyboard.press('End');
    await page.keyboard.type('-b');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'unet3d-v100-b' }).waitFor();
    const trace = await daemon.trace('unet3d-v100-b');
    await daemon.call('PATCH', `traces/${trace.id}`, { name: 'unet3d-v100' });
}

/** The reason itself, on the page of the trace and in the list, instead of where it could be found. */
async function failedIngestSaysWhy(page, daemon) {
    const folder = path.join(daemon.folder, 'no-trace-in-it');
    await mkdir(folder);
    const { id } = await daemon.ingest(folder);

    const { failure } = await daemon.get(`traces/${id}`);
    assert.match(failure, /pfw/);
    await page.goto(at(daemon, { page: 'overview', trace: id }));
    await page.locator('main', { hasText: failure }).waitFor();
    await page.goto(daemon.base);
    await page.locator('table.cards', { hasText: failure }).waitFor();
    await daemon.call('DELETE', `traces/${id}`);
}

/** What is not there is named. */
async function missingIsNamed(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    const wanted = [
        [{ page: 'overview', trace: '0123456789abcdef' }, '0123456789abcdef'],
        [{ page: 'overview', trace: trace.id, preset: 'no-preset-of-ours' }, 'no-preset-of-ours'],
        [{ page: 'query', trace: trace.id, preset: 'no-preset-of-ours' }, 'no-preset-of-ours'],
    ];
    for (const [place, name] of wanted) {
        await page.goto(at(daemon, place));
        const said = page.getByRole('alert').filter({ hasText: name }).first();
        await said.waitFor();
        assert.doesNotMatch(await said.innerText(), /no such thing/);
    }
}

async function addressesAreMeant(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    for (const [change, words, left] of [
        [{ from: 'abc' }, /from=abc .* left out/, 'from'],
        [{ from: '5000' }, /job ends after .* whole job is shown/, 'from'],
        [{ from: '30', to: '20' }, /ends before it begins/, 'to'],
        [{ granularity: '1e-6' }, /too many to show/, 'granularity'],
    ]) {
        await page.goto(at(daemon, { page: 'overview', trace: trace.id, ...change }));
        await page.locator('table.layers').waitFor();
        assert.match(await page.locator('.head-notes').innerText(), words);
        assert.equal((await parametersOf(page))[left], undefined);
        assert.doesNotMatch(await page.locator('body').innerText(), /NaN/);
    }
}

async function oldAndReadableAddresses(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    for (const [name, label] of [
        ['layer', 'Breakdown'],
        ['breakdown', 'Breakdown'],
        ['flat', 'Table'],
        ['overlap', 'I/O vs compute'],
        ['report', 'Trace quality'],
        ['quality', 'Trace quality'],
    ]) {
        await page.goto(at(daemon, { page: name, trace: trace.id }));
        await page.locator('nav.pages a[aria-current]', { hasText: label }).waitFor();
    }
    for (const name of ['constructor', '__proto__']) {
        await page.goto(at(daemon, { page: name }));
        await page.locator('nav.pages a[aria-current]', { hasText: 'Traces' }).waitFor();
    }
}

async function tilesAreOfOnePart(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(at(daemon, { page: 'overview', trace: trace.id, from: 10, to: 12, filter: 'cat == "posix"' }));
    await page.locator('.tile').first().waitFor();
    const q = { aggregate: { events: 'count()', files: 'nunique(file_name)' }, filter: 'cat == "posix"' };
    const asked = new URLSearchParams({ from: 10, to: 12, q: JSON.stringify(q) });
    const { data } = await daemon.get(`traces/${trace.id}/query?${asked}`);
    assert.ok(data[0][0] < trace.events);
    assert.deepEqual([await tileNumber(page, 'Events'), await tileNumber(page, 'Files')], data[0]);
}

async function rangeIsTypedMovedAndUndone(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(at(daemon, { page: 'overview', trace: trace.id }));
    await page.locator('table.layers').waitFor();
    const range = async () => {
        const { from, to } = await parametersOf(page);
        return [from, to];
    };
    await page.getByRole('button', { name: 'whole job' }).click();
    await page.getByLabel('From, s').fill('10');
    await page.getByLabel('To, s').fill('20');
    await page.keyboard.press('Enter');
    assert.deepEqual(await range(), ['10', '20']);
    await page.locator('h1').click();
    await page.keyboard.press(']');
    assert.deepEqual(await range(), ['15', '25']);
    await page.keyboard.press('-');
    assert.deepEqual(await range(), ['10', '30']);
    await page.keyboard.press('u');
    assert.deepEqual(await range(), ['15', '25']);
    await page.keyboard.press('u');
    assert.deepEqual(await range(), ['10', '20']);
    await page.keyboard.press('Escape');
    assert.deepEqual(await range(), [undefined, undefined]);
}

async function tracesAreSwitched(page, daemon) {
    const trace = await daemon.trace('unet3d-v100'),
        other = await daemon.generated(2000, ['--seed', '7']);
    await page.goto(at(daemon, { page: 'layer', trace: trace.id }));
    await page.getByLabel('Another trace').selectOption(other.id);
    await page.getByRole('heading', { level: 1, name: other.name }).waitFor();
    assert.equal((await parametersOf(page)).page, 'layer');
    const step = page.getByRole('link', { name: /^(Previous|Next) trace/ }).first();
    assert.match(await step.getAttribute('href'), /page=layer/);
    await page.getByLabel('Another trace').selectOption(trace.id);
    await page.getByRole('heading', { level: 1, name: trace.name }).waitFor();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.locator('.toast', { hasText: 'was read again' }).waitFor();
    await daemon.call('DELETE', `traces/${other.id}`);
}

/** How far what is on screen jumps while a page arrives, as browsers measure it. */
async function pagesArriveStill(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.addInitScript(() => {
        window.jumped = 0;
        new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.jumped += entry.value;
        }).observe({ type: 'layout-shift', buffered: true });
    });
    for (const name of ['overview', 'findings', 'layer', 'flat', 'overlap', 'query', 'report']) {
        await page.goto(at(daemon, { page: name, trace: trace.id }));
        await page.locator('main .card').first().waitFor();
        await idle(page);
        const jumped = await page.evaluate(() => window.jumped);
        assert.ok(jumped < 0.1, `${name} jumps by ${jumped.toFixed(3)}`);
    }
}

/** Where the controls of each chart's head stand in its card, as often as one of them moves. */
function collectPlaces() {
    window.places = {};
    const look = () => {
        for (const group of document.querySelectorAll('.card [aria-label="Show as"]')) {
            const card = group.closest('.card'),
                [inner, outer] = [group, card].map((element) => element.getBoundingClientRect());
            const at = `${Math.round(inner.top - outer.top)}, ${Math.round(outer.right - inner.right)}`,
                known = (window.places[card.getAttribute('aria-label')] ??= []);
            if (outer.width > 0 && known.at(-1) !== at) known.push(at);
        }
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}

/** A click that is begun while an answer comes in ends on the same control. */
async function controlsStandStill(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.addInitScript(collectPlaces);
    const slow = /\/(timeseries|overlap|histogram|views|query|steps)[/?]/;
    await page.route(slow, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 400));
        await route.fallback().catch(() => {}); /* of a page that was left */
    });
    for (const name of ['overview', 'layer', 'overlap', 'steps']) {
        await page.goto(at(daemon, { page: name, trace: trace.id }));
        await page.locator('.chart-box canvas').first().waitFor();
        if (name === 'overview') {
            await page.getByLabel('Metric').selectOption('busy');
            await page.locator('.chart-note', { hasText: 'pale' }).waitFor();
        }
        for (const [card, places] of Object.entries(await page.evaluate(() => window.places)))
            assert.equal(places.length, 1, `${name}: the controls of ${card} moved: ${places.join('; ')}`);
    }
}

async function keysFollowTheRows(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(at(daemon, { page: 'query', trace: trace.id, ask: 'events' }));
    await settled(page);
    await page.locator('.grid tbody tr[tabindex="0"]').focus();
    await page.locator('.grid').evaluate((grid) => {
        grid.scrollTop = grid.scrollHeight / 2;
    });
    await page.locator('.grid tbody tr[aria-rowindex="2"]').waitFor({ state: 'detached' });
    await page.locator('.grid tbody tr[tabindex="0"]:focus').waitFor();
    await page.keyboard.press('ArrowDown');
    const row = page.locator('.grid tbody tr[tabindex="0"]:focus');
    assert.ok(Number(await row.getAttribute('aria-rowindex')) > 1000, 'keys go on from the rows in sight');
}

export const tests = [
    { name: 'second look: a trace without events says so on every page', body: emptyTraceIsSaid },
    { name: 'second look: a trace of one moment has figures and no mistakes', body: momentIsShown },
    { name: 'second look: keys follow the rows in sight', body: keysFollowTheRows },
    { name: 'second look: a drawing that fails is said', body: drawingThatFailsIsSaid, expected: /TypeError/ },
    { name: 'second look: a fault nobody caught is said', body: faultsAreSaid, expected: /seven of nine/ },
    { name: 'second look: a query is saved by keys', body: savingByKeys },
    { name: 'second look: a trace is renamed by keys', body: renamingByKeys },
    { name: 'second look: an ingest that failed says why', body: failedIngestSaysWhy },
    { name: 'second look: what is missing is named', body: missingIsNamed, expected: /40[04]/ },
    { name: 'second look: addresses typed by hand are put right, and said', body: addressesAreMeant },
    { name: 'second look: old and readable addresses lead to pages', body: oldAndReadableAddresses },
    { name: 'second look: tiles are of one part', body: tilesAreOfOnePart },
    { name: 'second look: the range is typed, moved and undone', body: rangeIsTypedMovedAndUndone },
    { name: 'second look: traces are switched and read again in place', body: tracesAreSwitched },
    { name: 'second look: pages arrive without jumps', body: pagesArriveStill },
    { name: 'second look: controls stand still when answers come', body: controlsStandStill },
];
