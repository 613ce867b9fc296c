/* findings.mjs - sentences, thresholds and evidence against the API's, on their page and on Overview. */

import assert from 'node:assert/strict';
import { given } from './daemon.mjs';
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
        const wanted = findings
            .filter((one) => one.severity === severity)
            .map((one) => `${one.title} ${one.text}`.trim());
        assert.deepEqual(
            (await card.locator('.finding-words').allTextContents()).map((words) => words.trim()),
            wanted,
            label,
        );
    }
    assert.equal(
        await page.getByRole('region', { name: 'Passed', exact: true }).locator('.finding').first().isVisible(),
        false,
        'what is in order is folded',
    );
}

async function evidenceIsTheApis(page, daemon) {
    const { findings } = await openFindings(page, daemon, { rule: 'input_bound' });
    const finding = findings.find(({ rule }) => rule === 'input_bound');
    const rows = page.getByRole('table', { name: `Evidence: ${finding.title}` }).locator('tbody tr');
    assert.deepEqual(
        await rows.evaluateAll((all) =>
            all.map((row) =>
                [...row.cells].map((cell) => {
                    const data = cell.querySelector('data');
                    return data ? Number(data.value) : cell.textContent;
                }),
            ),
        ),
        finding.evidence.data,
    );
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
    assert.deepEqual(
        await lines.locator('.finding-words').allTextContents(),
        wanted.map(({ text }) => text),
    );
    await lines.first().click();
    await page.locator('.finding[open]').getByText(wanted[0].text).waitFor();
}

/** The stall of all ranks by cause, what has none hatched, and the way to Overlap. */
async function overviewHasTheCauses(page, daemon) {
    const name = 'unet3d-plain-dialect',
        trace = (await daemon.trace(name)) ?? (await daemon.ingest(given(name)));
    const { attribution } = await daemon.get(`traces/${trace.id}/overlap?filters=off&attribution=stall&by=unit`);
    const wanted = attribution.causes.filter(({ time }) => time > 0);
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}`);
    const card = page.getByRole('region', { name: 'Causes of the stall' });
    await card.locator('li').first().waitFor();
    assert.deepEqual(
        (
            await card
                .locator('li')
                .evaluateAll((all) =>
                    all.map((one) => [...one.querySelectorAll('data')].map((data) => Number(data.value))),
                )
        ).flat(),
        wanted.flatMap(({ time, share }) => [share, time]),
    );
    const parts = await card
        .locator('.segment')
        .evaluateAll((all) =>
            all.map((one) => [one.getBoundingClientRect().width, getComputedStyle(one).backgroundImage !== 'none']),
        );
    const whole = parts.reduce((sum, [width]) => sum + width + 2, 0);
    assert.deepEqual(
        parts.map(([width, hatched], at) => [Math.abs((width + 2) / whole - wanted[at].share) < 0.01, hatched]),
        wanted.map(({ name }) => [true, name === 'untraced']),
    );
    await card.getByRole('link').click();
    await page.getByRole('table', { name: 'Causes' }).waitFor();
    assert.equal((await parametersOf(page)).attribution, 'stall');
}

/* What a link's page shows, by the finding's figures: how to read each figure there. */
const numbers = (page, name, row = 'tbody tr') =>
    page
        .locator(name)
        .locator(row)
        .evaluateAll((rows) => rows.map((one) => [...one.querySelectorAll('data')].map((data) => Number(data.value))));
const near = (shown, wanted, what) =>
    assert.ok(
        Math.abs(shown - wanted) <= 1e-6 * Math.max(1, Math.abs(wanted)),
        `${what}: ${shown} is shown, ${wanted} is said`,
    );
const ready = (page) => page.waitForFunction(() => !document.querySelector('.skeleton, .outdated'));

/** The groups that a query shows, by the words of their columns; null: they are more than the page draws. */
async function groupsOf(page) {
    const shown = page.locator('section[aria-label="Result"] table').first();
    await shown.locator('tbody tr').first().waitFor();
    const rows = await shown.evaluate((one) => {
        const names = [...one.tHead.rows[0].cells].map((cell) => cell.textContent.replace(/[↓↑]/, ''));
        return [...one.tBodies[0].rows].map((row) =>
            Object.fromEntries(
                [...row.cells].map((cell, at) => {
                    const number = Number(cell.querySelector('data')?.value ?? NaN);
                    return [names[at], Number.isNaN(number) ? cell.textContent : number];
                }),
            ),
        );
    });
    return rows.length < 24 ? rows : null;
}

const total = (rows, column, of = () => true) =>
    rows.filter(of).reduce((sum, row) => sum + (typeof row[column] === 'number' ? row[column] : 0), 0);
const ofKind = (rows, column, kind) => total(rows, column, (row) => Number(row['Kind of I/O']) === kind);

/* What the groups of a rule's query come to. */
const GROUPS = {
    ops_mix: (rows) => ({ q_reads: ofKind(rows, 'calls', 1), q_writes: ofKind(rows, 'calls', 2) }),
    size_mix: (rows) => ({ q_read: ofKind(rows, 'bytes', 1), q_written: ofKind(rows, 'bytes', 2) }),
    stdio: (rows) => ({ q_stdio: total(rows, 'bytes', ({ Category }) => /stdio/i.test(Category)) }),
    open_per_sample: (rows) => ({
        q_opens: total(rows, 'calls', ({ Function: name }) => /open/.test(name) && !/dir/.test(name)),
    }),
    host_clocks: (rows) => ({
        c_spread: Math.max(...rows.map(({ first }) => first)) - Math.min(...rows.map(({ first }) => first)),
    }),
};

const SHOWN = {
    async overlap(page, { rule, link, figures, value }) {
        if (link.own !== undefined) {
            const shown = (await numbers(page, 'section[aria-label="Sets of events"]')).flat();
            for (const name of ['n_comm', 'n_metadata', 'n_all', 'm_max', 'x_outside'])
                if (name in figures)
                    assert.ok(
                        shown.some((one) => Math.abs(one - figures[name]) < 1e-6),
                        `${rule} ${name}: ${figures[name]} is not among ${shown}`,
                    );
            if (figures.t_inline > 0)
                assert.ok(
                    shown.some((one) => Math.abs(one - figures.t_inline / value) < 1e-6),
                    `${rule}: ${figures.t_inline / value} of loading is not among ${shown}`,
                );
            return;
        }
        const causes = await page
            .getByRole('table', { name: 'Causes' })
            .locator('tbody tr')
            .evaluateAll((rows) =>
                Object.fromEntries(
                    rows.map((row) => [
                        row.querySelector('th .quiet')?.textContent.trim() ??
                            row.querySelector('th').textContent.trim(),
                        Number(row.querySelector('data').value),
                    ]),
                ),
            );
        const said = await page
            .locator('.card[aria-label="Where the time goes"] .answer data')
            .evaluateAll((all) => all.map((one) => Number(one.value)));
        for (const [name, value] of Object.entries(figures)) {
            const cause = name.slice(2);
            if (name.startsWith('s_') && cause in causes) near(causes[cause], value, `${rule} ${name}`);
            else if (['s_input', 's_storage', 'b_self'].includes(name))
                assert.ok(
                    said.some((one) => Math.abs(one - value) < 1e-6),
                    `${rule} ${name}: ${value} is not among ${said}`,
                );
            else if (name === 's_top_time') near(Math.max(...Object.values(causes)), value, `${rule} ${name}`);
        }
    },
    async steps(page, { rule, figures }) {
        const tiles = Object.fromEntries(
            await page
                .locator('.tile')
                .evaluateAll((all) =>
                    all.map((one) => [
                        one.querySelector('dt').textContent,
                        Number(one.querySelector('data')?.value ?? NaN),
                    ]),
                ),
        );
        for (const [figure, tile] of [
            ['u_au', 'Accelerator busy'],
            ['u_dlio', "By DLIO's formula"],
            ['r_wait', 'Waiting for the last rank'],
            ['f_excess', 'First steps'],
        ])
            if (typeof figures[figure] === 'number') near(tiles[tile], figures[figure], `${rule} ${figure}`);
        if ('r_slowest' in figures)
            assert.deepEqual(
                (await numbers(page, 'section[aria-label="Last rank of each step"]'))[0].slice(0, 2),
                [figures.r_slowest, figures.r_steps],
                rule,
            );
    },
    async overview(page, { rule, link, figures }) {
        if (link.metric) {
            assert.equal(await page.locator('#metric').inputValue(), link.metric, rule);
            await page.locator('section[aria-label="Over time"] canvas').first().waitFor();
            return;
        }
        const card = page.getByRole('region', { name: 'Stragglers', exact: true });
        await card.scrollIntoViewIfNeeded();
        if (figures.z_members < 3) {
            await card.getByText('Too few to compare').waitFor();
            return;
        }
        near(Number(await card.locator('.median data').getAttribute('value')), figures.z_median, `${rule} median`);
        near(
            (await numbers(page, 'section[aria-label="Stragglers"]'))[0][0],
            figures.z_value,
            `${rule} ${figures.z_worst}`,
        );
    },
    /** The events that the query has are those that the sentence counts. */
    async query(page, { rule, link, figures, evidence }, count) {
        assert.equal((await parametersOf(page)).filter ?? null, link.filter ?? null, rule);
        const said = {
            small_reads: 'q_small',
            small_writes: 'q_small',
            random_reads: 'a_known',
            random_writes: 'a_known',
            unresolved: 'l_unresolved',
        }[rule];
        if (said && figures.a_unknown !== undefined)
            assert.ok((await count(link.filter)) >= figures[said] + figures.a_unknown, rule);
        else if (said) assert.equal(await count(link.filter), figures[said], rule);
        /* The query has no group of the events without a host, which the sentence takes for one. */
        if (rule === 'host_clocks' && evidence.data.some(([host]) => host === null)) return;
        const groups = GROUPS[rule] && (await groupsOf(page));
        for (const [figure, shown] of Object.entries((groups && GROUPS[rule](groups)) ?? {}))
            near(shown, figures[figure], `${rule} ${figure}`);
    },
    async report(page, { figures }) {
        if (figures.l_lines > 0)
            await page
                .getByText(figures.l_malformed === 0 ? 'malformed' : String(figures.l_malformed))
                .locator('visible=true')
                .first()
                .waitFor();
    },
    /** The longest gap is the first; the sentence begins it where an event that covers nothing ends. */
    async timeline(page, { rule, figures }) {
        const gap = page.locator('.tl-panel tbody tr').first();
        if (figures.g_time === 0) return;
        const shown = Number(await gap.locator('data').nth(1).getAttribute('value'));
        assert.ok(Math.abs(shown - figures.g_time) < 2e-6, `${rule}: ${shown} is shown, ${figures.g_time} is said`);
    },
};

/** Every evidence link of every finding of four traces shows what the sentence says. */
async function everyLinkShowsItsFigures(page, daemon) {
    let followed = 0;
    for (const name of ['unet3d-v100', 'unet3d-plain-dialect', 'two-hosts', 'edge']) {
        const trace = (await daemon.trace(name)) ?? (await daemon.ingest(given(name)));
        const { findings } = await daemon.get(`traces/${trace.id}/findings`);
        await page.goto(`${daemon.base}/?page=findings&trace=${trace.id}`);
        await page.locator('.finding').first().waitFor({ state: 'attached' });
        const links = await page
            .locator('.finding')
            .evaluateAll((all) =>
                all.map((one) =>
                    [...one.querySelectorAll('.finding-links a')].map((link) => link.getAttribute('href')),
                ),
            );
        for (const [at, finding] of findings.entries()) {
            for (const address of links[at]) {
                const place = new URLSearchParams(address),
                    to = place.get('page');
                if (finding.severity === 'na') continue;
                await page.goto(`${daemon.base}/${address}`);
                await page.locator('main .card:visible, main .empty:visible, main .notice:visible').first().waitFor();
                await ready(page);
                if (to === 'whatif') {
                    if ((await page.locator('.notice.bad').count()) === 0)
                        assert.match(
                            await page.locator('.card[aria-label="Result"] .answer').innerText(),
                            /^The training would take/,
                            finding.rule,
                        );
                    for (const [factor, value] of Object.entries(finding.what_if))
                        assert.equal(place.get(`if_${factor}`), value, finding.rule);
                } else {
                    assert.equal(await page.locator('.notice.bad').count(), 0, `${name}: ${address}`);
                    await SHOWN[to](
                        page,
                        finding,
                        async (filter) =>
                            (
                                await daemon.call('POST', `traces/${trace.id}/query`, {
                                    filter,
                                    filters: 'off',
                                    aggregate: { calls: 'count()' },
                                })
                            ).data[0][0],
                    );
                }
                followed++;
            }
        }
    }
    assert.ok(followed >= 80, `${followed} links followed`);
}

async function adviceIsSimulated(page, daemon) {
    const { findings } = await openFindings(page, daemon, { rule: 'synchronous_loading' });
    assert.deepEqual(findings.find(({ rule }) => rule === 'synchronous_loading').what_if, { workers: '4' });
    await page.locator('.finding[open]').getByRole('link', { name: 'Simulate it' }).click();
    await page.locator('.card[aria-label="Result"] .answer').waitFor();
    assert.equal(await page.getByLabel('Workers a rank').inputValue(), '4');
    await page.getByRole('table', { name: 'Baseline and scenario' }).locator('tbody tr').nth(1).waitFor();
}

/** More ranks than a page of rows: the sums are of all of them, and lists say how many they leave out. */
async function manyRanksAreSummedUp(page, daemon) {
    const trace = await daemon.generated(240000, ['--ranks', '300', '--workers', '1', '--epochs', '3']);
    const { findings } = await daemon.get(`traces/${trace.id}/findings?preset=dlio`),
        { attribution } = await daemon.call('POST', `traces/${trace.id}/overlap`, {
            preset: 'dlio',
            filters: 'off',
            attribution: { chain: 'stall', by: ['unit', 'step'], longest: 0 },
        });
    assert.ok(
        attribution.rows.row_count > 1000 && attribution.rows.next,
        `${attribution.rows.row_count} rows are a page`,
    );
    await page.goto(`${daemon.base}/?page=steps&trace=${trace.id}&preset=dlio`);
    await page.locator('.tile').first().waitFor();
    await ready(page);
    await SHOWN.steps(
        page,
        findings.find(({ rule }) => rule === 'worker_startup'),
    );
    await page.getByText('the first 20 of 300').waitFor();
    await page.goto(`${daemon.base}/?page=overview&trace=${trace.id}&preset=dlio&stragglers=rank`);
    await page.getByRole('region', { name: 'Stragglers', exact: true }).scrollIntoViewIfNeeded();
    await page.getByText('The slowest 5 of 300').waitFor();
}

/**
 * The report has its style where the daemon serves it, fits a narrow screen, and prints with the headings of its
 * tables.
 */
async function reportIsStyled(page, daemon) {
    const trace = await daemon.trace('unet3d-v100');
    for (const [width, colorScheme] of [
        [1280, 'light'],
        [390, 'dark'],
    ]) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await page.goto(`${daemon.base}/api/v1/traces/${trace.id}/report.html`);
        const { parts, bar, over, marks } = await page.evaluate(() => ({
            parts: [...document.querySelectorAll('.bar i')].map((part) => part.getBoundingClientRect().width),
            bar: document.querySelector('.bar').getBoundingClientRect().width,
            over: document.documentElement.scrollWidth - innerWidth,
            marks: [...document.querySelectorAll('.k')].map((mark) => getComputedStyle(mark).backgroundColor),
        }));
        assert.ok(Math.abs(parts.reduce((a, b) => a + b) / bar - 1) < 0.002, 'the bar is filled');
        assert.ok(over <= 0, `${over} pixels too wide at ${width}`);
        assert.equal(new Set(marks).size, parts.length, 'a colour for each cause');
    }
    await page.emulateMedia({ media: 'print' });
    assert.ok(
        await page
            .locator('table:has(thead)')
            .evaluateAll(
                (all) =>
                    all.length > 5 &&
                    all.every((table) => getComputedStyle(table.tHead).display === 'table-header-group'),
            ),
    );
    assert.equal(
        await page
            .locator('.t')
            .first()
            .evaluate((box) => getComputedStyle(box).overflowX),
        'visible',
        'paper does not scroll',
    );
}

export const tests = [
    { name: "findings: sentences are the API's, by severity", body: sentencesAreTheApis },
    { name: "findings: evidence and advice are the API's", body: evidenceIsTheApis },
    { name: 'findings: a link leads to the events', body: linksLeadToTheEvents },
    { name: 'findings: Overview has the worst', body: overviewHasTheWorst },
    { name: 'findings: Overview has the causes of the stall', body: overviewHasTheCauses },
    {
        name: 'findings: every link shows the figures of its sentence',
        body: everyLinkShowsItsFigures,
        expected: /422/,
    }, // What if refuses traces without compute
    { name: 'findings: advice is simulated', body: adviceIsSimulated },
    { name: 'findings: steps and stragglers of more ranks than a page has rows', body: manyRanksAreSummedUp },
    { name: 'findings: the report is styled, narrow, dark and on paper', body: reportIsStyled },
];
