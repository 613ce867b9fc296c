/* overview.js - one trace: where the time of the job went. */

import { getOf } from '../api.js';
import { fill, h } from '../dom.js';
import { grouped, moment, plural, text } from '../format.js';
import { latestRequest } from '../parts/latest_request.js';
import { accessCard } from '../parts/access_card.js';
import { hotCard } from '../parts/hot_card.js';
import { isCompatible, parametersOf } from '../parts/control_bar.js';
import { copyMenu } from '../parts/copy.js';
import { findingsCard } from '../parts/findings_card.js';
import { layerTable } from '../parts/layer_tree.js';
import { isPresent, layerTree } from '../parts/layers.js';
import { ledgerLine } from '../parts/ledger.js';
import { empty, failedFilter, failure } from '../parts/notice.js';
import { pinCards } from '../parts/pins.js';
import { seriesCard } from '../parts/series.js';
import { stallCard } from '../parts/stall_card.js';
import { stepsCard } from '../parts/steps_card.js';
import { stragglersCard } from '../parts/stragglers_card.js';
import { recordsOf, scrolling } from '../parts/table.js';
import { tiles } from '../parts/tile.js';
import { tracePage } from '../parts/trace_page.js';
import { whereCard } from '../parts/where_time.js';
import { go } from '../state.js';

export const title = 'Overview';

/* Whether figures have been seen since the page was loaded: the first are painted before what takes more scripts. */
let seen = false;

/** Waits until what was drawn is seen; of a window in the background nothing is. */
function painted() {
    return new Promise((resolve) => {
        requestAnimationFrame(() => setTimeout(resolve));
        setTimeout(resolve, 200);
    });
}

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    return tracePage(host, place, summaryPicture, { renews: true });
}

/** Everything that the summary feeds: tiles, where the time went, the layer table, and the series of those layers. */
function summaryPicture(trace, bar) {
    const figures = h('div', { class: 'tiles-box' }),
        layers = h('div', {}),
        ledger = h('div', { class: 'ledger' });
    const series = seriesCard(),
        where = whereCard(),
        stall = stallCard(),
        findings = findingsCard(),
        stragglers = stragglersCard(),
        access = accessCard(),
        hot = hotCard(),
        steps = stepsCard(),
        pins = pinCards(trace);
    const whole = h('div', { class: 'stack' });
    const boxes = [
        where.element,
        stall.element,
        figures,
        findings.element,
        h('div', { class: 'beside' }, layers, series.element),
        h('div', { class: 'pair' }, hot.element, steps.element),
        stragglers.element,
        access.element,
        pins.element,
        ledger,
    ];
    const summing = latestRequest(whole);
    let known = /** @type {any} */ (null); /* what the cards beside the summary are drawn with, once it is here */
    let named = false,
        updates = 0;
    showLedger();

    async function showLedger() {
        try {
            fill(ledger, ledgerLine((await getOf(trace, `traces/${trace.id}/report`)).totals, trace));
        } catch (problem) {
            fill(ledger, failure(problem, showLedger));
        }
    }

    function update(place, granularity) {
        const parameters = parametersOf(place);
        updates++;
        const anew = summing.send({
            request: parameters,
            what: `Summing up ${grouped(trace.events)} events by layer`,
            path: `traces/${trace.id}/summary`,
            height: 480,
            load: (signal) => ask(parameters, place, signal),
            show: (answer) => draw(answer, place, parameters, granularity),
            fail: (problem) => failedFilter(problem, bar, whole),
        });
        if (anew) bar.clear();
        if (anew && known?.about === aboutOf(place)) showBeside(place, parameters, granularity);
    }

    /** A link that names one of the cards below leads there, once. */
    function showNamed(place) {
        const card = place.access ? access : place.stragglers ? stragglers : null;
        if (card && !named) lead(card.element);
        named = true;
    }

    /** Cards above grow as their responses come: it stays in sight until the user acts. */
    function lead(element) {
        const watch = new ResizeObserver(() => element.scrollIntoView({ block: 'center' }));
        watch.observe(whole);
        for (const act of ['wheel', 'touchmove', 'keydown', 'pointerdown'])
            addEventListener(act, () => watch.disconnect(), { once: true, passive: true });
    }

    /** Cards with requests of their own: they need not wait for the summary where only the range has changed. */
    function showBeside(place, parameters, granularity) {
        const compatible = isCompatible(place),
            ofEvents = !compatible && trace.kind === 'events';
        series.update({ trace, parameters, place, granularity, ...known });
        findings.update({ trace, place });
        pins.update(place);
        for (const card of [hot, stragglers, access]) card.element.hidden = !ofEvents;
        if (ofEvents) {
            hot.update({ trace, place });
            steps.update({ trace, place });
            stragglers.update({ trace, place, preset: known.preset });
            access.update({ trace, place });
        } else {
            steps.element.hidden = true;
        }
    }

    async function ask(parameters, place, signal) {
        const path = `traces/${trace.id}/summary`,
            few = ofRange(place),
            whole = { ...parameters, from: undefined, to: undefined };
        const [summary, io, preset, part, tasks, job] = await Promise.all([
            getOf(trace, path, { ...parameters, metrics: few ? SHOWN : undefined }, signal),
            isCompatible(place) || trace.kind === 'dasf'
                ? null
                : getOf(
                      trace,
                      path,
                      { ...parameters, preset: 'posix', metrics: few ? SHOWN_OF_CALLS : undefined },
                      signal,
                  ),
            getOf(trace, `presets/${place.preset ?? trace.preset.name}`, {}, signal),
            isPart(place) ? countsOf(trace, parameters, signal) : null,
            trace.kind === 'dasf' ? tasksOf(trace, place, signal) : null,
            few ? getOf(trace, path, whole, signal) : null,
        ]);
        return { summary, io: io?.layers[0], preset, part, tasks, job: job ?? summary };
    }

    async function draw(answer, place, parameters, granularity) {
        const { summary, preset, job } = answer;
        const tree = layerTree(summary.layers, preset);
        const present = new Set(summary.layers.filter(isPresent).map((layer) => layer.name));
        const computing = job.layers.find(({ name }) => name === preset.overlap_with);
        const turn = updates;
        if (where.element.parentElement !== whole) fill(whole, boxes);
        known = { about: aboutOf(place), preset, tree, present, ranks: computing?.processes || undefined };
        drawFigures(answer, place, parameters, tree);
        if (!seen) await painted();
        seen = true;
        if (turn !== updates) return;
        showBeside(place, parameters, granularity);
        showNamed(place);
    }

    function drawFigures({ summary, io, preset, part, tasks }, place, parameters, tree) {
        const compatible = isCompatible(place),
            span = Math.min(place.to ?? Infinity, summary.job_time) - (place.from ?? 0);
        const chosen = new Set(place.layers?.split(',') ?? []);
        const onLayer = (name) => go({ layers: place.layers === name ? null : name });
        const exports = copyMenu(`traces/${trace.id}/summary`, parameters, `${trace.name}-summary`);
        const none = !summary.layers.some(isPresent) && isPart(place);
        fill(
            figures,
            tiles(
                compatible
                    ? compatibleFigures(summary)
                    : tasks
                      ? taskFigures(trace, summary, tasks, span)
                      : figuresOf(trace, { ...summary, ...part }, io, span),
            ),
        );
        series.element.hidden = none;
        where.element.hidden = compatible;
        if (!compatible) where.update({ trace, place, rows: summary.layers, tree, preset, span });
        if (compatible || trace.kind !== 'events') stall.element.hidden = true;
        else stall.update({ trace, place, preset });
        fill(
            layers,
            none
                ? nothingPasses(place)
                : h(
                      'section',
                      { class: 'card', 'aria-label': 'Layers' },
                      h(
                          'header',
                          { class: 'card-head' },
                          h('h2', {}, 'Layers'),
                          h('small', {}, leftOut(summary)),
                          h('div', { class: 'card-tools' }, exports),
                      ),
                      scrolling(
                          'Layer table',
                          layerTable(summary.layers, tree, chosen, onLayer, {
                              compatible,
                              jobTime: summary.job_time,
                              span,
                          }),
                      ),
                  ),
        );
    }

    return {
        boxes: [whole],
        update,
        close() {
            updates++;
            summing.close();
            series.close();
            where.close();
            stall.close();
            findings.close();
            stragglers.close();
            access.close();
            hot.close();
            steps.close();
            pins.close();
        },
    };
}

/* What is shown of a range: columns that add up over time, so that the server need not look at events. */
const SHOWN = [
    'count',
    'time',
    'size',
    'bw',
    'busy',
    'bw_busy',
    'busy_process_sum',
    'busy_group_sum',
    'exposed_group_sum',
    'hidden_share',
    'self_group_sum',
].join();
const SHOWN_OF_CALLS = 'busy,read_size,read_bw,write_size,write_bw';

/** All of a request but its range of time. */
function aboutOf(place) {
    return JSON.stringify({ ...parametersOf(place), from: null, to: null });
}

/** Whether figures are of a range of time and of nothing else. */
function ofRange(place) {
    const { filter, filters, from, to } = place;
    return Boolean((from || to) && !filter && filters !== 'off' && !isCompatible(place));
}

/** Whether figures are of a part of the trace, chosen by time or by a filter. */
function isPart({ from, to, filter }) {
    return Boolean(from || to || filter);
}

/** How many events, processes, .. a part of the trace has: the summary says so of the whole. */
async function countsOf(trace, { from, to, filter }, signal) {
    const ask = (q) =>
        getOf(
            trace,
            `traces/${trace.id}/query`,
            { filters: 'off', from, to, q: JSON.stringify({ ...q, ...(filter && { filter }) }) },
            signal,
        ).then((answer) => recordsOf(answer)[0]);
    const answers = await Promise.all([
        ask({ aggregate: { events: 'count()', hosts: 'nunique(host_name)', files: 'nunique(file_name)' } }),
        ask({
            group_by: ['host_name', 'pid'],
            aggregate: { ids: 'nunique(tid)' },
            then: { aggregate: { processes: 'count()', threads: 'sum(ids)' } },
        }),
    ]);
    return Object.assign({ part: true }, ...answers);
}

/** Instead of a table of dashes. */
function nothingPasses({ filter, from, to }) {
    return h(
        'section',
        { class: 'card' },
        empty(
            'No events here',
            h('p', {}, 'No event of these layers in this time range passes the filter.'),
            h(
                'p',
                { class: 'layer-head' },
                filter && h('button', { class: 'button', onclick: () => go({ filter: null }) }, 'Clear the filter'),
                (from || to) &&
                    h(
                        'button',
                        { class: 'button', onclick: () => go({ from: null, to: null }) },
                        'Show the whole job',
                    ),
            ),
        ),
    );
}

function figuresOf(trace, summary, io, span) {
    const stream = (bandwidth) => (bandwidth ? `${text(bandwidth, 'B/s')} per call` : null);
    return [
        span < summary.job_time
            ? { label: 'Time range', number: span, unit: 's', note: `of ${text(summary.job_time, 's')}` }
            : {
                  label: 'Job time',
                  number: summary.job_time,
                  unit: 's',
                  note: moment(trace.start).slice(0, 16),
                  title: `From the first event, at ${moment(trace.start)}, to the end of the last`,
              },
        {
            label: 'Events',
            number: summary.events,
            note: summary.part
                ? `of ${grouped(trace.events)}`
                : trace.bytes
                  ? `${text(trace.bytes, 'B')} of traces`
                  : null,
        },
        { label: 'Processes', number: summary.processes, note: plural(summary.threads, 'thread') },
        { label: 'Hosts', number: summary.hosts },
        { label: 'Files', number: summary.files },
        {
            label: 'Read',
            number: io?.read_size,
            unit: 'B',
            note: stream(io?.read_bw),
            title: 'By POSIX and STDIO calls',
        },
        {
            label: 'Written',
            number: io?.write_size,
            unit: 'B',
            note: stream(io?.write_bw),
            title: 'By POSIX and STDIO calls',
        },
        {
            label: 'I/O share',
            number: io && span > 0 ? io.busy / span : null,
            unit: 'share',
            note: span < summary.job_time ? 'of the time range' : 'of job time',
            title: 'Part of that time in which at least one POSIX or STDIO call was running, anywhere in the job',
        },
    ];
}

const ONE_BIN = 100000; /* s: longer than most computations, so that a table over time is nearly one row */

/** What the workers of a Dask computation did, and the GPUs that were sampled. */
async function tasksOf(trace, { from, to, filter }, signal) {
    const table = (name, parameters) =>
        getOf(trace, `traces/${trace.id}/dasf/${name}`, { from, to, granularity: ONE_BIN, ...parameters }, signal);
    const [parallelism, resources] = await Promise.all([table('parallelism', { filter }), table('resources')]);
    const bins = recordsOf(parallelism),
        sampled = recordsOf(resources).filter((row) => row.gpu_utilization !== null);
    const sum = (rows, value) => rows.reduce((all, row) => all + value(row), 0);
    const samples = sum(sampled, (row) => row.samples),
        mean = (key) => (samples > 0 ? sum(sampled, (row) => row[key] * row.samples) / samples : null);
    return {
        runs: sum(bins, (row) => row.tasks),
        busy: sum(bins, (row) => row.busy),
        samples,
        utilization: mean('gpu_utilization'),
        memory: mean('gpu_memory'),
        most: Math.max(0, ...sampled.map((row) => row.gpu_memory_max)),
    };
}

function taskFigures(trace, summary, tasks, span) {
    return [
        {
            label: 'Job time',
            number: span,
            unit: 's',
            note: span < summary.job_time ? `of ${text(summary.job_time, 's')}` : null,
            title: 'From the first record to the end of the last; the clocks of DASF count from the start of each host',
        },
        { label: 'Runs of tasks', number: tasks.runs },
        {
            label: 'Busy workers',
            number: span > 0 ? tasks.busy / span : null,
            unit: 'number',
            note: `on average over ${text(span, 's')}`,
            title: 'Time of all workers in tasks, divided by the time shown',
        },
        { label: 'Hosts', number: summary.hosts },
        {
            label: 'GPU utilisation',
            number: tasks.utilization === null ? null : tasks.utilization / 100,
            unit: 'share',
            note: plural(tasks.samples, 'sample'),
            title: 'Mean of the samples of all hosts, whatever the filter; a sample is of one GPU of its host',
        },
        {
            label: 'GPU memory',
            number: tasks.memory,
            unit: 'B',
            note: tasks.samples > 0 ? `at most ${text(tasks.most, 'B')}` : null,
            title: 'Mean of the same samples',
        },
    ];
}

/** The totals of DFAnalyzer; what it calls processes are threads. */
function compatibleFigures(summary) {
    return [
        { label: 'Job time', number: summary.job_time, unit: 's' },
        { label: 'Events', number: summary.total_count },
        { label: 'Events in layers', number: summary.layer_count_total, title: 'Summed over layers' },
        { label: 'Threads', number: summary.num_processes, title: 'Distinct (host, process, thread)' },
        { label: 'Hosts', number: summary.num_hosts },
        { label: 'Files', number: summary.num_files },
    ];
}

/** What the table does not hold, in words. */
function leftOut({ filtered, unmatched, multiple }) {
    return `${grouped(filtered)} events dropped by filters, ${grouped(unmatched)} in no layer, ${grouped(multiple)} in more than one`;
}
