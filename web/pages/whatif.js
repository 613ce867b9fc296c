/* whatif.js - what another number of workers, faster storage or a faster accelerator would gain: the proof first, then
 * the scenario. */

import { getOf } from '../api.js';
import { fill, h, refill } from '../dom.js';
import { grouped, plural, text } from '../format.js';
import { latestRequest } from '../parts/latest_request.js';
import { bars } from '../parts/bars.js';
import { chartCard } from '../parts/chart_card.js';
import { curves } from '../parts/curves.js';
import { swatch } from '../parts/layers.js';
import { recordsOf, table } from '../parts/table.js';
import { tiles } from '../parts/tile.js';
import { tracePage } from '../parts/trace_page.js';
import { epochLanes } from '../parts/whatif_lanes.js';
import { scenarioBar, scenarioOf } from '../parts/whatif_scenario.js';
import { here } from '../state.js';

export const title = 'What if';

const WORKERS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
const STORAGE = [
    [1, 'storage as traced', '1'],
    [0.5, 'storage twice as fast', '3'],
    [0, 'storage without any time', '5'],
];
const RUNS = [
    ['baseline', '1'],
    ['scenario', '5'],
];
const NAME = 'scenario';

/** What the colours of a chart mean. */
function key(items) {
    return h(
        'p',
        { class: 'chart-key' },
        items.map(([name, layer]) => [swatch({ name, color: `var(--layer-${layer})` }), ` ${name}`]),
    );
}

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    return tracePage(
        host,
        place,
        (trace) => (trace.kind === 'dataload' ? alignPicture(trace) : whatifPicture(trace)),
        { bar: false, ofNone: ({ kind }) => kind === 'dataload' },
    );
}

function whatifPicture(trace) {
    const proof = h('div', { class: 'stack' }),
        controls = h('section', { class: 'card', 'aria-label': 'Scenario' }),
        result = h('div', { class: 'stack' });
    const path = `traces/${trace.id}/whatif`;
    const sweep = chartCard({ name: 'sweep', title: 'Train time by workers', kind: curves }),
        stalls = chartCard({ name: 'stalls', title: 'Stall by rank', kind: bars });
    const lanes = epochLanes(trace),
        align = alignCard(trace);
    const cards = [controls, result, sweep.element, stalls.element, lanes.element, align.element];
    const checking = latestRequest(proof),
        simulating = latestRequest(result);
    const around = (shown) => {
        for (const card of cards) card.hidden = !shown;
    };
    let answer = null;
    around(false);

    /** The reproduction needs no scenario: it is asked once, and decides whether there is more to see. */
    function update(place) {
        checking.send({
            request: [trace.answers],
            what: 'Modelling the data loading',
            path,
            height: 160,
            load: (signal) => getOf(trace, path, { q: JSON.stringify({ detail: ['ranks'] }) }, signal),
            show: (checked) => {
                fill(proof, proofOf(checked));
                answer = checked;
                around(true);
                show(here());
            },
            fail: () => around(false),
        });
        if (answer) show(place);
    }

    function show(place) {
        const scenario = scenarioOf(place),
            { workers, storage, ...others } = scenario;
        refill(controls, scenarioBar(place, answer));
        const request = {
            scenarios: [{ name: NAME, ...scenario }],
            detail: ['ranks'],
            sweep: { workers: WORKERS, storage: STORAGE.map(([factor]) => factor), with: others },
        };
        const parameters = { q: JSON.stringify(request) };
        const load = (signal) => getOf(trace, path, parameters, signal);
        simulating.send({
            request: parameters,
            what: 'Simulating',
            path,
            height: 200,
            load,
            show: (simulated) => fill(result, resultOf(simulated)),
        });
        const view = { what: 'Simulating', path, parameters, load, file: `${trace.name}-whatif` };
        sweep.update({
            ...view,
            draw: sweepData,
            above: key(STORAGE.map(([, name, layer]) => [name, layer])),
            note: ({ knee }) => kneeWords(knee[0]),
            exported: { path, parameters: { ...parameters, table: 'sweep' } },
        });
        stalls.update({
            ...view,
            draw: stallData,
            above: key(RUNS),
            note: ({ ranks }) => {
                const count = recordsOf(ranks).filter((row) => row.scenario === 'baseline').length;
                return `time that ranks wait for batches: ${count > SHOWN_RANKS ? `the ${SHOWN_RANKS} of ${grouped(count)} that wait longest` : `all ${grouped(count)}`}`;
            },
            exported: { path, parameters: { ...parameters, table: 'ranks' } },
        });
        lanes.update(place, scenario, answer);
        align.update();
    }

    return {
        boxes: [proof, ...cards],
        update,
        close() {
            checking.close();
            simulating.close();
            sweep.close();
            stalls.close();
            lanes.close();
            align.close();
        },
    };
}

/* ---- the proof */

const LOADERS = {
    inline: 'each rank makes its own samples',
    round_robin: 'workers make whole batches in turn',
    pool: 'workers share batches',
};

/** The server's sentence, its times as everywhere. */
function kneeWords({ sentence, train_time: train, train_time_infinite: endless }) {
    return `${sentence.split(':')[0]}: ${text(train, 's')} instead of ${text(endless, 's')}`;
}

function proofOf({ model, check, notes }) {
    const verdict =
        check.reproduced === null
            ? ['warn', 'Not tested', 'every epoch has one step only, so nothing is predicted']
            : check.reproduced
              ? ['good', 'Reproduced', 'the simulation gives the run as it was']
              : ['bad', 'Not reproduced', 'do not rely on the scenarios'];
    return h(
        'section',
        { class: 'card', 'aria-label': 'Proof' },
        h(
            'header',
            { class: 'card-head' },
            h('h2', {}, 'The run as it was, simulated'),
            h(
                'span',
                { class: `badge ${verdict[0] === 'good' ? 'ready' : verdict[0] === 'bad' ? 'failed' : 'stale'}` },
                verdict[1],
            ),
            h('small', {}, verdict[2]),
        ),
        tiles([
            { label: 'Train time, traced', number: check.train_time_traced, unit: 's' },
            { label: 'Train time, simulated', number: check.train_time_modelled, unit: 's' },
            {
                label: 'Error of epochs',
                number: check.epoch_error_max,
                unit: 'share',
                note: 'largest',
                title: `mean ${text(check.epoch_error_mean, 'share')}`,
            },
            {
                label: 'Error of steps',
                number: check.step_error_median,
                unit: 'share',
                note: 'median',
                title: `nine of ten below ${text(check.step_error_p90, 'share')}`,
            },
            { label: 'Stall, traced', number: check.stall_traced, unit: 's' },
            { label: 'Stall, simulated', number: check.stall_modelled, unit: 's' },
        ]),
        h(
            'p',
            { class: 'hint' },
            `${plural(model.ranks, 'rank')}, ${plural(model.epochs, 'epoch')}, ${plural(model.steps, 'step')}; ${LOADERS[model.loader]}`,
            model.workers > 0 && `: ${plural(model.workers, 'worker')} a rank`,
            model.batch && `, batches of ${model.batch}`,
            model.prefetch && `, prefetch ${model.prefetch} (${model.prefetch_source})`,
            model.barrier && '; ranks leave each step together',
            '.',
        ),
        notes.length > 0 &&
            h(
                'ul',
                { class: 'notes' },
                notes.map((note) => h('li', {}, note)),
            ),
    );
}

/* ---- the scenario beside the baseline */

const FIGURES = [
    ['train_time', 'Train time', 's'],
    ['epoch_time', 'Epoch', 's'],
    ['step_time', 'Step', 's'],
    ['stall', 'Stall', 's'],
    ['barrier_wait', 'At the barrier', 's'],
    ['au', 'Accelerator busy', 'share'],
    ['speedup', 'Speedup', 'number'],
];

function resultOf({ scenarios, notes, check }) {
    const rows = recordsOf(scenarios),
        [baseline, scenario] = rows;
    const saved = 1 - scenario.train_time / baseline.train_time;
    const margin = scenario.train_time_margin;
    return h(
        'section',
        { class: 'card', 'aria-label': 'Result' },
        h('header', { class: 'card-head' }, h('h2', {}, 'Result')),
        h(
            'p',
            { class: 'answer' },
            'The training would take ',
            h('strong', {}, text(scenario.train_time, 's')),
            margin !== null && ` \u00b1 ${text(margin, 's')}`,
            ` instead of ${text(baseline.train_time, 's')}: `,
            h(
                'strong',
                {},
                Math.abs(saved) < 0.0005
                    ? 'no change'
                    : `${text(Math.abs(saved), 'share')} ${saved > 0 ? 'less' : 'more'}`,
            ),
            '.',
        ),
        h(
            'div',
            { class: 'scroll' },
            table({
                caption: 'Baseline and scenario',
                rows,
                columns: [
                    { key: 'name', label: 'Scenario', class: 'head' },
                    ...FIGURES.map(([key, label, unit]) => ({ key, label, unit })),
                    {
                        key: 'train_time_margin',
                        label: 'Margin',
                        unit: 's',
                        title: check.reproduced === null ? 'not tested' : 'the largest error of an epoch',
                    },
                ],
            }),
        ),
        notes.length > 0 &&
            h(
                'ul',
                { class: 'notes' },
                notes.map((note) => h('li', {}, note)),
            ),
    );
}

/** A curve for each storage, marked at its knee; its band is as wide as the margin. */
function sweepData({ sweep, knee }) {
    const rows = recordsOf(sweep);
    return {
        label: 'Train time by number of workers, for each storage',
        head: 'Workers',
        unit: 's',
        names: WORKERS.map(String),
        mark: 'more workers gain less than 1 %',
        series: STORAGE.map(([factor, name, layer]) => {
            const points = WORKERS.map((count) => rows.find((row) => row.workers === count && row.storage === factor));
            return {
                name,
                color: `var(--layer-${layer})`,
                values: points.map((row) => row?.train_time ?? null),
                margins: points.map((row) => row?.train_time_margin ?? null),
                marked: WORKERS.indexOf(knee.find((one) => one.storage === factor).workers),
            };
        }),
    };
}

const SHOWN_RANKS = 64;

function stallData({ ranks }) {
    const rows = recordsOf(ranks),
        of = (name) => rows.filter((row) => row.scenario === name);
    const baseline = of('baseline')
            .map((row, at) => ({ ...row, at }))
            .sort((a, b) => b.stall - a.stall)
            .slice(0, SHOWN_RANKS),
        scenario = of(NAME);
    return {
        label: 'Stall of each rank, baseline and scenario',
        head: 'Rank',
        unit: 's',
        names: baseline.map(({ host_name: host, pid }) => (host ? `${host} ${pid}` : String(pid))),
        series: [
            { name: 'baseline', color: 'var(--layer-1)', values: baseline.map(({ stall }) => stall) },
            {
                name: 'scenario',
                color: 'var(--layer-5)',
                values: baseline.map(({ at }) => scenario[at]?.stall ?? null),
            },
        ],
    };
}

/* ---- alignments */

const ALIGNED = [
    ['iteration_mean', 'Iteration'],
    ['stall_mean', 'Stall'],
    ['delay_mean', 'Delay between ranks'],
    ['start_diff_mean', 'Starts apart'],
    ['fetch_diff_mean', 'Fetches differ'],
];

function alignCard(trace) {
    const box = h('div', {}),
        path = `traces/${trace.id}/whatif/align`;
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Alignments' },
        h(
            'header',
            { class: 'card-head' },
            h('h2', {}, 'If fetches were aligned'),
            h('small', {}, 'means of iterations, each on its own'),
        ),
        box,
    );
    const aligning = latestRequest(box);
    const name = (value) => value ?? 'as traced';
    function update() {
        aligning.send({
            request: [trace.answers],
            what: 'Aligning fetches',
            path,
            height: 240,
            load: (signal) => getOf(trace, path, {}, signal),
            show: (answer) =>
                fill(
                    box,
                    h(
                        'div',
                        { class: 'scroll' },
                        table({
                            caption: 'Alignments of fetches',
                            rows: recordsOf(answer),
                            columns: [
                                {
                                    key: 'fetch_align',
                                    label: 'Duration',
                                    class: 'head',
                                    cell: (row) => name(row.fetch_align),
                                },
                                {
                                    key: 'start_align',
                                    label: 'Start',
                                    class: 'head',
                                    cell: (row) => name(row.start_align),
                                },
                                ...ALIGNED.map(([key, label]) => ({ key, label, unit: 's' })),
                                { key: 'speedup', label: 'Speedup', unit: 'number' },
                                { key: 'n', label: 'Iterations', unit: 'count' },
                            ],
                        }),
                    ),
                ),
        });
    }
    return { element, update, close: () => aligning.close() };
}

/** Of a training log there is nothing else to simulate. */
function alignPicture(trace) {
    const align = alignCard(trace);
    const why = h(
        'p',
        { class: 'notice' },
        'This trace is a training log. It says when batches were fetched and how long iterations took, not what workers did between fetches: so it answers about alignments alone.',
    );
    return { boxes: [why, align.element], update: () => align.update(), close: () => align.close() };
}
