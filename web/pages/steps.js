/* steps.js - a training step by step: how long each took, what of it was compute, what the rest waited for, and which
 * rank was slowest. */

import { getOf, postOf, send } from '../api.js';
import { fill, h } from '../dom.js';
import { grouped, plural, text } from '../format.js';
import { latestRequest } from '../parts/latest_request.js';
import { bars } from '../parts/bars.js';
import { paletteOf, stallRequest } from '../parts/causes.js';
import { chartCard } from '../parts/chart_card.js';
import { layerTree, swatch } from '../parts/layers.js';
import { empty, failedFilter } from '../parts/notice.js';
import { unitName } from '../parts/overlap_request.js';
import { recordsOf, scrolling, table } from '../parts/table.js';
import { tiles } from '../parts/tile.js';
import { tracePage } from '../parts/trace_page.js';
import { go, here } from '../state.js';

export const title = 'Steps';

const MOST_BARS = 400,
    MOST_ROWS = 1000,
    PAGE = 10000,
    MOST_LAST = 20,
    COMPUTE = { name: 'compute', label: 'compute', color: 'var(--layer-12)', hatched: false };

/* The steps that were shown last, joined of all ranks' rows, of which there may be very many. */
let latest = /** @type {{key: string, steps: any}|null} */ (null);

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    return tracePage(host, place, stepsPicture, { without: ['granularity', 'semantics', 'filters'] });
}

function stepsPicture(trace, bar) {
    const top = h('div', { class: 'stack' }),
        rows = h('section', { class: 'card', 'aria-label': 'Steps' }),
        last = h('section', { class: 'card', 'aria-label': 'Last rank of each step' });
    const chart = chartCard({ name: 'steps', title: 'Time by step', kind: bars }),
        reading = latestRequest(top);
    const below = [chart.element, rows, last];
    const around = (shown) => {
        for (const box of below) box.hidden = !shown;
    };
    around(false);

    function update(place) {
        const request = stallRequest(place, trace);
        const anew = reading.send({
            request,
            what: 'Cutting the training into steps',
            path: `traces/${trace.id}/overlap`,
            height: 480,
            load: (signal) => ask(request, signal),
            show: (answer) => draw(answer, here(), request),
            fail: (problem) => {
                around(false);
                failedFilter(problem, bar, top);
            },
        });
        if (anew) bar.clear();
    }

    async function ask(request, signal) {
        const key = `${trace.answers} ${JSON.stringify(request)}`;
        if (latest?.key !== key) latest = { key, steps: await joined(request, signal) };
        return latest.steps;
    }

    /** Steps tile an epoch: their time in training, cut into compute and the causes of the stall, adds up. */
    async function joined(request, signal) {
        const preset = await getOf(trace, `presets/${request.preset}`, {}, signal),
            chain = preset.attribution.find(({ name }) => name === 'stall');
        if (!chain || !preset.phases?.step) return null;
        const sets = Object.fromEntries(
                [...chain.sets, ...chain.causes].map(({ name, condition }) => [name, condition]),
            ),
            causes = chain.causes.map(({ name }) => name);
        const path = `traces/${trace.id}/overlap`,
            { filters: _, ...common } = request;
        const [parts, utilisation, arrivals] = await Promise.all([
            allRows(
                (page) =>
                    send(
                        'POST',
                        path,
                        {
                            ...request,
                            sets,
                            attribution: {
                                target: 'training',
                                causes: ['compute', ...causes],
                                by: ['step', 'unit'],
                                longest: 0,
                            },
                            ...page,
                        },
                        signal,
                    ),
                ({ attribution }) => attribution.rows,
            ),
            getOf(trace, `traces/${trace.id}/utilisation`, common, signal),
            postOf(trace, `traces/${trace.id}/stragglers`, { ...common, by: 'rank', measure: 'arrival' }, signal),
        ]);
        const palette = paletteOf(chain, [...causes, 'untraced']),
            layer = layerTree(preset.layers ?? [], preset).find(({ name }) => name === preset.overlap_with);
        return {
            steps: stepsOf(parts, palette),
            palette,
            compute: { ...COMPUTE, ...(layer && { color: layer.color }) },
            utilisation,
            arrivals,
            excess: firstSteps(parts),
        };
    }

    function draw(answer, place, request) {
        around(answer !== null && answer.steps.length > 0);
        if (!answer || answer.steps.length === 0) {
            fill(
                top,
                empty(
                    'No steps',
                    h(
                        'p',
                        {},
                        answer
                            ? 'No step of the training lies here.'
                            : 'The preset of this trace knows no steps; choose one that does.',
                    ),
                ),
            );
            return;
        }
        const { utilisation, arrivals, excess, palette } = answer,
            epochs = [...new Set(answer.steps.map(({ epoch }) => epoch))];
        const epoch = epochs.find((one) => String(one) === place.epoch) ?? null,
            steps = answer.steps.filter((step) => epoch === null || step.epoch === epoch);
        const use = utilisation.epochs.find((one) => one.epoch === epoch) ?? utilisation,
            time = steps.reduce((sum, step) => sum + step.total, 0),
            input = steps.reduce((sum, step) => sum + step.input, 0);
        fill(
            top,
            tiles([
                {
                    label: 'Accelerator busy',
                    number: use.au,
                    unit: 'share',
                    note: `goal ${text(utilisation.goal, 'share')}`,
                    title: `Without the first ${plural(utilisation.warmup_steps, 'step')} of each epoch`,
                },
                { label: "By DLIO's formula", number: use.au_dlio, unit: 'share' },
                {
                    label: 'Steps',
                    number: steps.length,
                    note: epoch === null ? plural(epochs.length, 'epoch') : `epoch ${epoch}`,
                },
                {
                    label: 'Waiting for input',
                    number: input / time,
                    unit: 'share',
                    note: `${text(input, 's')} of all ranks`,
                    title: 'Of the time in steps',
                },
                {
                    label: 'First steps',
                    number: excess,
                    unit: 's',
                    note: 'beyond the later ones',
                    title: "Stall of each epoch's first step less the median of its other steps, summed over ranks and epochs",
                },
                {
                    label: 'Waiting for the last rank',
                    number: arrivals.wait,
                    unit: 's',
                    note: `${text(arrivals.share, 'share')} late`,
                },
            ]),
        );
        const shown = [answer.compute, ...palette].filter(({ name }) => steps.some((step) => step.parts[name] > 0)),
            first = steps.slice(0, MOST_BARS);
        chart.update({
            what: 'Cutting the training into steps',
            path: `traces/${trace.id}/overlap`,
            parameters: { ...request, attribution: 'stall', by: 'step' },
            besides: epoch,
            load: async () => answer,
            file: `${trace.name}-steps`,
            tools: h(
                'select',
                { id: 'steps-epoch', 'aria-label': 'Epoch', onchange: (event) => go({ epoch: event.target.value }) },
                h('option', { value: '', selected: epoch === null }, 'all epochs'),
                epochs.map((one) => h('option', { value: one, selected: one === epoch }, `epoch ${one}`)),
            ),
            above: h(
                'p',
                { class: 'chart-key' },
                shown.map((part) => [swatch(part), ` ${part.label}`]),
            ),
            note: `summed over ranks${steps.length > first.length ? `; the first ${MOST_BARS} steps` : ''}`,
            draw: () => ({
                names: first.map(({ epoch: one, step }) => `${one}.${step}`),
                stacked: true,
                unit: 's',
                head: 'Epoch.step',
                label: 'Time of each step: compute and what the rest waited for',
                series: shown.map((part) => ({
                    name: part.label,
                    color: part.color,
                    hatched: part.hatched,
                    values: first.map((step) => step.parts[part.name]),
                })),
            }),
        });
        drawRows(steps, palette);
        drawLast(arrivals);
    }

    function drawRows(steps, palette) {
        const hosts = new Set(steps.map(({ slowest }) => slowest.host_name)).size,
            labels = new Map(palette.map(({ name, label }) => [name, label]));
        fill(
            rows,
            h(
                'header',
                { class: 'card-head' },
                h('h2', {}, 'Steps'),
                h(
                    'small',
                    {},
                    steps.length > MOST_ROWS
                        ? `the first ${grouped(MOST_ROWS)} of ${grouped(steps.length)}`
                        : plural(steps.length, 'step'),
                ),
            ),
            scrolling(
                'Table of steps',
                table({
                    caption: 'Steps',
                    rows: steps.slice(0, MOST_ROWS),
                    columns: [
                        { key: 'epoch', label: 'Epoch', class: 'head' },
                        { key: 'step', label: 'Step', class: 'number' },
                        { key: 'longest', label: 'Step time', unit: 's', title: 'Of the rank that took longest' },
                        {
                            key: 'compute',
                            label: 'Compute',
                            unit: 's',
                            title: 'Summed over ranks',
                            get: (row) => row.parts.compute,
                        },
                        { key: 'stall', label: 'Stall', unit: 's', title: 'Summed over ranks' },
                        { key: 'input', label: 'Waiting for input', unit: 's', title: 'Summed over ranks' },
                        { key: 'share', label: 'Input share', unit: 'share', get: (row) => row.input / row.total },
                        { key: 'top', label: 'Mostly', cell: (row) => labels.get(row.top) ?? '' },
                        { key: 'slowest', label: 'Slowest rank', cell: ({ slowest }) => unitName(slowest, hosts) },
                    ],
                }),
                'tall',
            ),
        );
    }

    function drawLast({ rows: ranks }) {
        last.hidden = ranks.data.length === 0;
        fill(
            last,
            h(
                'header',
                { class: 'card-head' },
                h('h2', {}, 'Who ends last'),
                h(
                    'small',
                    {},
                    `how often a rank was the last to end a step, and how late after the median${ranks.row_count > MOST_LAST ? `; the first ${MOST_LAST} of ${plural(ranks.row_count, 'rank')}` : ''}`,
                ),
            ),
            scrolling(
                'Ranks by lateness',
                table({
                    caption: 'Ranks that end last',
                    rows: recordsOf(ranks).slice(0, MOST_LAST),
                    columns: [
                        { key: 'rank', label: 'Rank', class: 'head', cell: (row) => unitName(row, 2) },
                        { key: 'slowest', label: 'Last', unit: 'count' },
                        { key: 'steps', label: 'Of steps', unit: 'count' },
                        { key: 'late', label: 'Late', unit: 's' },
                    ],
                }),
            ),
        );
    }

    return {
        boxes: [top, ...below],
        update,
        close() {
            reading.close();
            chart.close();
        },
    };
}

/** Sums need the rows of all ranks, which may be more than a page of the response. */
async function allRows(load, rowsOf) {
    const all = [];
    let next;
    do {
        const rows = rowsOf(await load({ limit: PAGE, cursor: next }));
        for (const row of recordsOf(rows)) all.push(row);
        next = rows.next ?? undefined;
    } while (next !== undefined);
    return all;
}

const MICRO = 1e6;

/** The rows of all ranks, joined by step: sums in whole microseconds, so that they add up. */
function stepsOf(records, palette) {
    const found = new Map(),
        names = ['compute', ...palette.map(({ name }) => name)];
    for (const row of records) {
        if (row.epoch === null || row.step === null) continue;
        const key = `${row.epoch} ${row.step}`;
        if (!found.has(key))
            found.set(key, {
                epoch: row.epoch,
                step: row.step,
                total: 0,
                longest: -1,
                slowest: row,
                parts: Object.fromEntries(names.map((name) => [name, 0])),
            });
        const step = found.get(key);
        step.total += Math.round(row.target * MICRO);
        for (const name of names) step.parts[name] += Math.round((row[name] ?? 0) * MICRO);
        if (row.target > step.longest) {
            step.longest = row.target;
            step.slowest = row;
        }
    }
    const inputs = palette.filter(({ input }) => input).map(({ name }) => name);
    return [...found.values()]
        .sort((a, b) => a.epoch - b.epoch || a.step - b.step)
        .map(({ parts, total, ...step }) => {
            const top = palette.reduce((best, { name }) => (parts[name] > (parts[best] ?? 0) ? name : best), '');
            return {
                ...step,
                total: total / MICRO,
                stall: (total - parts.compute) / MICRO,
                input: inputs.reduce((sum, name) => sum + parts[name], 0) / MICRO,
                top,
                parts: Object.fromEntries(names.map((name) => [name, parts[name] / MICRO])),
            };
        });
}

/** What the first steps of ranks and epochs stall longer than the median of the later ones. */
function firstSteps(records) {
    const groups = Map.groupBy(
        records.filter(({ step }) => step !== null),
        ({ host_name: host, pid, epoch }) => `${host} ${pid} ${epoch}`,
    );
    let sum = 0;
    for (const rows of groups.values()) {
        const stalls = rows
                .sort((a, b) => a.step - b.step)
                .map(({ target, compute }) => Math.round((target - compute) * MICRO)),
            later = stalls.slice(1).sort((a, b) => a - b),
            middle = later.length >> 1;
        if (stalls.length >= 3)
            sum += Math.max(
                0,
                stalls[0] - (later.length % 2 ? later[middle] : Math.floor((later[middle - 1] + later[middle]) / 2)),
            );
    }
    return sum / MICRO;
}
