/* compare.js - two or more runs beside each other: what changed, where, and for the worse or the better. */

import { get, getOf } from '../api.js';
import { fill, h, refill } from '../dom.js';
import { latestRequest } from '../parts/latest_request.js';
import { compareCalls } from '../parts/compare_calls.js';
import { compareLayers, layerColumns } from '../parts/compare_layers.js';
import { regressionsCard } from '../parts/compare_regressions.js';
import { isReady, runsBar, runsOf } from '../parts/compare_runs.js';
import { scaleOf } from '../parts/compare_scale.js';
import { compareSeries } from '../parts/compare_series.js';
import { compareTiles } from '../parts/compare_tiles.js';
import { exampleOf } from '../parts/completion.js';
import { field, filtersField, parametersOf } from '../parts/control_bar.js';
import { expressionBox } from '../parts/expression_box.js';
import { layerTree } from '../parts/layers.js';
import { empty, failedFilter, failure, waiting } from '../parts/notice.js';
import { clearRange, rangeControl, rangeKey } from '../parts/range_control.js';
import { notesCard } from '../parts/notes_card.js';
import { segmented } from '../parts/segmented.js';
import { niceGranularity } from '../parts/time.js';
import { go, link } from '../state.js';

export const title = 'Compare';

const SCALE_WORDS = {
    job: 'Sums of the whole jobs, whatever their size.',
    rank: 'Sums and aggregate bandwidth are divided by the number of ranks; wall times are left as they are.',
    step: 'Sums are divided by the steps of all ranks, wall times by the steps of one.',
    sample: 'Sums are divided by the samples of all ranks, wall times by those of one.',
};

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    const runsBox = h('div', {}),
        controls = h('div', { class: 'controls' }),
        top = h('div', { class: 'stack' });
    const series = compareSeries(),
        regressions = regressionsCard(),
        calls = compareCalls(),
        notes = notesCard();
    const filter = expressionBox({
        id: 'filter',
        label: 'Filter',
        key: '/',
        placeholder: 'Filter events',
        onApply: (words) => go({ filter: words }),
        trace: () => first,
    });
    const bar = h(
        'form',
        { class: 'control-bar', 'aria-label': 'What to compare', onsubmit: (event) => event.preventDefault() },
        controls,
        filter.element,
    );
    const cards = [series.element, calls.element, regressions.element, notes.element];
    const comparing = latestRequest(top);
    let now = place,
        traces = null,
        presets = [],
        first = null,
        closed = false;
    const around = (shown) => {
        for (const card of cards) card.hidden = !shown;
    };
    fill(host, h('header', { class: 'page-head' }, h('h1', {}, 'Compare')), runsBox, bar, top, cards);
    bar.hidden = true;
    around(false);
    start();

    async function start() {
        if (!traces) fill(top, waiting({ what: 'Reading the list of traces', height: 320 }));
        try {
            const [list, known] = await Promise.all([get('traces'), get('presets')]);
            if (closed) return;
            ({ traces } = list);
            ({ presets } = known);
            update(now);
        } catch (problem) {
            if (!closed) fill(top, failure(problem, start));
        }
    }

    function update(next) {
        now = next;
        if (!traces) return;
        const runs = runsOf(now, traces);
        refill(runsBox, runsBar(runs, traces), lostRuns(now, traces));
        bar.hidden = runs.length < 2;
        if (runs.length < 2) {
            comparing.close();
            around(false);
            fill(top, tooFew(runs, traces));
            return;
        }
        const preset = now.preset ?? runs[0].trace.preset?.name;
        first = { id: runs[0].id, answers: runs[0].trace.answers, seenWith: preset };
        exampleOf(first).then((words) => {
            filter.setPlaceholder(words);
        });
        drawControls(preset, Math.max(...runs.map(({ trace }) => trace.job_time)));
        const parameters = { ...parametersOf({ ...now, semantics: 'exact' }), preset };
        const anew = comparing.send({
            request: [parameters, runs.map(({ id, trace }) => [id, trace.answers])],
            what: `Summing up ${runs.length} runs`,
            height: 480,
            load: (signal) => ask(runs, parameters, signal),
            show: (answer) => draw(answer, runs, parameters),
            fail: (problem) => {
                around(false);
                failedFilter(problem, filter, top);
            },
        });
        if (anew) filter.clear();
    }

    function drawControls(preset, end) {
        refill(
            controls,
            field(
                'Preset',
                h(
                    'select',
                    { id: 'preset', onchange: (event) => go({ preset: event.target.value, layer: null }) },
                    presets.map(({ name }) => h('option', { value: name, selected: name === preset }, name)),
                ),
            ),
            filtersField(now),
            h('div', { class: 'field' }, h('span', {}, 'Time range'), rangeControl(now, end)),
        );
        filter.update(now.filter ?? '');
    }

    async function ask(runs, parameters, signal) {
        const all = { answers: runs.map(({ trace }) => trace.answers).join(' ') };
        const preset = await getOf(all, `presets/${parameters.preset}`, {}, signal);
        const [layers, ...answers] = await Promise.all([
            getOf(all, 'compare', comparedWith(runs, parameters, preset), signal),
            ...runs.map((run) => figuresOf(run, parameters, signal)),
        ]);
        return { layers, answers, preset, tree: layerTree(answers[0].summary.layers, preset) };
    }

    function draw({ layers, answers, tree, preset }, runs, parameters) {
        const counts = (name) =>
            answers.reduce(
                (sum, { summary }) => sum + (summary.layers.find((one) => one.name === name)?.count ?? 0),
                0,
            );
        const present = tree.filter(({ name }) => counts(name) > 0);
        const scale = scaleOf(answers, preset, now.per);
        const view = { runs, parameters, place: now, preset, scale };
        fill(
            top,
            h(
                'div',
                { class: 'layer-head' },
                segmented('Numbers', scale.offered, scale.per, (per) => go({ per })),
                h('span', { class: 'hint' }, SCALE_WORDS[scale.per]),
            ),
            compareTiles(runs, answers, scale),
            present.length > 0
                ? compareLayers({ ...view, answer: layers, tree, parameters: comparedWith(runs, parameters, preset) })
                : empty(
                      'No events here',
                      h('p', {}, 'In none of the runs an event of the preset\u2019s layers passes the filter.'),
                  ),
        );
        around(true);
        series.element.hidden = present.length === 0;
        const span = Number(now.to ?? Math.max(...runs.map(({ trace }) => trace.job_time))) - Number(now.from ?? 0);
        if (present.length > 0)
            series.update({
                ...view,
                layers: present,
                layer: present.find(({ name }) => name === now.layer) ?? mostChanged(present, layers),
                granularity: niceGranularity(span),
            });
        calls.update(view);
        regressions.update(view);
        notes.update(runs);
    }

    return {
        update,
        refresh: start,
        escape: clearRange,
        key: rangeKey,
        close() {
            closed = true;
            filter.close();
            comparing.close();
            series.close();
            calls.close();
            regressions.close();
        },
    };
}

function comparedWith(runs, parameters, preset) {
    return {
        traces: runs.map(({ id }) => id).join(','),
        baseline: runs[0].id,
        ...parameters,
        view: 'summary',
        columns: layerColumns(preset),
    };
}

async function figuresOf({ id, trace }, parameters, signal) {
    const [summary, io] = await Promise.all(
        [parameters, { ...parameters, preset: 'posix' }].map((asked) =>
            getOf(trace, `traces/${id}/summary`, asked, signal),
        ),
    );
    return { summary, io: io.layers[0] };
}

/** Runs that the address names and that cannot be compared. */
function lostRuns(place, traces) {
    const ids = (place.traces ?? '').split(',').filter(Boolean);
    const lost = ids.filter((id) => !traces.some((trace) => trace.id === id && isReady(trace)));
    const words = lost.map((id) => {
        const trace = traces.find((one) => one.id === id);
        return trace ? `${trace.name} is still being read` : `there is no trace ${id}, it may have been deleted`;
    });
    return lost.length > 0 && h('p', { class: 'notice warn', role: 'status' }, `Left out: ${words.join('; ')}.`);
}

function tooFew(runs, traces) {
    if (traces.length < 2)
        return empty(
            'Nothing to compare',
            h('p', {}, 'A comparison needs two traces.'),
            h('p', {}, h('a', { class: 'button primary', href: link({}, {}) }, 'All traces')),
        );
    return empty(
        runs.length === 0 ? 'Choose the runs to compare' : 'Choose another run',
        h(
            'p',
            {},
            'The first one is the baseline that the others are compared to. Runs can be ticked in the ',
            h('a', { href: link({}, {}) }, 'list of traces'),
            ' too.',
        ),
    );
}

/** Of the layers that hold no other, the one whose time changed most. */
function mostChanged(present, { columns, data }) {
    const leaves = new Set(
        present.filter(({ name }) => !present.some(({ parent }) => parent === name)).map(({ name }) => name),
    );
    const name = columns.indexOf('name'),
        delta = columns.indexOf('time_delta');
    const [row] = data
        .filter((one) => leaves.has(one[name]))
        .sort((a, b) => Math.abs(b[delta] ?? 0) - Math.abs(a[delta] ?? 0));
    return present.find((layer) => layer.name === row?.[name]) ?? present[0];
}
