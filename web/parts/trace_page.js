/* trace_page.js - what all pages of one trace have in common: its head, the control bar, and what stands there while
 * it is being read. */

import { get } from '../api.js';
import { fill, h } from '../dom.js';
import { clearRange, controlBar, usualGranularity } from './control_bar.js';
import { eventDialog } from './event_dialog.js';
import { jobProgress } from './job.js';
import { liveLine, replacePicture, watchTrace } from './live.js';
import { empty, failure, waiting } from './notice.js';
import { link, noteKind } from '../state.js';

/**
 * What a page shows below the control bar.
 * @typedef {Object} Picture
 * @property {HTMLElement[]} boxes
 * @property {(place: Object, granularity: number) => void} update  for a new place; granularity in seconds
 * @property {() => void} close
 * @property {() => void} [escape]  for the Esc key; where it is missing the whole job is shown again
 * @property {(event: KeyboardEvent) => boolean} [key]  keys of its own; whether it was one
 */

/* The trace that was shown last: its next page need not wait for what is known already. */
let last = null;

/**
 * @param {HTMLElement} host
 * @param {Object} place
 * @param {(trace: Object, bar: ReturnType<typeof controlBar>) => Picture} paint
 * @param {{bar?: boolean, without?: ('granularity'|'semantics'|'filters')[], ownEvent?: boolean, renews?: boolean}}
 *   [options]  bar: false leaves the control bar out; without: some of its controls; ownEvent: the page itself shows
 *   the event that the place names; renews: of a live trace it is drawn anew with each version
 */
export function tracePage(
    host,
    place,
    paint,
    { bar: hasBar = true, without = [], ownEvent = false, renews = false } = {},
) {
    const control = new AbortController();
    let now = place,
        trace = null,
        presets = [],
        picture = null,
        bar = null,
        progress = null,
        event = null,
        line = null,
        renewing = new AbortController();
    const watch = watchTrace({ id: place.trace, signal: control.signal, onLook: look });
    if (last?.trace.id === place.trace) open(last);
    else fill(host, waiting({ what: 'Opening the trace', height: 480 }));
    start();

    /** @param {boolean} [anew]  draws also what has not changed */
    async function start(anew = false) {
        try {
            const [one, list] = await Promise.all([
                get(`traces/${place.trace}`, {}, control.signal),
                get('presets', {}, control.signal),
            ]);
            const same = trace !== null && JSON.stringify([one, list.presets]) === JSON.stringify([trace, presets]);
            if (!same || anew) open({ trace: one, presets: list.presets });
        } catch (problem) {
            if (problem.name !== 'AbortError')
                fill(
                    host,
                    failure(problem, () => start()),
                    h('p', {}, h('a', { href: link({}, {}) }, 'All traces')),
                );
        }
    }

    function open(known) {
        ({ trace, presets } = last = known);
        line = liveLine(trace, () => start());
        if (trace.live || trace.state === 'ingesting') watch();
        document.title = `${trace.name} \u00b7 Strata`;
        noteKind(trace.id, trace.kind);
        if (trace.job_time === null || trace.job_time === undefined) showUnready();
        else show();
    }

    function showUnready() {
        const words =
            trace.state === 'failed'
                ? 'Its ingest failed; the list of traces says why.'
                : 'Its events are still being read.';
        progress?.close();
        progress = trace.job ? jobProgress(trace.job, { onEnd: () => start() }) : null;
        fill(
            host,
            headOf(trace, line.element),
            empty(
                `${trace.name} has nothing to show yet`,
                h('p', {}, words),
                progress?.element,
                h('p', {}, h('a', { class: 'button', href: link({}, {}) }, 'All traces')),
            ),
        );
    }

    function show() {
        picture?.close();
        bar = controlBar({ without });
        picture = paint(trace, bar);
        fill(host, headOf(trace, line.element), hasBar && bar.element, picture.boxes);
        update(now);
    }

    /** A live trace may have another version. */
    async function look(one) {
        if (!picture) {
            if (JSON.stringify(one) !== JSON.stringify(trace)) open({ trace: one, presets });
            return;
        }
        line.update(one);
        if (!renews || one.answers === trace.answers) return;
        renewing = new AbortController();
        const signal = AbortSignal.any([control.signal, renewing.signal]);
        const next = await replacePicture(
            picture,
            () => paint(one, bar),
            (fresh) => fresh.update(now, granularityOf(one)),
            signal,
        );
        if (!next) return;
        picture = next;
        ({ trace } = last = { trace: one, presets });
        bar.update({ trace, presets, place: now, granularity: granularityOf(trace), span: spanOf(trace) });
    }

    function spanOf(one) {
        return (now.to ?? one.job_time) - (now.from ?? 0);
    }

    function granularityOf(one) {
        return Number(now.granularity) || usualGranularity(now, spanOf(one));
    }

    function update(next) {
        now = next;
        renewing.abort(); /* what is drawn out of sight belongs to another place */
        if (!picture) return;
        const granularity = granularityOf(trace);
        bar.update({ trace, presets, place: now, granularity, span: spanOf(trace) });
        picture.update(now, granularity);
        if (!ownEvent) showEvent(now.event);
    }

    /** One event, where the place names one. */
    function showEvent(wanted) {
        if (wanted === event?.of) return;
        const before = event;
        event = null;
        before?.close();
        if (wanted) event = { of: wanted, ...eventDialog(trace, now) };
    }

    return {
        update,
        refresh: () => start(true),
        escape: () => (picture?.escape ?? clearRange)(),
        key: (pressed) => picture?.key?.(pressed) ?? false,
        close() {
            control.abort();
            showEvent(undefined);
            picture?.close();
            progress?.close();
        },
    };
}

function headOf(trace, live) {
    return h(
        'header',
        { class: 'page-head' },
        h(
            'div',
            { class: 'page-title' },
            h('h1', {}, trace.name),
            trace.state !== 'ready' && h('span', { class: `badge ${trace.state}` }, trace.state),
            (trace.tags ?? []).map((tag) => h('span', { class: 'tag' }, tag)),
            live,
        ),
        h('p', { class: 'path' }, trace.path),
        trace.preset &&
            h(
                'p',
                { class: 'why' },
                'Preset ',
                h('strong', {}, trace.preset.name),
                trace.preset.why && ` \u2013 ${trace.preset.why}`,
            ),
        trace.state === 'stale' &&
            h(
                'p',
                { class: 'notice warn' },
                'The files changed since they were read. Refresh the trace in the list to see the new events.',
            ),
    );
}
