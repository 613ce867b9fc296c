/* small_things.mjs - what annoyed a new user in passing: tooltips and headers that lag behind, pictures without words,
 * errors behind a dialog, names cut alike, buttons that are refused; and presets, which are written and tried. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Daemon, given } from './daemon.mjs';
import { expressionIn, idle, offered, parametersOf, settled } from './harness.mjs';

const at = (daemon, place) => `${daemon.base}/?${new URLSearchParams(place)}`;
const card = (page, name) => page.locator(`section.card[aria-label="${name}"]`);

/** Bins that a tooltip names, as seconds from and to; null: none is shown. */
function shownBin(chart) {
    return chart.evaluate((box) => {
        const tip = [...box.querySelectorAll('.chart-bubble, .chart-tip')].find(
            (one) => one.checkVisibility?.() ?? true,
        );
        const found = tip?.textContent.replaceAll('\u202f', '').match(/([\d.]+) \u2013 ([\d.]+)s/);
        return found ? [Number(found[1]), Number(found[2])] : null;
    });
}

async function tooltipFollowsTheRange(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(at(daemon, { page: 'overview', trace: trace.id }));
    const chart = card(page, 'Over time').locator('.chart');
    await chart.locator('canvas').first().waitFor();
    await chart.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await chart.boundingBox(),
        middle = y + height / 2;
    await page.mouse.move(x + width * 0.3, middle);
    await page.mouse.move(x + width * 0.31, middle);
    assert.ok(await shownBin(chart), 'a bin is said');
    await page.mouse.down();
    await page.mouse.move(x + width * 0.5, middle, { steps: 4 });
    await page.mouse.move(x + width * 0.6, middle, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => new URLSearchParams(location.search).has('to'));
    await idle(page);
    const { from, to } = await parametersOf(page);
    const inside = ([first, last]) => first >= Number(from) - 1 && last <= Number(to) + 1;
    const left = await shownBin(chart);
    await page.mouse.move(x + width * 0.61, middle);
    await page.mouse.move(x + width * 0.6, middle);
    const there = await shownBin(chart);
    assert.ok(there && inside(there), `${there} is no bin from ${from} to ${to}`);
    assert.ok(left === null || `${left}` === `${there}`, `${left} is said where ${there} is`);
    await page.mouse.move(x + width * 0.9, middle);
    await page.mouse.move(x + width * 0.91, middle);
    const now = await shownBin(chart);
    assert.ok(now && inside(now), `${now} is no bin from ${from} to ${to}`);
}

/** What stands above the chart in a saved picture: ink of letters, and the colours of the legend. */
async function picturesHaveTheirWords(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(at(daemon, { page: 'overview', trace: trace.id }));
    const series = card(page, 'Over time'),
        canvas = series.locator('.chart canvas').first();
    await canvas.waitFor();
    await canvas.scrollIntoViewIfNeeded();
    await series.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
        page.waitForEvent('download'),
        series.getByRole('menuitem', { name: 'Save as PNG' }).click(),
    ]);
    const png = (await readFile(await download.path())).toString('base64');
    const colors = await series
        .locator('.legend-item[aria-pressed="true"]')
        .evaluateAll((items) => items.map((item) => getComputedStyle(item).getPropertyValue('--color').trim()));
    const found = await page.evaluate(
        async ({ data, legend }) => {
            const picture = new Image();
            picture.src = `data:image/png;base64,${data}`;
            await picture.decode();
            const surface = new OffscreenCanvas(picture.width, picture.height),
                pen = surface.getContext('2d', { willReadFrequently: true });
            const probe = (color) => {
                pen.fillStyle = color;
                pen.fillRect(0, 0, 1, 1);
                return pen.getImageData(0, 0, 1, 1).data.slice(0, 3).join(' ');
            };
            const wanted = legend.map((color) => {
                const element = document.createElement('i');
                element.style.color = color;
                document.body.append(element);
                const solid = getComputedStyle(element).color;
                element.remove();
                return probe(solid);
            });
            pen.drawImage(picture, 0, 0);
            const chart = document.querySelector('section[aria-label="Over time"] .chart canvas').clientHeight * 2,
                top = picture.height - chart,
                { data: pixels } = pen.getImageData(0, 0, picture.width, Math.max(1, top));
            const seen = new Map();
            for (let place = 0; place < pixels.length; place += 4) {
                const key = `${pixels[place]} ${pixels[place + 1]} ${pixels[place + 2]}`;
                seen.set(key, (seen.get(key) ?? 0) + 1);
            }
            return { top, shades: seen.size, missing: wanted.filter((color) => !(seen.get(color) > 50)) };
        },
        { data: png, legend: colors },
    );
    assert.ok(found.top >= 80, `${found.top} px above the chart have title, note and legend`);
    assert.ok(found.shades > 20, 'letters are there');
    assert.deepEqual([colors.length > 0, found.missing], [true, []], 'colours of the legend');
}

async function headerNamesTheChosenPreset(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(at(daemon, { page: 'overview', trace: trace.id }));
    await page.locator('table.layers').waitFor();
    await page.getByLabel('Preset', { exact: true }).selectOption('posix');
    await page.locator('.page-head, .trace-head, header', { hasText: 'Preset posix' }).first().waitFor();
    const words = await page.locator('body').innerText();
    assert.match(words, /Preset posix – chosen instead of dlio/);
    assert.doesNotMatch(words, /Preset dlio/);
}

/** What tells two long names apart stands at their ends. */
async function namesAreDistinguished(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(at(daemon, { page: 'overview', trace: trace.id }));
    await page.locator('table.layers').waitFor();
    const cut = await page.locator('table.layers .layer-name').evaluateAll((all) =>
        all
            .filter((name) => {
                const cell = name.closest('th, td');
                return name.scrollWidth > name.clientWidth + 1 || (cell && cell.scrollWidth > cell.clientWidth + 1);
            })
            .map((name) => name.textContent),
    );
    assert.deepEqual(cut, [], 'names of layers are whole');
    const links = card(page, 'Hottest files').locator('tbody a');
    await links.first().waitFor();
    const ends = await links.evaluateAll((all) =>
        all.map((link) => {
            const last = /** @type {Element} */ (link.lastElementChild ?? link),
                { left, right } = last.getBoundingClientRect();
            return {
                words: last.textContent,
                whole: left >= 0 && right <= innerWidth && last.scrollWidth <= last.clientWidth + 1,
            };
        }),
    );
    assert.equal(new Set(ends.map(({ words }) => words)).size, ends.length);
    assert.deepEqual(
        ends.filter(({ whole }) => !whole),
        [],
        'ends of names are whole',
    );
    await page.goto(at(daemon, { page: 'query', trace: trace.id }));
    await settled(page);
    const functions = await page.locator('.grid .row-name').evaluateAll((all) =>
        all.map((name) => {
            const cut = name.scrollWidth > name.clientWidth + 1,
                end = name.lastElementChild?.getBoundingClientRect(),
                { right } = name.closest('th, td').getBoundingClientRect();
            return {
                words: name.textContent,
                seen: end ? end.left + Math.min(end.width, 60) <= right : !cut,
            };
        }),
    );
    assert.ok(functions.length > 20, `${functions.length} functions`);
    assert.deepEqual(
        functions.filter(({ seen }) => !seen),
        [],
        'ends of functions are in sight',
    );
    const name = `Reader.${'read_all_samples_'.repeat(4)}`,
        event = { name, cat: 'POSIX', pid: 1, tid: 1, ts: 1000, dur: 10, ph: 'X', args: { ret: 1 } };
    const long = await daemon.ingestFiles('a-long-name', { 'a.pfw': `[\n${JSON.stringify(event)}\n` });
    await page.goto(at(daemon, { page: 'query', trace: long.id }));
    const method = page.locator('.grid .row-name > span').last();
    await method.waitFor();
    assert.ok(
        await method.evaluate((end) => {
            const { right } = end.parentElement.getBoundingClientRect();
            return getComputedStyle(end).textOverflow === 'ellipsis' && end.getBoundingClientRect().right <= right;
        }),
        'what is cut ends in dots',
    );
    await daemon.call('DELETE', `traces/${long.id}`);
}

const REFUSED = /^(Add a trace|Add|Follow|Refresh|Save|Save as|Delete|Rename and tag|Write|Add to Overview)$/;

/** Whoever may only look is offered nothing that the server would refuse. */
async function viewersSeeNoButtonsInVain(page) {
    const token = 'a token of a viewer';
    const daemon = await Daemon.start({ traces: ['two-hosts'], token, role: 'viewer' });
    try {
        await page.goto(daemon.base);
        await page.getByLabel('Token').fill(token);
        await page.getByRole('button', { name: 'Sign in' }).click();
        const name = page.getByRole('link', { name: 'two-hosts', exact: true });
        await name.waitFor();
        const offered = async () =>
            (
                await page
                    .getByRole('button')
                    .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? one.textContent.trim()))
            ).filter((one) => REFUSED.test(one));
        await page.getByText('ready').first().waitFor();
        assert.deepEqual(await offered(), [], 'list');
        await name.click();
        const trace = (await parametersOf(page)).trace;
        for (const where of ['overview', 'query', 'presets', 'jobs']) {
            await page.goto(at(daemon, { page: where, trace }));
            await page.locator('main .card').first().waitFor();
            await idle(page);
            assert.deepEqual(await offered(), [], where);
        }
    } finally {
        await daemon.stop();
    }
}

/** A preset is written, tried as it is typed, kept, used and deleted. */
async function presetsAreWritten(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(at(daemon, { page: 'overview', trace: trace.id }));
    await page.locator('table.layers').waitFor();
    await page.locator('.preset-link').click();
    const preview = card(page, 'Preview'),
        text = page.getByLabel('YAML of the preset');
    await preview.locator('tbody tr').first().waitFor();
    await text.fill('extends: dlio\nlayers:\n  - {name: reads, condition: iocat == 1}\n');
    await preview.getByRole('alert').waitFor();
    assert.match(await preview.getByRole('alert').innerText(), /Line 3.*iocat/);
    await text.fill(
        'extends: dlio\ndetect:\noverlap_with:\nadditional: {}\nlayers:\n  - {name: reads, label: Reads, condition: io_cat == 1}\n',
    );
    const row = preview.locator('tbody tr', { hasText: 'Reads' });
    await row.waitFor();
    const counted = await daemon.call('POST', `traces/${trace.id}/query`, {
        preset: 'dlio',
        filter: 'io_cat == 1',
        aggregate: { n: 'count()' },
    });
    assert.equal(Number(await row.locator('data').getAttribute('value')), counted.data[0][0]);
    await page.getByRole('button', { name: 'Save as' }).click();
    await page.keyboard.type('reads_only');
    await page.keyboard.press('Enter');
    await page.locator('.toast', { hasText: 'Saved as reads_only' }).waitFor();
    await page.waitForFunction(
        () => /** @type {any} */ (document.getElementById('preset-choice')).value === 'reads_only',
    );
    await page.getByRole('link', { name: 'Show the trace by it' }).click();
    await settledLayers(page, 'reads');
    await page.goto(at(daemon, { page: 'presets', trace: trace.id, edit: 'reads_only' }));
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForFunction(() => !new URLSearchParams(location.search).has('edit'));
    assert.ok((await daemon.get('presets')).presets.every(({ name }) => name !== 'reads_only'));
}

/** The only layer of the table. */
function settledLayers(page, name) {
    return page.waitForFunction((wanted) => {
        const names = [...document.querySelectorAll('table.layers tbody tr')].map((row) => row.textContent);
        return (
            names.length === 1 && names[0].includes(wanted) && !document.querySelector('.outdated, [aria-busy="true"]')
        );
    }, name);
}

/** How much of the ranks' time a bin holds is seen against what it can hold. */
async function capacityIsDrawn(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    const drawn = page.addInitScript(() => {
        const write = CanvasRenderingContext2D.prototype.fillText;
        /** @type {any} */ (window).written = [];
        CanvasRenderingContext2D.prototype.fillText = function note(...words) {
            /** @type {any} */ (window).written.push(words[0]);
            return write.apply(this, words);
        };
    });
    await drawn;
    await page.goto(at(daemon, { page: 'overview', trace: trace.id }));
    await card(page, 'Over time').scrollIntoViewIfNeeded();
    await page.waitForFunction(() =>
        /** @type {any} */ (window).written.some((words) => /^8\s?ranks \u00d7 /.test(words)),
    );
}

async function filterIsABox(page, daemon) {
    const trace = await daemon.ingest(given('unet3d-v100'));
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
    await page.locator('#filter').click();
    const editor = page.locator('.control-bar .cm-editor');
    await editor.waitFor();
    await page.keyboard.type('func_na');
    await offered(page, /^func_name/);
    await page.keyboard.press('Tab');
    assert.equal(await expressionIn(editor.locator('.cm-content')), 'func_name', 'Tab takes the first completion');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    const border = await editor.evaluate((box) => getComputedStyle(box).borderTopWidth);
    assert.equal(border, '1px', 'the box has its edge when nobody types');
}

/** Jobs and settings are read on a phone without moving their tables, and buttons are in sight. */
async function jobsFitAPhone(page, daemon) {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(at(daemon, { page: 'jobs' }));
    for (const name of ['Jobs', 'Settings']) {
        const box = page.getByRole('group', { name, exact: true });
        await box.locator('tbody tr').first().waitFor();
        const { inner, outer } = await box.evaluate((one) => ({ inner: one.scrollWidth, outer: one.clientWidth }));
        assert.ok(inner <= outer, `${name} are ${inner} px wide in ${outer}`);
    }
}

export const tests = [
    { name: 'small things: jobs and settings fit a phone', body: jobsFitAPhone },
    { name: 'small things: the filter is a box that completes', body: filterIsABox },
    { name: 'small things: a tooltip follows the range', body: tooltipFollowsTheRange },
    { name: 'small things: pictures have their words', body: picturesHaveTheirWords },
    { name: 'small things: the header names the preset that is chosen', body: headerNamesTheChosenPreset },
    { name: 'small things: names are distinguished on a narrow screen', body: namesAreDistinguished },
    { name: 'small things: viewers see no buttons in vain', body: viewersSeeNoButtonsInVain, expected: /40[13]/ },
    { name: 'small things: presets are written and tried', body: presetsAreWritten },
    { name: 'small things: the capacity of a bin is drawn', body: capacityIsDrawn },
];
