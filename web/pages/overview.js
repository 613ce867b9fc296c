/* overview.js - one trace: where the time of the job went. */

import { get } from '../api.js';
import { fill, h } from '../dom.js';
import { grouped, moment, plural, text } from '../format.js';
import { breakdown, breakdownView } from '../parts/breakdown.js';
import { clearRange, controlBar, questionOf } from '../parts/control_bar.js';
import { copyMenu } from '../parts/copy.js';
import { jobProgress } from '../parts/job.js';
import { layerTable } from '../parts/layer_tree.js';
import { layerTree } from '../parts/layers.js';
import { empty, failure, loading, waiting } from '../parts/notice.js';
import { niceGranularity, seriesCard } from '../parts/series.js';
import { tiles } from '../parts/tile.js';
import { go, link } from '../state.js';

export const title = 'Overview';

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    const view = layout();
    const control = new AbortController();
    let now = place, trace = null, presets = [], work = null, asked = null, answer = null, progress = null;
    fill(host, waiting({ what: 'Opening the trace', height: 480 }));
    start();

    async function start() {
        try {
            const [one, list] = await Promise.all([get(`traces/${place.trace}`, {}, control.signal), get('presets', {}, control.signal)]);
            trace = one.trace ?? one;
            presets = list.presets ?? list;
        } catch (problem) {
            if (problem.name !== 'AbortError') fill(host, failure(problem, start), h('p', {}, h('a', { href: link({}, {}) }, 'All traces')));
            return;
        }
        document.title = `${trace.name} \u00b7 Strata`;
        if (trace.events === null || trace.events === undefined) showUnready();
        else show();
    }

    function showUnready() {
        const words = trace.state === 'failed' ? 'Its ingest failed; the list of traces says why.' : 'Its events are still being read.';
        fill(host, headOf(trace), empty(`${trace.name} has nothing to show yet`, h('p', {}, words),
            trace.job && (progress = jobProgress(trace.job, { onEnd: start })).element,
            h('p', {}, h('a', { class: 'button', href: link({}, {}) }, 'All traces'))));
    }

    function show() {
        fill(host, headOf(trace), view.bar.element, view.tiles, view.where, view.layers, view.series.element, view.ledger);
        update(now);
        showLedger();
    }

    function update(next) {
        now = next;
        if (!trace || !presets.length) return;
        const span = (now.to ?? trace.job_time) - (now.from ?? 0);
        const granularity = Number(now.granularity) || niceGranularity(span);
        view.bar.update({ trace, presets, place: now, granularity, span });
        loadSummary(granularity);
    }

    function loadSummary(granularity) {
        const path = `traces/${trace.id}/summary`;
        const parameters = questionOf(now);
        const question = JSON.stringify([parameters, trace.version]);
        if (question === asked && answer) { showSummary(answer, parameters, granularity); return; }
        asked = question;
        work?.abort();
        view.bar.clear();
        const load = (signal) => Promise.all([
            get(path, parameters, signal), get(path, { ...parameters, preset: 'posix' }, signal), get(`presets/${now.preset ?? trace.preset.name}`, {}, signal)]);
        const retry = () => { asked = null; update(now); };
        work = loading(view.layers, {
            what: `Summing up ${grouped(trace.events)} events by layer`, height: 480,
            load: (signal) => load(signal).catch((problem) => { if (problem.parameter === 'filter') view.bar.mark(problem); throw problem; }),
            show: ([summary, io, preset]) => {
                answer = { summary, io, preset: preset.preset ?? preset };
                showSummary(answer, parameters, granularity);
            },
            retry,
        });
    }

    function showSummary({ summary, io, preset }, parameters, granularity) {
        const compute = preset.overlap_with ?? null;
        const tree = layerTree(summary.layers, compute);
        const present = new Set(summary.layers.filter((layer) => layer.count > 0).map((layer) => layer.name));
        const parts = breakdown(summary.layers, tree, compute);
        const chosen = new Set(now.layers?.split(',') ?? []);
        const onLayer = (name) => go({ layers: now.layers === name ? null : name });
        fill(view.tiles, tiles(figuresOf(trace, summary, io.layers[0])));
        fill(view.where, parts && h('section', { class: 'card', 'aria-label': 'Where the time went' },
            h('header', { class: 'card-head' }, h('h2', {}, 'Where the time went'), h('small', {}, `${text(parts.whole, 's')} of ${parts.root}, summed over ranks`)), breakdownView(parts)));
        fill(view.layers, h('section', { class: 'card', 'aria-label': 'Layers' },
            h('header', { class: 'card-head' }, h('h2', {}, 'Layers'), h('small', {}, leftOut(summary)),
                h('div', { class: 'card-tools' }, copyMenu(`traces/${trace.id}/summary`, parameters, `${trace.name}-summary`))),
            h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Layer table' }, layerTable(summary.layers, tree, chosen, onLayer))));
        view.series.update({ trace, tree, present, parameters, place: now, granularity });
    }

    async function showLedger() {
        try {
            fill(view.ledger, ledgerLine((await get(`traces/${trace.id}/report`, {}, control.signal)).totals, trace));
        } catch (problem) {
            if (problem.name !== 'AbortError') fill(view.ledger, failure(problem, showLedger));
        }
    }

    return {
        update,
        refresh: () => { asked = null; start(); },
        escape: clearRange,
        close() { control.abort(); work?.abort(); progress?.close(); view.series.close(); },
    };
}

function layout() {
    return { bar: controlBar(), tiles: h('div', { class: 'tiles-box' }), where: h('div', {}), layers: h('div', {}), series: seriesCard(), ledger: h('div', { class: 'ledger' }) };
}

function headOf(trace) {
    const why = trace.preset && h('p', { class: 'why' }, 'Preset ', h('strong', {}, trace.preset.name), trace.preset.why && ` \u2014 ${trace.preset.why}`);
    return h('header', { class: 'page-head' },
        h('div', { class: 'page-title' }, h('h1', {}, trace.name),
            trace.state !== 'ready' && h('span', { class: `badge ${trace.state}` }, trace.state),
            (trace.tags ?? []).map((tag) => h('span', { class: 'tag' }, tag))),
        h('p', { class: 'path' }, trace.path), why,
        trace.state === 'stale' && h('p', { class: 'notice warn' }, 'The files changed since they were read. Refresh the trace in the list to see the new events.'));
}

function figuresOf(trace, summary, io) {
    const share = io?.time_share ?? null;
    return [
        { label: 'Job time', number: summary.job_time, unit: 's', note: moment(trace.start), title: 'From the first event to the end of the last' },
        { label: 'Events', number: summary.events, note: trace.bytes ? `${text(trace.bytes, 'B')} of traces` : null },
        { label: 'Processes', number: summary.processes, note: plural(summary.threads, 'thread') },
        { label: 'Hosts', number: summary.hosts },
        { label: 'Files', number: summary.files },
        { label: 'Read', number: io?.read_size ?? null, unit: 'B', note: io?.read_bw ? `${text(io.read_bw, 'B/s')} a stream` : null, title: 'By POSIX and STDIO calls' },
        { label: 'Written', number: io?.write_size ?? null, unit: 'B', note: io?.write_bw ? `${text(io.write_bw, 'B/s')} a stream` : null, title: 'By POSIX and STDIO calls' },
        { label: 'I/O share', number: share, unit: 'share', note: 'of job time', title: 'Busy time of POSIX and STDIO calls in the busiest process over job time' },
    ];
}

/** What the table does not hold, in words. */
function leftOut(summary) {
    const words = [`${grouped(summary.filtered)} events dropped by filters`, `${grouped(summary.unmatched)} in no layer`, `${grouped(summary.multiple)} in more than one`];
    return words.join(', ');
}

function ledgerLine(totals, trace) {
    const kinds = ['events', 'metadata', 'counters', 'other', 'framing', 'blank', 'malformed'];
    const named = kinds.filter((kind) => totals[kind] > 0 || kind === 'events' || kind === 'malformed');
    const words = [h('strong', {}, grouped(totals.lines)), ` lines in ${plural(totals.files, 'file')}: `,
        named.map((kind, index) => [index > 0 && ' + ', h('span', { class: kind === 'malformed' && totals.malformed > 0 ? 'bad-text' : '' }, `${grouped(totals[kind])} ${kind}`)]),
        totals.repaired > 0 && `; ${grouped(totals.repaired)} of them repaired`];
    return h('p', {}, h('span', {}, words), copyMenu(`traces/${trace.id}/report`, {}, `${trace.name}-report`));
}
