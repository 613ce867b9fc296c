/* trace_page.js - what all pages of one trace have in common: its head, the control bar, and what stands there while
 * it is being read. */

import { get } from '../api.js';
import { fill, h } from '../dom.js';
import { controlBar, isCompatible, usualGranularity } from './control_bar.js';
import { eventDialog } from './event_dialog.js';
import { jobProgress } from './job.js';
import { liveLine, replacePicture, watchTrace } from './live.js';
import { empty, failure, waiting } from './notice.js';
import { clearRange, rangeKey } from './range_control.js';
import { soundPlace } from './sound.js';
import { traceHead } from './trace_head.js';
import './shared.js';
import { link, noteKind, pageLink, visit } from '../state.js';

/**
 * What a page shows below the control bar.
 * @typedef {Object} Picture
 * @property {HTMLElement[]} boxes
 * @property {(place: Object, granularity: number) => void} update  for a new place; granularity in seconds
 * @property {() => void} close
 * @property {() => void} [escape]  for the Esc key; where it is missing the whole job is shown again
 * @property {(event: KeyboardEvent) => boolean} [key]  keys of its own; whether it was one
 */

/* Bins of more than this are not drawn. */
const MOST_BINS = 1e6;

/* The trace that was shown last: its next page need not wait for what is known already. */
let last = null;

/**
 * @param {HTMLElement} host
 * @param {Object} place
 * @param {(trace: Object, bar: ReturnType<typeof controlBar>) => Picture} paint
 * @param {Object} [options]
 * @param {boolean} [options.bar]  false leaves the control bar out
 * @param {('granularity'|'semantics'|'filters')[]} [options.without]  some of its controls
 * @param {boolean} [options.ownEvent]  the page itself shows the event that the place names
 * @param {boolean} [options.renews]  of a live trace it is drawn anew with each version
 * @param {(trace: any) => boolean} [options.ofNone]  whether the page has something to say of a trace without events
 */
export function tracePage(
    host,
    place,
    paint,
    { bar: hasBar = true, without = [], ownEvent = false, renews = false, ofNone = () => false } = {},
) {
    const control = new AbortController();
    let now = place,
        trace = null,
        presets = [],
        picture = null,
        bar = null,
        head = null,
        progress = null,
        event = null,
        line = null,
        renewing = new AbortController(),
        corrections = { address: '', words: /** @type {string[]} */ ([]) };
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
                ? `Its ingest failed: ${trace.failure ?? 'the server kept no reason'}`
                : 'Its events are still being read.';
        drawHead();
        progress?.close();
        progress = trace.job ? jobProgress(trace.job, { onEnd: () => start() }) : null;
        fill(
            host,
            head.element,
            empty(
                `${trace.name} has nothing to show yet`,
                h('p', {}, words),
                progress?.element,
                h('p', {}, h('a', { class: 'button', href: link({}, {}) }, 'All traces')),
            ),
        );
    }

    function drawHead() {
        head?.close();
        head = traceHead(trace, line.element, () => start(true));
        head.update(now, []);
    }

    function show() {
        picture?.close();
        bar?.close();
        picture = null;
        drawHead();
        if (trace.events === 0 && !ofNone(trace)) {
            showNone();
            return;
        }
        bar = controlBar({ without });
        picture = paint(trace, bar);
        fill(host, head.element, hasBar && bar.element, picture.boxes);
        update(now);
    }

    function showNone() {
        fill(
            host,
            head.element,
            empty(
                'No events',
                h(
                    'p',
                    {},
                    `No line of the files of ${trace.name} is an event; what became of each line is a page of its own.`,
                ),
                h('p', {}, h('a', { class: 'button primary', href: pageLink('report', {}, now) }, 'Trace quality')),
            ),
        );
    }

    /**
     * The place as it can be meant, or null if the address has to be put right first, which comes back here.  What was
     * changed is said until the next place.
     */
    function sound(next) {
        const found = soundPlace(next, trace.job_time, isCompatible(next) ? Infinity : MOST_BINS);
        const address = link(found.place, {});
        if (found.corrections.length > 0) {
            corrections = { address, words: found.corrections };
            visit(address, true);
            return null;
        }
        if (address !== corrections.address) corrections = { address, words: [] };
        return found.place;
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
        if (!picture) {
            head?.update(now, []);
            return;
        }
        const meant = sound(next);
        if (!meant) return;
        now = meant;
        head.update(now, corrections.words);
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
        key: (pressed) => Boolean(picture) && (picture.key?.(pressed) || (hasBar && rangeKey(pressed))),
        close() {
            control.abort();
            showEvent(undefined);
            picture?.close();
            bar?.close();
            head?.close();
            progress?.close();
        },
    };
}
