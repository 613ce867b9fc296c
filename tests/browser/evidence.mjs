/* evidence.mjs - every link of every finding is followed, and the figures of the page that it opens are compared with
 * those that the sentence names. */

import assert from 'node:assert/strict';
import { given } from './daemon.mjs';
import { idle, parametersOf } from './harness.mjs';

const TRACES = ['unet3d-v100', 'unet3d-plain-dialect', 'two-hosts', 'edge'];

/* Figures that a sentence names beside those that its link is about, and that no page sums up. */
const BESIDE = {
    au: ['goal'],
    checkpoint_stall: ['k_save'],
    small_reads: ['q_mean'],
    small_writes: ['q_mean'],
    open_per_sample: ['q_files'],
    input_bound: ['s_top'],
    lost_lines: ['l_pieces', 'l_unread_note'],
};

const whole = (words) => Number(words.replaceAll(/\D/g, ''));
const valuesIn = (place) =>
    place.locator('data').evaluateAll((all) => all.map((one) => Number(one.getAttribute('value'))));

function same(shown, said) {
    return typeof said === 'number'
        ? Math.abs(shown - said) <= 1e-6 * Math.max(1e-3, Math.abs(said))
        : memberOf(said).endsWith(memberOf(shown));
}

/* A page writes a rank as host and process, and leaves out a host that all have; files are named without a folder. */
const memberOf = (words) => String(words).trim().replaceAll(':', ' ');

/* ---- what the pages show */

/** Causes by name, and what the sentence above them says. */
async function causesOf(page, { rule, figures }) {
    const card = page.locator('.card[aria-label="Where the time goes"]'),
        answer = card.locator('.answer');
    const times = await card
        .locator('tbody tr')
        .evaluateAll((rows) =>
            Object.fromEntries(
                rows.map((row) => [
                    row.querySelector('th .quiet')?.textContent.trim() ?? row.querySelector('th').textContent.trim(),
                    Number(row.querySelector('data').value),
                ]),
            ),
        );
    const said = await valuesIn(answer);
    if ('b_self' in figures) {
        const [, self, value] = said,
            path = /sits in (.*) itself\./.exec(await answer.innerText())[1];
        return { b_self: self, value, b_path: path, b_node: path.split(' > ').at(-1) };
    }
    const [target, base, input, share] = said,
        causes = Object.fromEntries(Object.entries(times).map(([name, time]) => [`s_${name}`, time])),
        { s_read: read, s_metadata: metadata, s_checkpoint: checkpoint, s_untraced: untraced } = causes;
    const value = {
        input_bound: share,
        storage_bound: (read + metadata) / input,
        decode_bound: (causes.s_reader + causes.s_data_loader) / input,
        loop_overhead: (target - input - checkpoint - untraced) / base,
        untraced_stall: untraced / base,
        checkpoint_stall: checkpoint / base,
    }[rule];
    return { ...causes, value, base, s_input: input, s_top_time: Math.max(...Object.values(times)) };
}

/** Sets of events by name: wall time, that of the busiest, and how many events. */
async function setsOf(page, { rule }) {
    const sets = await page
        .getByRole('table', { name: 'Sets of events' })
        .locator('tbody tr')
        .evaluateAll((rows) =>
            Object.fromEntries(
                rows.map((row) => [
                    row.querySelector('th .name').textContent,
                    Object.fromEntries(
                        [...row.cells].map((cell) => [
                            cell.dataset.label,
                            Number(cell.querySelector('data')?.value ?? 0),
                        ]),
                    ),
                ]),
            ),
        );
    const time = (name) => sets[name]['Wall time'];
    switch (rule) {
        case 'synchronous_loading': {
            const [inline] = await valuesIn(page.locator('.card', { hasText: 'By rank' }).locator('.chart-note'));
            return { t_inline: inline, value: inline / time('loading') };
        }
        case 'comm_bound':
            return { n_comm: time('comm') };
        case 'metadata_time': {
            const most = Object.entries(sets.metadata).find(([label]) => label.startsWith('Busiest'))[1];
            return { m_max: most, ...(most <= 30 && { m_over: 0, value: 0 }) };
        }
        case 'metadata_share':
            return {
                n_metadata: time('metadata'),
                n_all: time('file_calls'),
                value: time('metadata') / time('file_calls'),
            };
        default:
            return {
                x_outside: time('in_no_layer'),
                x_events: sets.in_no_layer.Events,
                value: time('in_no_layer') / time('file_calls'),
            };
    }
}

async function stepsOf(page, { rule, figures }) {
    const tile = async (label) =>
        Number(
            await page
                .locator('.tile', { has: page.locator('dt', { hasText: new RegExp(`^${label}$`) }) })
                .locator('data')
                .getAttribute('value'),
        );
    if (rule === 'worker_startup') return { f_excess: await tile('First steps') };
    if (rule === 'slowest_rank') {
        const first = page.locator('section[aria-label="Last rank of each step"] tbody tr').first(),
            [slowest, steps] = await valuesIn(first);
        return {
            r_rank: await first.locator('th').innerText(),
            r_slowest: slowest,
            r_steps: steps,
            r_wait: await tile('Waiting for the last rank'),
        };
    }
    const shown = { u_au: await tile('Accelerator busy'), u_dlio: await tile("By DLIO's formula") };
    await page.getByLabel('Epoch', { exact: true }).selectOption(String(figures.u_worst_epoch));
    await page.waitForFunction(() => new URLSearchParams(location.search).get('epoch'));
    return {
        ...shown,
        value: shown.u_au,
        u_worst: await tile('Accelerator busy'),
        u_worst_epoch: figures.u_worst_epoch,
    };
}

/** Reads and writes, by the member of the answer that the row shows. */
async function accessOf(page, { rule, link }) {
    const card = page.getByRole('region', { name: 'File access' });
    await card.scrollIntoViewIfNeeded();
    await card.locator('tbody tr').first().waitFor();
    const rows = await card
        .locator('tbody tr')
        .evaluateAll((all) =>
            Object.fromEntries(
                all.map((row) => [
                    row.dataset.fact,
                    [...row.querySelectorAll('td')].map((cell) => Number(cell.querySelector('data')?.value ?? 0)),
                ]),
            ),
        );
    const at = link.access === 'write' || rule === 'uneven_writes' ? 1 : 0,
        fact = (name, side = at) => rows[name]?.[side] ?? 0,
        both = (name) => fact(name, 0) + fact(name, 1),
        most = (name) => Math.max(fact(name, 0), fact(name, 1));
    if (rule === 'cold_cache') {
        const [first, later] = [fact('first_epoch_bw'), fact('later_epochs_bw')];
        return { c_first: first, c_later: later, value: later / first };
    }
    if (rule === 'shared_size' || rule === 'shared_time') {
        const by = rule.slice(7);
        return {
            files: both('shared_files'),
            value: both(`shared_uneven_${by}`),
            worst: most(`shared_worst_${by}`),
        };
    }
    if (rule.startsWith('uneven')) {
        const files = fact('shared_files'),
            uneven = fact('shared_uneven');
        return {
            r_files: files,
            w_files: files,
            r_uneven: uneven,
            w_uneven: uneven,
            value: uneven,
            worst: fact('shared_worst'),
        };
    }
    if (rule.startsWith('small_shared'))
        return {
            h_files: fact('shared_files'),
            h_ops: fact('shared_ops'),
            h_small: fact('shared_small'),
            value: fact('shared_small') / fact('shared_ops'),
        };
    const names = [
        'known',
        'unknown',
        'consecutive',
        'sequential',
        'random',
        'first',
        'known_bytes',
        'distinct_bytes',
    ];
    return {
        ...Object.fromEntries(names.map((name) => [`a_${name}`, fact(name)])),
        value: rule.startsWith('random')
            ? fact('random') / fact('known')
            : fact('known_bytes') / fact('distinct_bytes'),
    };
}

async function stragglersOf(page) {
    const card = page.getByRole('region', { name: 'Stragglers', exact: true });
    await card.scrollIntoViewIfNeeded();
    const first = card.locator('tbody tr').first(),
        words = card.locator('.median');
    await words.waitFor();
    const [slow, members] = /^(None|[\d\u202f]+) of ([\d\u202f]+)/.exec(await words.innerText()).slice(1);
    const name = first.locator('th'),
        [value, , z, epochs] = await valuesIn(first);
    const count = slow === 'None' ? 0 : whole(slow);
    return {
        z_slow: count,
        value: count,
        z_members: whole(members),
        z_median: (await valuesIn(words))[0],
        z_worst: await name.innerText(),
        z_value: value,
        z_z: z,
        z_epochs: epochs,
    };
}

/** The rows of a query's groups, by the words of their columns; sums of all groups beside them. */
async function groupsOf(page) {
    const card = page.getByRole('region', { name: 'Result' });
    await card.locator('tbody tr, .empty').first().waitFor();
    const totals = await card
        .locator('header small')
        .evaluate((note) => [
            note.textContent,
            ...[...note.querySelectorAll('data')].map((data) => [
                /(\w+) $/.exec(data.previousSibling?.textContent ?? '')?.[1],
                Number(data.value),
            ]),
        ]);
    const rows = await card
        .locator('table')
        .first()
        .evaluateAll(([shown]) => {
            if (!shown) return [];
            const names = [...shown.tHead.rows[0].cells].map((cell) => cell.textContent.replace(/[↓↑]/, ''));
            return [...shown.tBodies[0].rows].map((row) =>
                Object.fromEntries(
                    [...row.cells].map((cell, at) => {
                        const number = Number(cell.querySelector('data')?.value ?? NaN);
                        return [names[at], Number.isNaN(number) ? cell.textContent : number];
                    }),
                ),
            );
        });
    return { rows, total: Object.fromEntries(totals.slice(1)) };
}

async function queryOf(page, { rule, link }) {
    if (link.ask === 'events') {
        const card = page.getByRole('region', { name: 'Events', exact: true });
        await card.locator('tbody tr, .empty').first().waitFor();
        const shown = (await card.locator('.empty').count()) > 0 ? 0 : await card.locator('tbody tr').count();
        return { j_jumps: shown, value: shown };
    }
    const { rows, total } = await groupsOf(page),
        ofKind = (column, kind) =>
            rows
                .filter((row) => Number(row['Kind of I/O']) === kind)
                .reduce((sum, row) => sum + (row[column] || 0), 0);
    const share = (a, b) => Math.abs(a - b) / (a + b);
    switch (rule) {
        case 'ops_mix': {
            const [reads, writes] = [ofKind('calls', 1), ofKind('calls', 2)];
            return { q_reads: reads, q_writes: writes, value: share(reads, writes) };
        }
        case 'size_mix': {
            const [read, written] = [ofKind('bytes', 1), ofKind('bytes', 2)];
            return { q_read: read, q_written: written, value: share(read, written) };
        }
        case 'stdio': {
            const stdio = rows
                .filter((row) => /stdio/i.test(row.Category))
                .reduce((sum, row) => sum + (row.bytes || 0), 0);
            return { q_stdio: stdio, value: stdio / total.bytes };
        }
        case 'small_reads':
        case 'small_writes':
            return { q_small: total.small, q_ops: total.calls, value: total.small / total.calls };
        case 'bandwidth':
            return { q_half: rows[0].half, q_best: rows[0].best, value: rows[0].best / rows[0].half };
        case 'open_per_sample':
            return { q_opens: total.opens, q_samples: total.samples, value: total.opens / total.samples };
        case 'repeated_events':
            return { d_repeated: total.repeated ?? 0, d_copies: rows[0]?.copies ?? 1 };
        case 'unresolved':
            return { l_unresolved: total.calls ?? 0, value: total.calls ?? 0 };
        default: {
            const first = rows.map((row) => row.first),
                last = rows.map((row) => row.last),
                job = Math.max(...last) - Math.min(...first);
            return {
                c_spread: Math.max(...first) - Math.min(...first),
                value: 1 - Math.max(0, Math.min(...last) - Math.max(...first)) / job,
            };
        }
    }
}

async function reportOf(page) {
    const answer = await page.locator('.answer').first().innerText(),
        numbers = answer.match(/\d[\d\u202f]*/g).map(whole);
    const unclassified = page.getByRole('table', { name: 'Functions without a class' }).locator('tbody tr');
    const functions =
        (await unclassified.count()) === 0
            ? []
            : await unclassified.evaluateAll((rows) => rows.map((row) => Number(row.querySelector('data').value)));
    const states = await page.locator('td', { hasText: /^truncated/ }).count();
    return {
        l_lines: /objects/.test(answer) ? numbers[1] : numbers[0],
        l_malformed: /could not/.test(answer) ? numbers.at(-1) : 0,
        l_truncated: states,
        l_functions: functions.length,
        l_unclassified: functions.reduce((sum, count) => sum + count, 0),
    };
}

/** The longest gap is the first; the sentence begins it where an event that covers nothing ends. */
async function timelineOf(page, { figures }) {
    const rows = page.locator('.tl-panel tbody tr');
    if (figures.g_time === 0) return { g_time: 0, value: 0 };
    const [, time] = await valuesIn(rows.first());
    return { g_time: Math.abs(time - figures.g_time) < 2e-6 ? figures.g_time : time };
}

function shownBy({ page: to, own, access }) {
    if (to === 'overlap') return own === undefined ? causesOf : setsOf;
    if (to === 'overview') return access ? accessOf : stragglersOf;
    return { steps: stepsOf, query: queryOf, report: reportOf, timeline: timelineOf }[to];
}

/* ---- all of them */

async function compare(page, finding, name) {
    const { rule, figures, link, value, text } = finding,
        shown = await shownBy(link)(page, finding),
        said = { ...figures, ...('value' in shown && { value }) };
    let compared = 0;
    for (const [figure, wanted] of Object.entries(said)) {
        if (BESIDE[rule]?.includes(figure)) continue;
        assert.ok(
            same(shown[figure], wanted),
            `${name}, ${rule} ${figure}: ${shown[figure]} is shown, ${wanted} is said: ${text}`,
        );
        compared++;
    }
    return compared;
}

async function simulated(page, place, { rule, what_if: scenario }) {
    if ((await page.locator('.notice.bad').count()) === 0)
        assert.match(
            await page.locator('.card[aria-label="Result"] .answer').innerText(),
            /^The training would take/,
            rule,
        );
    for (const [factor, value] of Object.entries(scenario)) assert.equal(place.get(`if_${factor}`), value, rule);
}

/** Links as the page Findings has them, finding by finding. */
function linksOf(page) {
    return page
        .locator('.finding')
        .evaluateAll((all) =>
            all.map((one) => [...one.querySelectorAll('.finding-links a')].map((link) => link.getAttribute('href'))),
        );
}

async function everyLinkShowsItsFigures(page, daemon) {
    let compared = 0;
    const rules = new Set();
    for (const name of TRACES) {
        const trace = (await daemon.trace(name)) ?? (await daemon.ingest(given(name)));
        const { findings } = await daemon.get(`traces/${trace.id}/findings`);
        await page.goto(`${daemon.base}/?page=findings&trace=${trace.id}`);
        await page.locator('.finding').first().waitFor({ state: 'attached' });
        const links = await linksOf(page);
        for (const [at, finding] of findings.entries()) {
            if (finding.severity === 'na') continue;
            assert.ok(links[at].length > 0, `${name}, ${finding.rule}: no link`);
            for (const address of links[at]) {
                const place = new URLSearchParams(address);
                await page.goto(`${daemon.base}/${address}`);
                await page.locator('main .card:visible, main .empty:visible, main .notice:visible').first().waitFor();
                await idle(page);
                if (place.get('page') === 'whatif') {
                    await simulated(page, place, finding);
                    continue;
                }
                assert.equal(await page.locator('.notice.bad').count(), 0, `${name}: ${address}`);
                assert.equal((await parametersOf(page)).filter ?? null, finding.link.filter ?? null, finding.rule);
                compared += await compare(page, finding, name);
                rules.add(finding.rule);
            }
        }
    }
    /* What no trace of these has: communication. */
    assert.equal(rules.size, 43, 'rules whose link was followed');
    assert.ok(compared > 250, `${compared} figures compared`);
}

/** The excess of first steps, of which a page of rows holds only some ranks. */
export async function comparedOnSteps(page, findings, rule) {
    await idle(page);
    return compare(
        page,
        findings.find((one) => one.rule === rule),
        'steps',
    );
}

export const tests = [
    {
        name: 'findings: every link shows the figures of its sentence',
        body: everyLinkShowsItsFigures,
        expected: /422/, // What if refuses traces without compute
    },
];
