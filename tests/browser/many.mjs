/* many.mjs - 1,760 processes: every picture shows all of them, or says how many of how many; and runs of different
 * size
 * beside each other. */

import assert from 'node:assert/strict';
import { Daemon } from './daemon.mjs';
import { parametersOf } from './harness.mjs';

const THIN = '\u202f';
let begun = null;

/** One of 160 ranks with ten workers each, and one of one rank and one of eight. */
function many() {
    begun ??= (async () => {
        const daemon = await Daemon.start();
        const trace = await daemon.generated(400000, [
            '--gzip',
            'one',
            '--hosts',
            '8',
            '--ranks',
            '160',
            '--workers',
            '10',
        ]);
        const one = await daemon.generated(10000, ['--ranks', '1', '--workers', '1']);
        const eight = await daemon.generated(80000, ['--ranks', '8', '--workers', '1']);
        return { daemon, trace, one, eight };
    })();
    return begun;
}

export async function close() {
    if (begun) await (await begun).daemon.stop();
}

const card = (page, name) => page.locator(`section.card[aria-label="${name}"]`);

async function heatHasAll(page) {
    const { daemon, trace } = await many();
    assert.equal(trace.processes, 1760);
    await page.goto(`${daemon.base}/?page=layer&trace=${trace.id}&preset=posix&filters=off&layer=posix&as=heat`);
    const heat = card(page, 'Processes over time');
    await heat.locator('table').waitFor();
    const q = { group_by: ['host_name', 'pid'], aggregate: { n: 'count()' }, limit: 1 };
    const condition = { filter: 'cat.str.contains("posix|stdio")' };
    const asked = new URLSearchParams({ preset: 'posix', filters: 'off', q: JSON.stringify({ ...q, ...condition }) });
    const { row_count: count } = await daemon.get(`traces/${trace.id}/query?${asked}`);
    assert.ok(count > 500, `${count} processes`);
    const grouped = String(count).replace(/\B(?=(\d{3})+$)/g, THIN);
    assert.match(
        await heat.locator('small').first().innerText(),
        new RegExp(`^all ${grouped} processes, \\d+ in a row`),
    );
    const spread = card(page, 'Over processes');
    await spread.locator('canvas').waitFor();
    assert.equal(await spread.locator('.chart-note').innerText(), `${grouped}\u202fprocesses`);
    assert.equal(await spread.locator('[aria-label="Spread"] [aria-pressed="true"]').innerText(), 'Bars');
    assert.ok((await spread.boundingBox()).height < 500, 'a curve, not a bar for each');
    await heat.locator('table a').first().click();
    assert.match((await parametersOf(page)).filter, /pid in \[\d+(, \d+)+\]/);
}

async function overlapHasAll(page) {
    const { daemon, trace } = await many();
    await page.goto(`${daemon.base}/?page=overlap&trace=${trace.id}`);
    const ranks = card(page, 'By rank');
    await ranks.locator('canvas').waitFor();
    assert.match(await ranks.locator('small').first().innerText(), /of all 160 ranks.*median .*middle half/);
    assert.ok((await ranks.boundingBox()).height < 500, 'a curve, not a bar for each');
    const lanes = card(page, 'Intervals');
    await lanes.locator('canvas').waitFor();
    assert.match(await lanes.locator('small').first().innerText(), /in all 160 ranks, 3 in a row/);
}

async function sizesAreLikened(page) {
    const { daemon, one, eight } = await many();
    await page.goto(`${daemon.base}/?page=compare&traces=${one.id},${eight.id}`);
    const pressed = page.getByRole('group', { name: 'Numbers' }).locator('[aria-pressed="true"]');
    await pressed.waitFor();
    assert.equal(await pressed.innerText(), 'per rank');
    const events = page.locator('.tile', { has: page.locator('dt', { hasText: /^Events$/ }) });
    const numbers = () => events.locator('.figure data').evaluateAll((all) => all.map((each) => Number(each.value)));
    assert.deepEqual(await numbers(), [10000, 10000]);
    const io = page.locator('.tile', { has: page.locator('dt', { hasText: /^I\/O time$/ }) });
    assert.ok(Number((await io.locator('.change-ratio').innerText()).slice(2)) < 2, 'no eightfold I/O time');
    const calls = page.locator('section.card[aria-label="Calls"]');
    await calls.getByRole('button', { name: 'Table' }).click();
    const call = calls.locator('tbody tr', { hasText: 'DLIOBenchmark._train' }).first();
    const [now, before] = await call
        .locator('[data-label="Now"] data, [data-label="Baseline"] data')
        .evaluateAll((all) => all.map((each) => Number(each.value)));
    assert.ok(now / before > 0.5 && now / before < 2, `calls of a rank: ${now} s, ${before} s`);
    await page.getByRole('group', { name: 'Numbers' }).getByRole('button', { name: 'whole job' }).click();
    await page.waitForFunction(() => new URLSearchParams(location.search).get('per') === 'job');
    assert.deepEqual(await numbers(), [10000, 80000]);
    const whole = Number(await call.locator('[data-label="Now"] data').getAttribute('value'));
    assert.ok(whole > 4 * now, `calls of the whole job: ${whole} s`);
}

async function anyPresetCompares(page) {
    const { daemon, one, eight } = await many();
    await page.goto(`${daemon.base}/?page=compare&traces=${one.id},${eight.id}&preset=posix&per=job`);
    await page.locator('table.layers').waitFor();
    const { data } = await daemon.get(`compare?traces=${one.id},${eight.id}&preset=posix&columns=name,trace,time`);
    const first = page.locator('table.layers tbody tr').first().locator('td[data-label="now"] data').first();
    assert.equal(Number(await first.getAttribute('value')), data[1][2]);
}

async function lostRunIsSaid(page) {
    const { daemon, one, eight } = await many();
    await page.goto(`${daemon.base}/?page=compare&traces=${one.id},${eight.id},nonesuch`);
    await page.locator('.tile').first().waitFor();
    await page.getByRole('status').getByText('no trace nonesuch').waitFor();
}

/** Who looks for a baseline finds runs on top whose tags, then whose names, are this one's. */
async function likeRunsComeFirst(page) {
    const { daemon, trace, one, eight } = await many();
    const describe = (of, name, tags) => daemon.call('PATCH', `traces/${of.id}`, { name, tags });
    const offered = async () => {
        await page.goto(`${daemon.base}/?page=compare&traces=${one.id}`);
        const names = page.getByLabel('Add a run').locator('option:not([value=""])');
        await names.first().waitFor({ state: 'attached' });
        return (await names.allInnerTexts()).map((text) => text.replace(/ \(.*/, ''));
    };
    await describe(one, 'unet3d-monday', ['nightly']);
    await describe(trace, 'bert', ['nightly']);
    await describe(eight, 'unet3d-sunday', []);
    assert.deepEqual(await offered(), ['bert', 'unet3d-sunday'], 'a tag in common counts more than a name alike');
    await describe(trace, 'bert', []);
    assert.deepEqual(await offered(), ['unet3d-sunday', 'bert']);
    for (const of of [one, trace, eight]) await describe(of, of.name, []);
}

async function comparingKeepsThePlace(page) {
    const { daemon, one, eight } = await many();
    await page.goto(`${daemon.base}/?page=layer&trace=${one.id}&from=10&to=60&filter=size+%3E+4096`);
    await page.locator('nav.pages').getByRole('link', { name: 'Compare' }).click();
    const place = await parametersOf(page);
    assert.deepEqual([place.from, place.to, place.filter], ['10', '60', 'size > 4096']);
    await page.getByLabel('Add a run').selectOption(eight.id);
    await page.locator('table.layers').waitFor();
    await page.locator('nav.pages').getByRole('link', { name: 'Breakdown' }).click();
    await page.getByRole('heading', { level: 1, name: one.name }).waitFor();
    assert.equal((await parametersOf(page)).from, '10');
}

export const tests = [
    { name: 'many: the heat map has every process', body: heatHasAll },
    { name: 'many: ranks and intervals are all there', body: overlapHasAll },
    { name: 'many: runs of different size are likened', body: sizesAreLikened },
    { name: 'many: any preset compares', body: anyPresetCompares },
    { name: 'many: a run that is not there is said', body: lostRunIsSaid },
    { name: 'many: a comparison keeps range and pages', body: comparingKeepsThePlace },
    { name: 'many: runs that are alike are offered first', body: likeRunsComeFirst },
];
