/* frame.mjs - keys, theme, lost connections, sign-in, size and speed of the first page. */

import assert from 'node:assert/strict';
import { Daemon, given } from './daemon.mjs';
import { parametersOf } from './harness.mjs';

const BUDGET = 350 * 1024; // of a page; most of it is the library of charts
const PAGES = [
    'overview',
    'layer',
    'flat',
    'overlap',
    'flame',
    'steps',
    'timeline',
    'findings',
    'query',
    'report',
    'whatif',
];

async function keysAreEnough(page, daemon) {
    await page.goto(daemon.base);
    const link = page.getByRole('link', { name: 'unet3d-v100', exact: true });
    await link.waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to content');
    for (let i = 0; i < 40 && (await page.evaluate(() => document.activeElement.tagName)) !== 'TR'; i++)
        await page.keyboard.press('Tab');
    const visible = await page.evaluate(() => {
        const style = getComputedStyle(document.activeElement);
        return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
    });
    assert.ok(visible, 'the focus is visible');
    for (
        let i = 0;
        i < 10 && !(await page.evaluate(() => document.activeElement.innerText)).includes('unet3d-v100');
        i++
    )
        await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.locator('table.layers').waitFor();
    assert.equal((await parametersOf(page)).page, 'overview');
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'filter');
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await link.waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Help' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
}

async function themeIsSwitched(page, daemon) {
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(daemon.base);
    const light = await ground();
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await ground();
    assert.notEqual(light, dark);
    await page.getByRole('button', { name: 'Light or dark' }).click();
    assert.equal(await ground(), light);
    await page.reload();
    assert.equal(await ground(), light, 'the choice survives a reload');
}

async function lostConnectionHeals(page) {
    const daemon = await Daemon.start({ traces: ['two-hosts'] });
    try {
        const trace = await daemon.trace('two-hosts');
        await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
        await page.locator('table.layers').waitFor();
        await daemon.end();
        await page.getByText('The connection to the server is lost').waitFor();
        await daemon.again();
        await page.getByText('The connection to the server is lost').waitFor({ state: 'hidden' });
        await page.locator('table.layers').waitFor();
    } finally {
        await page.close();
        await daemon.stop();
    }
}

async function signInIsAskedFor(page) {
    const daemon = await Daemon.start({ token: 'a token for the browser test', role: 'admin' });
    try {
        await page.goto(daemon.base);
        const token = page.getByLabel('Access token');
        await token.fill('a wrong one');
        await token.press('Enter');
        await page.getByText('not known to the server').waitFor();
        await token.fill('a token for the browser test');
        await token.press('Enter');
        await page.getByText('No traces yet').waitFor();
        await page.reload();
        await page.getByText('No traces yet').waitFor();
        assert.match(
            await page.locator('.snippet code').innerText(),
            /^curl -H "Authorization: Bearer \$STRATA_TOKEN" -X POST/,
            'what is copied says how to pass a token',
        );
        await page.locator('nav.pages').getByRole('link', { name: 'Jobs' }).click();
        const tokens = page.getByRole('table', { name: 'Tokens' }).locator('tbody tr');
        await tokens.first().waitFor();
        assert.deepEqual(await tokens.allInnerTexts(), ['tester\tadmin']);
    } finally {
        await page.close();
        await daemon.stop();
    }
}

async function unknownTraceIsSaidInWords(page, daemon) {
    await page.goto(`${daemon.base}/?page=overview&trace=0000000000000000`);
    await page.getByRole('alert').filter({ hasText: /\w/ }).waitFor();
    await page.getByRole('link', { name: 'All traces' }).click();
    await page.getByRole('link', { name: 'unet3d-v100', exact: true }).waitFor();
}

async function namesOfTracesAreText(page, daemon) {
    const trace = await daemon.ingest(given('two-hosts'));
    const name = '<img src=x onerror="document.title=1"> & co';
    await daemon.call('PATCH', `traces/${trace.id}`, { name, tags: ['<b>x</b>'] });
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
    await page.getByRole('heading', { name }).waitFor();
    await page.goto(daemon.base);
    await page.getByRole('link', { name }).waitFor();
    assert.equal(await page.locator('main img, main b').count(), 0);
    await daemon.call('PATCH', `traces/${trace.id}`, { name: trace.name, tags: [] });
}

/** Opens a page by itself.  @returns {Promise<number>} bytes of scripts and sheets that it loads, compressed */
async function bytesOf(page, address) {
    await page.goto(address);
    await page.locator('main h1, main h2').first().waitFor();
    await page.waitForLoadState('networkidle');
    return page.evaluate(() =>
        performance
            .getEntriesByType('resource')
            .filter(({ name }) => /\.(js|css)$/.test(name))
            .reduce((sum, /** @type {any} */ { encodedBodySize }) => sum + encodedBodySize, 0),
    );
}

async function pagesAreSmall(page, daemon) {
    const trace = await daemon.ingest(given('unet3d-v100'));
    const sizes = {};
    for (const name of PAGES) {
        const bytes = await bytesOf(page, `${daemon.base}/?page=${name}&trace=${trace.id}`);
        assert.ok(bytes > 0 && bytes < BUDGET, `${name} loads ${bytes} bytes`);
        sizes[name] = Math.round(bytes / 1024);
    }
    console.log(`   KiB loaded, compressed: ${JSON.stringify(sizes)}`);
    await page.goto(`${daemon.base}/?page=report&trace=${trace.id}`);
    await page.locator('main h1, main h2').first().waitFor();
    await page.waitForLoadState('networkidle');
    const loaded = await page.evaluate(() =>
        performance
            .getEntriesByType('resource')
            .map(({ name }) => name)
            .join(),
    );
    assert.ok(!/codemirror/.test(loaded), 'the editor comes when somebody begins to type');
}

async function firstPageIsFast(page, daemon) {
    const answers = [];
    page.on('response', (response) => answers.push(response));
    await page.goto(daemon.base);
    await page.getByRole('link', { name: 'unet3d-v100', exact: true }).waitFor();
    const ready = await page.evaluate(() => Math.round(performance.now()));
    console.log(`   list of traces on screen after ${ready} ms`);
    const assets = answers.filter((answer) => /\.(js|css)$/.test(new URL(answer.url()).pathname));
    assert.ok(
        assets.length > 3 && !assets.some((answer) => answer.url().includes('echarts')),
        'charts are not loaded before one is shown',
    );
    for (const answer of assets) {
        const headers = answer.headers();
        assert.equal(headers['content-encoding'], 'gzip', answer.url());
        assert.match(headers['cache-control'], /immutable/, answer.url());
    }
    const policy = answers[0].headers()['content-security-policy'];
    assert.ok(policy && !policy.includes('unsafe'), policy);
}

export const tests = [
    { name: 'frame: keys alone are enough', body: keysAreEnough },
    { name: 'frame: light and dark are switched', body: themeIsSwitched },
    {
        name: 'frame: a lost connection shows and heals',
        body: lostConnectionHeals,
        expected: /ERR_|Failed to load|^$/,
    },
    { name: 'frame: a sign-in is asked for', body: signInIsAskedFor, expected: /40[13]/ },
    { name: 'frame: an unknown trace is said in words', body: unknownTraceIsSaidInWords, expected: /404/ },
    { name: 'frame: what comes from traces stays text', body: namesOfTracesAreText },
    { name: 'frame: the first page is fast', body: firstPageIsFast },
    { name: 'frame: no page loads much', body: pagesAreSmall },
];
