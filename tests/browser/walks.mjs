/* walks.mjs - questions of a person who has never seen the dashboard, each answered within three clicks from its
 * address. */

import assert from 'node:assert/strict';
import { idle } from './harness.mjs';

/** Counts clicks, and refuses the fourth. */
function walker() {
    let clicks = 0;
    return async (locator) => {
        assert.ok(++clicks <= 3, 'within three clicks');
        await locator.click();
    };
}

const toTrace = (page) => page.getByRole('link', { name: 'unet3d-v100', exact: true });
const card = (page, name) => page.locator(`section.card[aria-label="${name}"]`);

async function whereTheTimeWent(page, daemon) {
    const click = walker();
    await page.goto(daemon.base);
    await click(toTrace(page));
    await card(page, 'Where the time went').locator('.answer').waitFor();
    assert.match(
        await card(page, 'Where the time went').locator('.answer').innerText(),
        /computed .*%.* spent .*%.*fetch_data/,
    );
    const top = (await card(page, 'Where the time went').locator('.answer').boundingBox()).y;
    assert.ok(top < 400, 'without scrolling');
}

async function stragglerRank(page, daemon) {
    const click = walker();
    let asked = 0;
    page.on('request', (request) => {
        asked += Number(request.url().endsWith('/stragglers'));
    });
    await page.goto(daemon.base);
    await click(toTrace(page));
    await card(page, 'Slowest steps').locator('tbody tr').first().waitFor();
    assert.equal(asked, 0, 'nothing is asked for a card that nobody sees');
    await card(page, 'Stragglers').scrollIntoViewIfNeeded();
    const first = card(page, 'Stragglers').locator('tbody tr').first();
    await first.waitFor();
    assert.ok((await card(page, 'Stragglers').locator('tbody tr').count()) <= 5);
    await click(first.getByRole('link'));
    await page.locator('.tl-stage, .timeline, canvas').first().waitFor();
    assert.match(page.url(), /page=timeline/);
}

async function hottestFile(page, daemon) {
    const click = walker(),
        trace = await daemon.trace('unet3d-v100');
    await page.goto(daemon.base);
    await click(toTrace(page));
    const first = card(page, 'Hottest files').locator('tbody tr').first();
    const q = {
        filter: 'cat.str.contains("posix|stdio") and file_name.notna()',
        group_by: ['file_name'],
        aggregate: { time: 'sum(time)' },
        order_by: ['-time'],
        limit: 1,
    };
    const asked = new URLSearchParams({ preset: 'dlio', q: JSON.stringify(q) });
    const { data } = await daemon.get(`traces/${trace.id}/query?${asked}`);
    assert.equal(await first.getByRole('link').textContent(), data[0][0]);
    await click(first.getByRole('link'));
    await page.locator('.grid tbody tr:visible').first().waitFor();
    assert.ok(new URL(page.url()).searchParams.get('filter').includes(data[0][0]));
}

async function slowestCall(page, daemon) {
    const click = walker();
    await page.goto(`${daemon.base}/?page=query&trace=${(await daemon.trace('unet3d-v100')).id}`);
    await click(page.getByRole('button', { name: /^Slowest/ }));
    await page.waitForFunction(() => new URLSearchParams(location.search).get('ask') === 'events');
    await idle(page);
    const slowest = page.locator('.grid tbody tr:visible').first();
    assert.match(await slowest.innerText(), /pread/, 'a call, not what is around it');
    await click(slowest.locator('a, button').first());
    await page.getByRole('dialog').waitFor();
    await click(
        page
            .getByRole('dialog')
            .getByRole('link', { name: /timeline/i })
            .first(),
    );
    await page.waitForFunction(() => new URLSearchParams(location.search).get('page') === 'timeline');
}

async function regression(page, daemon) {
    const other = await daemon.generated(3000, ['--seed', '9']);
    const click = walker();
    await page.goto(daemon.base);
    await click(page.getByLabel('Compare unet3d-v100'));
    await click(page.getByLabel(`Compare ${other.name}`));
    await click(page.getByRole('link', { name: /^Compare 2/ }));
    await card(page, 'Largest slow-downs').locator('.grid tbody tr').first().waitFor();
    await daemon.call('DELETE', `traces/${other.id}`);
}

/** A mark under the sign at fault, of a query's filter too. */
async function filtersAreMarked(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    for (const name of ['overview', 'query', 'layer', 'flat', 'overlap']) {
        const place = { page: name, trace: trace.id, filter: 'cat = "posix"', group: 'cat', agg: 'n = count()' };
        await page.goto(`${daemon.base}/?${new URLSearchParams(place)}`);
        assert.equal(await page.locator('.control-bar .fault').textContent(), '=', name);
        assert.match(await page.locator('#filter-problem').innerText(), /expected ==, found =/, name);
    }
}

/** What an empty box of filters suggests finds events of this trace. */
async function suggestedFilterFinds(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
    await page.waitForFunction(() =>
        /** @type {any} */ (document.getElementById('filter'))?.placeholder.includes('such as'),
    );
    const example = (await page.locator('#filter').getAttribute('placeholder')).replace(/^.*such as /, '');
    const { layers } = await daemon.get(`traces/${trace.id}/summary?filter=${encodeURIComponent(example)}`);
    assert.ok(
        layers.some(({ count }) => count > 0),
        `${example} finds something`,
    );
}

/** The slowest steps lead on; their figures are those of the API. */
async function slowestSteps(page, daemon) {
    const click = walker(),
        trace = await daemon.trace('unet3d-v100'),
        { phases } = await daemon.get('presets/dlio');
    await page.goto(daemon.base);
    await click(toTrace(page));
    const rows = card(page, 'Slowest steps').locator('tbody tr');
    await rows.first().waitFor();
    const { attribution } = await daemon.call('POST', `traces/${trace.id}/overlap`, {
        preset: 'dlio',
        filters: 'off',
        sets: { training: phases.training, compute: phases.compute },
        attribution: { target: 'training', causes: ['compute'], by: ['epoch', 'step'], longest: 0 },
    });
    const slowest = attribution.rows.data
        .filter(([, step]) => step !== null)
        .map(([, , time]) => time / attribution.units)
        .sort((a, b) => b - a);
    const shown = await rows.evaluateAll((all) => all.map((row) => Number(row.querySelector('data').value)));
    assert.deepEqual(shown, slowest.slice(0, 5));
    await click(rows.first().getByRole('link'));
    await page.getByRole('table', { name: 'Steps' }).first().waitFor();
}

/** Parts that belong together stand next to each other where the page is wide enough. */
async function layersBesideOverTime(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    const tops = async (width) => {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
        const boxes = await Promise.all(
            ['Layers', 'Over time'].map(async (name) => {
                await card(page, name).waitFor();
                return card(page, name).boundingBox();
            }),
        );
        return boxes.map(({ y }) => Math.round(y));
    };
    const [layers, series] = await tops(1400);
    assert.equal(layers, series);
    const cut = await page
        .locator('.layers')
        .first()
        .evaluate((table) => {
            const box = table.closest('.scroll') ?? table;
            return box.scrollWidth - box.clientWidth;
        });
    assert.ok(cut <= 0, `${cut} pixels of the table lie outside its card`);
    const [above, below] = await tops(1300);
    assert.ok(below > above);
}

export const tests = [
    { name: 'walks: where the time went', body: whereTheTimeWent },
    { name: 'walks: the straggler rank', body: stragglerRank },
    { name: 'walks: the hottest file', body: hottestFile },
    { name: 'walks: the slowest steps', body: slowestSteps },
    { name: 'walks: layers stand beside their series', body: layersBesideOverTime },
    { name: 'walks: the slowest call in its context', body: slowestCall },
    { name: 'walks: the regression between two runs', body: regression },
    { name: 'walks: the filter that is suggested finds something', body: suggestedFilterFinds },
    {
        name: 'walks: a filter at fault is marked on every page',
        body: filtersAreMarked,
        expected: /400 \(Bad Request\)/,
    },
];
